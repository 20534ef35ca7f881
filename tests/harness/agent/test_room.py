# SPDX-License-Identifier: GPL-2.0-only
"""Memory that holds nothing goes back to the host, and the lab may have it again."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from harness.agent import room
from harness.host import paths
from tests.harness.agent.room_in_lab import FILLED_MIB, FREE_MIB
from tests.harness.agent.script import LIMIT_S, told
from tests.small import PROJECT
from topology import modules

PAGES_PER_MIB, BLOCK_MIB = 256, 4
BURST = Path(__file__).with_name("burst")


def test_a_lab_without_the_module_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "BUILT", tmp_path)
    monkeypatch.setattr(room, "FILE", tmp_path / "file")
    monkeypatch.setattr(room, "SYSCTLS", tmp_path / "none")
    assert room.give_back(100) == (0, 0)
    assert not list(tmp_path.iterdir())


def test_the_kernel_is_told_what_it_took_from_its_free_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "SYSCTLS", tmp_path)
    monkeypatch.setattr(room, "BACKING", tmp_path / "none")
    room.prepare({"MemTotal": 4096, "MemFree": 3900, "Active(file)": 40, "Inactive(file)": 60})
    said = {path.name: int(path.read_text()) for path in tmp_path.iterdir()}
    assert said == {
        "dirty_bytes": 800 << 20, "dirty_background_bytes": 400 << 20, "drop_caches": 3,
        "watermark_scale_factor": 156,  # 64 MiB of 4096
    }  # fmt: skip


def test_less_of_a_file_of_the_image_is_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "SYSCTLS", tmp_path)
    monkeypatch.setattr(room, "BACKING", tmp_path / "bdi")
    for name in ("hostfs-1", "7:0"):
        (tmp_path / "bdi" / name).mkdir(parents=True)
    room.prepare({"MemTotal": 4096, "MemFree": 3900, "Active(file)": 40, "Inactive(file)": 60})
    said = [str(path.relative_to(tmp_path)) for path in (tmp_path / "bdi").rglob("*_kb")]
    assert said == ["bdi/hostfs-1/read_ahead_kb"]


def built(folder: Path) -> None:
    """Put the module of the bursts, for the lab's kernel, into a folder."""
    for path in BURST.iterdir():
        copyfile(path, folder / path.name)
    build = paths.places()["kernel"] / "build"
    argv = [PROJECT / "lab/root/enter", "make", "-s", "-C", build, f"M={folder}", "ARCH=um"]
    subprocess.run([*argv, "modules"], check=True, timeout=LIMIT_S)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script says of a lab."""
    folder, made = tmp_path_factory.mktemp("room"), tmp_path_factory.mktemp("made")
    built(made)
    copyfile(made / "burst.ko", folder / "burst.ko")
    return told("room_in_lab.py", folder)


@pytest.mark.lab
def test_pages_of_zeros_go_back_and_no_byte_changes(found: dict[str, Any]) -> None:
    assert found["first"][0] >= 16 * PAGES_PER_MIB, "half of 32 MiB were zeros"
    assert found["first content"]


@pytest.mark.lab
def test_the_module_keeps_blocks_until_so_much_is_free_as_asked(found: dict[str, Any]) -> None:
    assert found["first"][1] >= (found["free before"] - 32 - FREE_MIB) // BLOCK_MIB * 0.8
    assert found["free"] >= FREE_MIB


@pytest.mark.lab
def test_the_kernel_gets_kept_blocks_when_it_runs_short(found: dict[str, Any]) -> None:
    """It gets more than was free, and the descriptions of their pages are as if never away."""
    assert found["free"] < FILLED_MIB, "the lab had no need of kept blocks"
    assert found["second content"]
    assert found["blocks when full"] < found["first"][1]


@pytest.mark.lab
def test_freed_pages_go_back_and_can_be_used_again(found: dict[str, Any]) -> None:
    assert found["second"][0] >= 0.8 * FILLED_MIB * PAGES_PER_MIB
    assert found["second"][1] >= found["first"][1] * 0.9, "used blocks can be kept, too"
    assert found["third content"]
    assert "complaint" not in found, found["complaint"]


@pytest.mark.lab
def test_free_pages_that_the_kernel_holds_ready_go_back(found: dict[str, Any]) -> None:
    assert found["ready"] >= 0.9 * PAGES_PER_MIB / 2


@pytest.mark.lab
def test_a_program_reads_again_what_it_uses_of_the_image(found: dict[str, Any]) -> None:
    assert found["mapped after"] < 0.7 * found["mapped"]
    assert found["file content"]


@pytest.mark.lab
def test_no_packet_of_a_burst_wants_for_memory(found: dict[str, Any]) -> None:
    """More than is free, in bursts of pages for which the kernel may not wait."""
    assert found["failed"] == 0
    assert found["blocks after bursts"] < found["third"][1], "the bursts had no need of kept blocks"


@pytest.mark.lab
def test_the_tables_of_names_are_small(found: dict[str, Any]) -> None:
    """Each page of a large table holds some name, so none would be zero."""
    assert found["tables"]["Dentry"] == found["tables"]["Inode"] == 16384


@pytest.mark.lab
def test_the_limits_of_files_to_be_written_stay(found: dict[str, Any]) -> None:
    before = found["free before"] << 20
    assert found["sysctls"]["dirty_bytes"] == pytest.approx(before / 5, rel=0.15)
    assert found["sysctls"]["dirty_background_bytes"] == pytest.approx(before / 10, rel=0.15)
