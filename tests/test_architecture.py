# SPDX-License-Identifier: GPL-2.0-only
"""Data flows one way: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.small import PROJECT

MAY_IMPORT = {
    "topology": {"topology"},
    "workload": {"workload"},
    "analysis": {"analysis"},
    "studies": {"studies", "analysis"},
    "harness": {"harness", "topology", "workload", "analysis"},
}


def imports(path: Path) -> set[str]:
    """Top-level names of the absolute imports of a file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_layers(folder: str) -> None:
    for path in (PROJECT / folder).rglob("*.py"):
        crossing = imports(path) & set(MAY_IMPORT) - MAY_IMPORT[folder]
        assert not crossing, f"{path} imports {crossing}"


def test_the_agent_needs_the_standard_library_and_mininet_only() -> None:
    for path in (PROJECT / "harness" / "agent").rglob("*.py"):
        assert not imports(path) & {"pydantic", "rich", "click", "numpy", "analysis"}, path


def test_every_source_names_its_licence() -> None:
    suffixes = {".py", ".c", ".h", ".toml", ".lua", ".sh"}
    skipped = {".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis", "results"}
    for path in PROJECT.rglob("*"):
        if path.suffix in suffixes and not skipped & set(path.parts):
            assert "SPDX-License-Identifier: GPL-2.0-only" in path.read_text()[:400], path
