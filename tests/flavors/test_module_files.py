# SPDX-License-Identifier: GPL-2.0-only
"""The files of the TCP module call each other in one direction, which cellbed.h says."""

from __future__ import annotations

import re

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
