# SPDX-License-Identifier: GPL-2.0-only
"""The lab `vm` for selftests: scripts of packetdrill on Debian's own kernel.

It loads no module for other tests, and its virtual clock is not exact: it may jump while the lab
waits for its host. So two runs of a script may differ there.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.host import paths
from harness.selftests.choice import RUN_BY_IT
from harness.selftests.sources import Kernel, Tests
from plan.errors import UsageError

VM = "vm"  # the lab, and the name of its kernel among results
LABS = ("uml", VM)


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
