# SPDX-License-Identifier: GPL-2.0-only
"""The owner's end of a lab that is a process tree; here the lab is a program that waits."""

from __future__ import annotations

import os
from pathlib import Path

from harness.labs.base import LabSpec
from harness.labs.supervised import SupervisedLab


class Waiting(SupervisedLab):
    """A lab without a kernel."""

    def argv(self) -> list[str]:
        return ["/bin/sleep", "600"]


def test_a_second_end_closes_nothing_of_others(tmp_path: Path) -> None:
    with Waiting(LabSpec(pairs=1), tmp_path) as lab:
        assert lab.poll() is None
        lab.kill()
        assert lab.poll() is not None
        others = [os.pipe() for _ in range(8)]  # they take the numbers that are free again
    for ends in others:
        for end in ends:
            os.close(end)  # OSError where somebody has closed it
