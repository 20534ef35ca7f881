# SPDX-License-Identifier: GPL-2.0-only
"""The one exception of this package; its message is one line: what, on what, why not."""


class WorkloadError(ValueError):
    """A workload's parameter, file or tool output is not as it must be."""
