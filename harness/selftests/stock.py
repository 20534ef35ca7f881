# SPDX-License-Identifier: GPL-2.0-only
"""The lab `vm` for selftests: scripts of packetdrill on Debian's own kernel, in real time.

It loads no module for other tests. It has no virtual clock: with this clock, a script reached its
limit of 45 s. We have not measured why. A guess is that the clock jumps while the lab reads its
disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.host import paths
from harness.selftests.choice import RUN_BY_IT
from harness.selftests.sources import Kernel, Tests
from plan.errors import UsageError

VM = "vm"  # the lab, and the name of its kernel among results
LABS = ("uml", VM)


def clocks(lab: str, asked: Sequence[str]) -> list[str]:
    """The clocks of the labs.

    Raises:
        UsageError: the lab has no such clock for tests.
    """
    if lab != VM:
        return list(asked) or ["virtual"]
    if "virtual" in asked:
        raise UsageError(
            "--lab vm runs tests only by --clock real, because tests reach their limits by its"
            " virtual clock"
        )
    return ["real"]


def refuse(lab: str, kernels: Sequence[str]) -> None:
    """UsageError where the lab cannot have the kernels that are asked for."""
    if lab == VM and kernels:
        raise UsageError(
            "--lab vm has the kernel of Debian 13: leave out --kernel (--scripts chooses the tests)"
        )


def built(tests: Tests) -> Kernel:
    """The kernel of the lab vm.

    Raises:
        UsageError: a test is no script of packetdrill.
        MissingError: set-up has not made the lab.
    """
    other = next((one for one in tests.chosen if not one.file.endswith(RUN_BY_IT)), None)
    if other is not None:
        raise UsageError(
            f"TEST {other.name}: the lab vm runs only scripts of packetdrill, because it loads no"
            " modules for other tests; leave out --lab"
        )
    folder = paths.stock_kernel()
    return Kernel(folder, (folder / "version").read_text().strip())
