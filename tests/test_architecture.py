# SPDX-License-Identifier: GPL-2.0-only
"""Data flows one way: who may import whom.

test_architecture_page.py draws the arrows between all rooms; here is what must stay.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.records import sources
from tests.small import PROJECT
from tests.tracked import tracked

# Every folder with Python in it, and what it may import beside itself.
MAY_IMPORT = {
    "plan": set(),
    "topology": {"plan"},
    "workload": {"plan"},
    "bpf": set(),
    "lab": set(),
    "tcp-configs": set(),
    "docs": {"harness"},  # the site has a page of all commands
    "analysis": {"plan"},
    "studies": {"analysis", "plan", "topology", "workload"},
    "harness": {"plan", "topology", "workload", "analysis"},
    "tests": {"plan", "harness", "topology", "workload", "analysis", "studies"},
}
# What runs in a lab: the agent, the exact losses, and all kinds that are found by listing.
IN_THE_LAB = [
    *("harness/agent", "harness/captures", "harness/exact_loss/lab.py"),
    *("harness/scripts/lab.py", "plan", "topology/queues", "workload/*/__init__.py"),
]
LAB_ROOMS = (
    *("harness.agent", "harness.captures", "harness.exact_loss", "harness.scripts"),
    *("plan", "topology", "workload"),
)
SHARED = {"harness", "harness.capture"}
LAB_LIBRARIES = {"fissix", "mininet", "pyroute2", "_typeshed"}  # the last for types only


def files(name: str) -> list[Path]:
    return [path for path in tracked(name) if path.suffix == ".py"]


def imports(path: Path) -> set[str]:
    """Dotted names of the absolute imports of a file, and of what is imported from them."""
    return set(sources.imports(path))


def top(name: str) -> str:
    return name.partition(".")[0]


def test_every_folder_is_known() -> None:
    found = {path.relative_to(PROJECT).parts[0] for path in tracked("*/*.py")}
    assert "harness" in found and found <= set(MAY_IMPORT)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_layers(folder: str) -> None:
    for path in files(folder):
        crossing = {top(name) for name in imports(path)} & set(MAY_IMPORT)
        assert crossing <= MAY_IMPORT[folder] | {folder}, f"{path} imports {crossing}"


def test_only_the_command_line_loads_a_study() -> None:
    """No file names one: they are found by listing, as queues and workloads are."""
    for path in files("harness") + files("analysis"):
        assert "studies" not in {top(name) for name in imports(path)}, path


@pytest.mark.parametrize("name", IN_THE_LAB)
def test_what_runs_in_a_lab_needs_the_plan_and_its_own(name: str) -> None:
    """And of libraries what is in the image: checked over all that is imported, however far."""
    for path in files(name):
        module = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
        for reached in sources.imported_by(module):
            for found in imports(reached):
                ours = top(found) in MAY_IMPORT
                file = sources.file_of(found)
                if ours and file is not None:
                    assert found in SHARED or found.startswith(LAB_ROOMS), f"{reached}: {found}"
                elif not ours:
                    known = top(found) in sys.stdlib_module_names | LAB_LIBRARIES
                    assert known, f"{reached} imports {found}"


def test_every_source_names_its_licence() -> None:
    sources = tracked("*.py", "*.c", "*.h", "*.toml", "*.lua", "*.sh")
    assert len(sources) > 400
    for path in sources:
        assert "SPDX-License-Identifier: GPL-2.0-only" in path.read_text()[:400], path
