# SPDX-License-Identifier: GPL-2.0-only
"""The historical flavors by scripts in packetdrill's language, segment by segment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.flavors import files as flavors
from harness.labs import Lab, UmlLab, VmLab
from tests.flavors.runner import NEEDS_VM, run_script

pytestmark = pytest.mark.lab

SCRIPTS = sorted(path.name for path in (Path(__file__).parent / "drill").glob("*.pkt"))
CLASSIC = ("vanilla", "reno", "newreno", "sack")
# A script, another flavor, and where that first does something else.
WRONG = [
    ("vanilla.pkt", "reno", "the kernel sent > . 1:1001(1000) ack 1 before it"),
    ("reno.pkt", "vanilla", "+0 > . 1:1001(1000) ack 1: the kernel sent nothing"),
    ("reno-two.pkt", "newreno", "the kernel sent > . 2001:3001(1000) ack 1 before it"),
    ("newreno-two.pkt", "reno", "+0 > . 2001:3001(1000) ack 1: the kernel sent nothing"),
    ("sack-two.pkt", "newreno", "the kernel sent > S. 0:0(0) ack 1 <mss 1460>"),
]


def failures(
    folder: Path, job: Sequence[tuple[str, str]], lab: type[Lab] = UmlLab
) -> list[str]:
    """What was not as each script says, run with a flavor, or its own."""
    given = {name: flavors.load(name).as_dict() for name in CLASSIC}
    (folder / "flavors.json").write_text(json.dumps(given))
    return [one["failed"] for one in run_script("drill_in_lab.py", job, folder, lab=lab)]


def test_each_flavor_sends_what_its_scripts_say(tmp_path: Path) -> None:
    assert {name.removesuffix(".pkt").split("-")[0] for name in SCRIPTS} == set(CLASSIC)
    found = failures(tmp_path, [(name, "") for name in SCRIPTS])
    assert dict(zip(SCRIPTS, found, strict=True)) == dict.fromkeys(SCRIPTS, "")


def test_another_flavor_fails_where_it_differs(tmp_path: Path) -> None:
    differ(failures(tmp_path, [(name, flavor) for name, flavor, _ in WRONG]))


def differ(found: Sequence[str]) -> None:
    """Each script of WRONG failed where it must."""
    for (name, _, words), failed in zip(WRONG, found, strict=True):
        assert failed.endswith(words), (name, failed)


@NEEDS_VM
def test_both_hold_on_debians_own_kernel(tmp_path: Path) -> None:
    job = [*((name, "") for name in SCRIPTS), *((name, flavor) for name, flavor, _ in WRONG)]
    found = failures(tmp_path, job, VmLab)
    own = len(SCRIPTS)
    assert dict(zip(SCRIPTS, found[:own], strict=True)) == dict.fromkeys(SCRIPTS, "")
    differ(found[own:])
