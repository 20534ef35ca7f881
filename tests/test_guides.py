# SPDX-License-Identifier: GPL-2.0-only
"""The guides do what they say: their sh blocks are run as they stand, in a copy of the project.

By default the one that changes the project; with CELLBED_SLOW_TESTS=1 all.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.guides import NOT_COPIED, contents, follow
from tests.small import PROJECT

SLOW = "CELLBED_SLOW_TESTS" in os.environ
GUIDES = sorted((PROJECT / "docs" / "guides").glob("*.md" if SLOW else "extend.md"))
# All that a section leaves beside experiments in the project's own folder: what is added is one
# new file or folder, and a policy's also has the account that it is compared with. A TCP parameter
# is an entry of a table with what is generated of it, the C code that uses it, and its test.
LEFT = {
    "An experiment": (),
    "A flavor": ("tcp-configs/cubic-iw1.toml",),
    "A TCP parameter": (
        *("plan/flavor.py", "tcp-configs/module/cellbed_params.h", "docs/flavors.md"),
        *("tcp-configs/module/cellbed.h", "tcp-configs/module/cellbed_main.c"),
        "tests/flavors/test_flavor_parameters.py",
    ),
    "A policy of the cell queues": ("bpf/policy/quota.h", "tests/bpf/rules/quota.py"),
    "A queue without cells": ("topology/queues/head_drop.py",),
    "A topology": ("topology/shapes/two_branches.py",),
    "A delay": ("topology/delays/one_way.py",),
    "A workload": ("workload/download/",),
    "A fidelity check": ("harness/judge/checks/drained.py",),
    "A capture": ("harness/captures/sent.py",),
    "A study": ("studies/toy/",),
}


@pytest.mark.lab
@pytest.mark.parametrize("guide", GUIDES, ids=[guide.stem for guide in GUIDES])
def test_a_guide_can_be_followed(tmp_path: Path, guide: Path) -> None:
    """And what it adds touches nothing else."""
    copy = tmp_path / "cellbed"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    followed, before = set(), contents(copy)

    def touched_nothing_else(section: str) -> None:
        now = contents(copy)
        touched = {name for name in {*before, *now} if before.get(name) != now.get(name)}
        own = {name for name in touched if not ("/" not in name and name.endswith(".toml"))}
        if guide.stem == "extend" and section in LEFT:
            assert {name for name in own if not name.startswith(LEFT[section] or "/")} == set()
            assert all(any(name.startswith(new) for name in own) for new in LEFT[section])
        followed.add(section)
        before.clear()
        before.update(now)

    follow(guide, copy, after=touched_nothing_else)
    assert guide.stem != "extend" or followed >= set(LEFT)
