# SPDX-License-Identifier: GPL-2.0-only
"""What a lab waits beside imports no module that takes memory and is not needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.small import PROJECT

# The modules that are imported, and those that take memory of a process that has no use for them.
CASES = {
    "supervisor": (
        ("harness.supervisor.boundary", "harness.supervisor.cores"),
        {"collections", "contextlib", "enum", "json", "pathlib", "random", "socket", "typing"},
    ),
    "run": (("harness.cli.commands.run",), {"attr", "importlib.metadata", "rich"}),
}


@pytest.mark.parametrize("name", CASES)
def test_it_imports_only_what_it_uses(name: str) -> None:
    modules, heavy = CASES[name]
    alone = ["-IS"] if name == "supervisor" else ["-P"]
    text = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
        + "".join(f"import {module}\n" for module in modules)
        + f"print(*sorted(set(sys.modules) & {heavy!r}))"
    )
    argv = [sys.executable, *alone, "-c", text]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "\n"
