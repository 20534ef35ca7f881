# SPDX-License-Identifier: GPL-2.0-only
"""Part of set-up: compile the lab's programs inside a lab, the TCP module on the host; take along
the kernel's own modules.

Usage: python -m harness.build_programs OUTPUT_DIR
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.errors import CellbedError, LabError
from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from harness.paths import PROJECT, places

BUILD_LIMIT_CPU_S = 300.0


def compile_in_lab(output: Path, run_directory: Path) -> None:
    """Compile what is in C but the module, with the image's toolchain, into `output`."""
    spec = LabSpec(
        pairs=0,
        main="exec /cellbed/lab/programs/build",
        clock="real",
        memory_mib=2048,
        needs_programs=False,
    )
    with UmlLab(spec, run_directory) as lab:
        wait_for_exit(lab, BUILD_LIMIT_CPU_S)
        status = run_directory / "status"
        if not status.exists() or status.read_text().strip() != "0":
            raise LabError("compiling the lab's programs failed", lab.console(40))
    shutil.copytree(run_directory / "build", output, dirs_exist_ok=True)


def compile_module(output: Path, kernel: Path) -> None:
    """Compile the TCP flavors' kernel module against the lab kernel."""
    subprocess.run(
        [
            "make", "-s", "-C", str(PROJECT / "tcp-configs" / "module"),
            f"KDIR={kernel / 'build'}", "ARCH=um", f"OUT={output}",
        ],  # fmt: skip
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    )


def copy_stock_modules(output: Path, kernel: Path) -> None:
    """Copy the lab kernel's own modules that flavors ask for: the image has none of them."""
    for line in (PROJECT / "lab" / "programs" / "stock-modules").read_text().splitlines():
        if not line.startswith("#"):
            [module] = kernel.glob(f"modules/**/{line}.ko")
            shutil.copy(module, output)


def main() -> int:
    output = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=output.parent, prefix="programs.") as folder:
        made, run = Path(folder, "made"), Path(folder, "run")
        made.mkdir()
        run.mkdir()
        try:
            compile_module(made, places()["kernel"])
            copy_stock_modules(made, places()["kernel"])
            compile_in_lab(made, run)
        except (CellbedError, subprocess.CalledProcessError) as error:
            print(getattr(error, "console", ""), file=sys.stderr)
            print(f"cellbed setup: {error}", file=sys.stderr)
            return 1
        made.rename(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
