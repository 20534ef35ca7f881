# SPDX-License-Identifier: GPL-2.0-only
"""What a lab passes on of a script and leaves of its files. No lab."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.scripts import kernel, lab
from harness.scripts.job import ScriptJob

HOLE_BYTES = 1 << 30


def test_output_that_ends_within_a_character_is_whole() -> None:
    said: list[tuple[int, bytes]] = []
    watched = lab.Watched.__new__(lab.Watched)
    watched.say = lambda *part: said.append((part[0], part[1].encode(errors="surrogateescape")))  # type: ignore[method-assign]
    argv = ["printf", r"end \342\202"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watched.process:
        watched.pass_on(os.pidfd_open(watched.process.pid))
    assert b"".join(data for stream, data in said if stream == 1) == b"end \xe2\x82"


def test_modules_that_the_kernel_was_asked_for_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "  tc-{}  [000] .....  0.61{}: module_request: {} wait=1 call_site=qdisc_create\n"
    asked = ["net-sch-red", "netdev-s1-eth1", "net-sch-red"]
    text = "".join(line.format(at, at, name) for at, name in enumerate(asked))
    (tmp_path / "trace").write_text("# tracer: nop\n" + text)
    monkeypatch.setattr(kernel, "REQUESTS", tmp_path)
    monkeypatch.setattr(lab, "MISSED", tmp_path / "missed")
    found = [["kernel", "net-sch-red", ""], ["kernel", "netdev-s1-eth1", ""]]
    assert lab.missed() == found


def test_a_script_finds_the_programs_of_games() -> None:
    assert "/usr/games" in lab.ENVIRONMENT["PATH"].split(":")


@pytest.fixture
def upper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The disk of the script's folder; keep() leaves it in run/results/work."""
    monkeypatch.setattr(lab, "PLACES", {"work": tmp_path / "upper"})
    monkeypatch.setattr(lab, "RUN", tmp_path / "run")
    (tmp_path / "upper").mkdir()
    return tmp_path / "upper"


def test_the_owner_can_read_what_a_script_closed_to_all(tmp_path: Path) -> None:
    """The lab copies as root; the owner on the host is seldom root, as here in some tests."""
    kept = tmp_path / "work"
    (kept / "closed").mkdir(parents=True)
    (kept / "closed" / "file").write_text("text")
    (kept / "closed" / "link").symlink_to("/etc/shadow")
    (kept / "closed" / "file").chmod(0)
    (kept / "closed").chmod(0)
    kept.chmod(0o500)
    lab.open_to_owner(kept)
    found = {path.name: path.lstat().st_mode & 0o777 for path in (kept, *kept.rglob("*"))}
    assert found == {"work": 0o700, "closed": 0o700, "file": 0o600, "link": 0o777}
    assert (kept / "closed" / "file").read_text() == "text"


def test_a_hole_takes_no_room_on_the_host(upper: Path) -> None:
    with (upper / "holes").open("wb") as file:
        file.write(b"begin")
        file.seek(HOLE_BYTES)
        file.write(b"end")
        file.truncate(2 * HOLE_BYTES)
    lab.keep()
    kept = upper.parent / "run" / "results" / "work" / "holes"
    assert kept.stat().st_size == 2 * HOLE_BYTES
    assert kept.stat().st_blocks * 512 < HOLE_BYTES / 100
    with kept.open("rb") as file:
        assert file.read(6) == b"begin\0"
        file.seek(HOLE_BYTES)
        assert file.read(4) == b"end\0"


def test_a_disk_that_a_script_hid_under_another_is_not_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full, hidden = Path("/proc"), Path("/proc/absent")  # proc has no room
    monkeypatch.setattr(lab, "DISKS", {"its folder": full, "the root": hidden})
    assert lab.full_disks() == ["its folder"]


def job(*, own_kernel: bool) -> ScriptJob:
    return ScriptJob(
        argv=[], modules=[], beside=[], python2=False, own_kernel=own_kernel, limit_s=1,
        disk_mib=1, output_mib=1, processes=1, terminal=False,
    )  # fmt: skip


@pytest.mark.parametrize("own_kernel", [True, False])
def test_only_a_lab_with_a_kernel_of_its_own_gets_a_link_in_dev(
    own_kernel: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The native lab has the /dev of the machine."""
    monkeypatch.setattr(lab, "DESCRIPTORS", tmp_path / "fd")
    lab.make_descriptors_link(job(own_kernel=own_kernel))
    assert (tmp_path / "fd").is_symlink() == own_kernel


def test_a_link_that_leads_nowhere_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    link = tmp_path / "fd"
    link.symlink_to(tmp_path / "absent")
    monkeypatch.setattr(lab, "DESCRIPTORS", link)
    lab.make_descriptors_link(job(own_kernel=True))
    assert link.readlink() == tmp_path / "absent"
