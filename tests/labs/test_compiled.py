# SPDX-License-Identifier: GPL-2.0-only
"""Modules that set-up compiles for the labs are read there, and never for another source."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs.base import LabSpec
from harness.labs.session import session
from tests.small import PROJECT

pytestmark = pytest.mark.lab
CHECKED_HASH = 3  # the flags of such a file, after its magic number


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """As set-up does at its end."""
    subprocess.run([PROJECT / "lab" / "compile", paths.image()], check=True)


LOOK = """
import os, sys
import harness.agent.bench, harness.agent.jobs
own = [m for name, m in sys.modules.items() if name.split(".")[0] in ("harness", "plan")]
missing = [m.__name__ for m in own if not os.path.exists(m.__cached__)]
print("modules:", len(own) > 30, missing)
"""


def test_a_lab_finds_the_compiled_modules() -> None:
    main = "cd /cellbed && PYTHONPATH=/cellbed python3 -B /run/cellbed/look.py"
    with session("uml", LabSpec(pairs=0, main=main), {"look.py": LOOK}) as lab:
        while lab.poll() is None:
            pass
        console = (lab.run_directory / "console.log").read_text(errors="replace")
    assert "modules: True []" in console


def test_a_compiled_module_has_the_hash_of_its_source(tmp_path: Path) -> None:
    """Also of one with the size and the time of the source that was compiled."""
    source = tmp_path / "module.py"
    source.write_text("print(1)\n")
    subprocess.run([PROJECT / "lab" / "compile", paths.image(), source], check=True)
    [made] = (tmp_path / "__pycache__").iterdir()
    assert made.read_bytes()[4] == CHECKED_HASH
    before = source.stat()
    source.write_text("print(2)\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    image = paths.image()
    argv = [
        image / "usr/lib64/ld-linux-x86-64.so.2",
        *("--library-path", image / "usr/lib/x86_64-linux-gnu"),
        *(image / "usr/bin/python3", "-sSBc", "import module"),
    ]
    environment = {"PYTHONHOME": str(image / "usr"), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"


def test_a_module_of_the_working_folder_is_not_imported(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    (copy / "lab").mkdir(parents=True)
    for name in ("strict", "compile"):
        (copy / "lab" / name).write_bytes((PROJECT / "lab" / name).read_bytes())
    (copy / "compileall.py").write_text("print('mine')\n")
    (copy / "module.py").touch()
    argv = ["bash", copy / "lab" / "compile", paths.image(), copy / "module.py"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert (copy / "__pycache__").is_dir()
