# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that cannot be made of its source."""

from plan.errors import LabError


class KernelError(LabError):
    """It does not build, or the lab's patches do not apply. `git bisect` skips a commit by 125."""

    exit_code = 125
