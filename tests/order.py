# SPDX-License-Identifier: GPL-2.0-only
"""Which tests run one after the other in one process, and which begin first.

What shares a fixture that costs a lab stays together: a module, all that use the same finished
trials, a fresh machine. With the longest first no processor waits for one at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

LONGEST_FIRST = (
    "tests/fresh/test_debian.py[bookworm]",
    "tests/fresh/test_debian.py[trixie]",
    "tests/labs/test_vm.py",
    "finished",
    "tests/harness/test_killed.py",
    "tests/harness/test_cluster.py",
    "tests/flavors/test_flavor_recoveries.py",
    "tests/flavors/test_flavor_parameters.py",
    "tests/bpf/test_lab_queue.py",
    "tests/test_guides.py",
    "tests/analysis/test_report.py",
)


def group(item: pytest.Item) -> str:
    """The name of the group that a test belongs to."""
    assert isinstance(item, pytest.Function)
    if "finished" in item.fixturenames:
        return "finished"
    module = item.nodeid.partition("::")[0]
    params = item.callspec.params if hasattr(item, "callspec") else {}
    release = params.get("fresh") or params.get("bare")
    return f"{module}[{release}]" if release else module


def place(name: str) -> int:
    return LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    groups = {item: group(item) for item in items}
    for item in items:
        item.add_marker(pytest.mark.xdist_group(groups[item]))
        if groups[item] == "finished":
            item.add_marker(pytest.mark.lab)
    items[:] = _sorted(items, [groups[item] for item in items])


def _sorted(items: Sequence[pytest.Item], groups: Sequence[str]) -> list[pytest.Item]:
    """By group, those that take longest first; within a group as they were."""
    first = {name: at for at, name in reversed(list(enumerate(groups)))}
    order = sorted(range(len(items)), key=lambda at: (place(groups[at]), first[groups[at]]))
    return [items[at] for at in order]
