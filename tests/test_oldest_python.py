# SPDX-License-Identifier: GPL-2.0-only
"""What set-up runs with the host's own Python, which may be 3.7 (docs/install.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.small import PROJECT

OLDEST = (3, 7)
SCRIPTS = [
    *sorted((PROJECT / "lab/root").glob("*.py")),
    PROJECT / "lab/root/get",
    PROJECT / "lab/root/without-newer-calls",
    PROJECT / "lab/release/use",
    PROJECT / "lab/kernel/profile/gcda.py",
]
# In Python 3.7 and 3.8, list[int] is an error where it is evaluated.
TYPES = {"dict", "frozenset", "list", "set", "tuple", "type"}


def evaluated(tree: ast.Module) -> list[ast.AST]:
    """What a module evaluates when it starts: no function's body, and nothing for mypy alone."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        found.append(node)
        left_out = node.annotation if isinstance(node, ast.AnnAssign) else None
        waiting += [child for child in ast.iter_child_nodes(node) if child is not left_out]
    return found


def too_new(text: str) -> list[str]:
    """The expressions at a module's start that Python 3.7 refuses; or its syntax error."""
    try:
        tree = ast.parse(text, feature_version=OLDEST)
    except SyntaxError as error:
        return [str(error)]
    return [
        ast.unparse(node)
        for node in evaluated(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in TYPES
    ]


def test_what_is_too_new_is_found() -> None:
    assert too_new("if (n := 1):\n    pass\n")
    assert too_new("class A:\n    Key = tuple[str, int]\n") == ["tuple[str, int]"]
    assert not too_new("def f(a):\n    x: list[int] = []\ny: dict[str, int] = {}\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_set_ups_scripts_start_with_python_3_7(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert "from __future__ import annotations" in text
    assert too_new(text) == []
