# SPDX-License-Identifier: GPL-2.0-only
"""What the command line does, for scripts and notebooks: `import cellbed` (docs/api.md)."""

from harness.api.campaign import Campaign, judge
from harness.api.experiment import Experiment

__all__ = ["Campaign", "Experiment", "judge"]
