# SPDX-License-Identifier: GPL-2.0-only
"""The files of the TCP module call each other in one direction, which cellbed.h says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from harness.flavors.files import FOLDER

MODULE = FOLDER / "module"
BLOCK = re.compile(r"^/\* (cellbed_\w+\.c) \*/\n(.*?)^$", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"(cellbed_\w+)\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def functions() -> dict[str, set[str]]:
    """The functions of each file that others may call, in the header's order."""
    header = (MODULE / "cellbed.h").read_text(encoding="utf-8")
    return {file: set(DECLARED.findall(block)) for file, block in BLOCK.findall(header)}


def test_the_header_names_every_file_but_the_one_that_calls_all() -> None:
    files = {path.name for path in MODULE.glob("*.c")}
    assert len(files) > 5
    assert {*functions(), "cellbed_main.c"} == files


def test_a_file_calls_only_those_above_it() -> None:
    above: set[str] = set()
    for file, own in functions().items():
        code = COMMENT.sub("", (MODULE / file).read_text(encoding="utf-8"))
        below = set.union(*functions().values()) - above - own
        assert own <= set(DECLARED.findall(code)), f"{file} lacks a function of the header"
        assert not below & set(DECLARED.findall(code)), f"{file} calls a file below it"
        above |= own


def test_kbuild_is_asked_again_where_no_file_of_the_module_changed(tmp_path: Path) -> None:
    """The kernel's headers or its configuration may be new: only kbuild knows."""
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    (kernel / "Makefile").write_text("modules:\n\t@touch $(M)/cellbed_tcp.ko\n\t@echo asked\n")
    argv = ["make", "-s", "-C", str(MODULE), f"KDIR={kernel}", f"OUT={tmp_path / 'out'}"]
    said = [subprocess.run(argv, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [one.stdout.count("asked") for one in said] == [1, 1]
