# SPDX-License-Identifier: GPL-2.0-only
"""cellbed for scripts and notebooks: what the command line does, as a library (docs/api.md).

import cellbed
campaign = cellbed.Experiment.from_file("buffers.toml").run()
campaign.trials()                                      # a pandas data frame
cellbed.plot.means(campaign, "efficiency", along="queue.buffer_cells", lines="queue.policy")
"""

from harness.api import Campaign, Experiment, judge, plot
from harness.host.version import version
from plan.errors import CellbedError, InvalidTrialError, LabError, MissingError, UsageError

__all__ = [
    "Campaign",
    "CellbedError",
    "Experiment",
    "InvalidTrialError",
    "LabError",
    "MissingError",
    "UsageError",
    "judge",
    "plot",
]

__version__ = version()
