# SPDX-License-Identifier: GPL-2.0-only
"""A lab's ovs-vsctl notes which switch it did not make, and why. No lab."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.host import paths
from harness.scripts import remedies, switch_command

WORDS = "ovs-vsctl: one name for two rows"
REAL = f'#!/bin/sh\necho out "$#"\n[ "$1" = good ] || {{ echo "{WORDS}" >&2; exit 1; }}\n'
EXISTS = '#!/bin/sh\necho "ovs-vsctl: a bridge named s1 already exists" >&2\nexit 1\n'


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """The lab's own, before a program of the test instead of Open vSwitch's."""
    text = (paths.PROJECT / "lab" / "mininet" / "ovs-command").read_text()
    place = tmp_path / "bin" / "ovs-vsctl"
    place.parent.mkdir()
    place.write_text(text.replace("/usr/lib/cellbed", str(tmp_path)))
    write_program(tmp_path / "ovs-vsctl", REAL)
    switch_command.install(place, tmp_path / "notes")
    return place


def write_program(place: Path, text: str) -> None:
    place.write_text(text)
    place.chmod(0o755)


def call(command: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, *words], capture_output=True, text=True, check=False)


def told(folder: Path) -> list[str]:
    notes = folder / "notes"
    lines = notes.read_text().splitlines() if notes.exists() else []
    return remedies.sentences([line.split("\t") for line in lines])


def test_a_failure_names_its_switches_and_has_the_words_of_ovs_vsctl(
    command: Path, tmp_path: Path
) -> None:
    done = call(command, "--", "--if-exists", "del-br", "s1", "--", "add-br", "s1", "add-br", "s2")
    assert (done.returncode, done.stdout, done.stderr) == (1, "out 9\n", f"{WORDS}\n")
    assert told(tmp_path) == [f"the switches s1 and s2 are not as the script asked: {WORDS}"]


@pytest.mark.parametrize("words", [("good", "add-br", "s1"), ("del-br", "s1"), ("show",)])
def test_what_makes_no_switch_or_does_not_fail_has_no_note(
    command: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    good = words[0] == "good"
    done = call(command, *words)
    assert (done.returncode, done.stderr) == ((0, "") if good else (1, f"{WORDS}\n"))
    assert done.stdout == f"out {len(words)}\n"
    assert told(tmp_path) == []


def test_a_switch_that_is_there_already_has_no_note(command: Path, tmp_path: Path) -> None:
    write_program(tmp_path / "ovs-vsctl", EXISTS)
    assert call(command, "add-br", "s1").returncode == 1
    assert told(tmp_path) == []


def test_another_command_of_this_name_stays(tmp_path: Path) -> None:
    other = tmp_path / "ovs-vsctl"
    write_program(other, REAL)
    switch_command.install(other, tmp_path / "notes")
    assert other.read_text() == REAL
    switch_command.install(tmp_path / "none", tmp_path / "notes")
    assert not (tmp_path / "none").exists()
