# SPDX-License-Identifier: GPL-2.0-only
"""The one exception of this package. Its message is one line: what failed, on what, and why."""


class WorkloadError(ValueError):
    """A parameter, a file or a tool's output of a workload is wrong."""
