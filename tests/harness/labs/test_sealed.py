# SPDX-License-Identifier: GPL-2.0-only
"""What a vm lab for one trial is given before it starts, and what its emulator is told."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs import LABS, LabSpec, sealed, vm
from harness.labs.cpio import Archive
from harness.labs.device_tree import with_number
from harness.labs.vm import VmLab
from harness.labs.vm_arm64 import DECLARED_HZ, VmArm64Lab
from tests import made_plans

HEADER_BYTES = 110
MACHINES = ("vm", "vm-arm64")
# A machine with the node that the test changes, and another whose name begins alike.
NODES = (
    b"\0\0\0\1\0\0\0\0" b"\0\0\0\1timers\0\0" b"\0\0\0\2"
    b"\0\0\0\1timer\0\0\0" b"\0\0\0\2" b"\0\0\0\2\0\0\0\x09"
)  # fmt: skip
STRINGS = b"interrupts\0"


def tree_of(nodes: bytes) -> bytes:
    """A flattened device tree without reserved memory."""
    at = 40 + 16
    sizes = (at + len(nodes) + len(STRINGS), at, at + len(nodes), 40)
    header = struct.pack(">10I", 0xD00DFEED, *sizes, 17, 16, 0, len(STRINGS), len(nodes))
    return header + bytes(16) + nodes + STRINGS


def members(archive: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Name, mode and content of each member, until the end."""
    at = 0
    while True:
        head = archive[at : at + HEADER_BYTES]
        assert head[:6] == b"070701"
        fields = [int(head[i : i + 8], 16) for i in range(6, HEADER_BYTES, 8)]
        begin = at + HEADER_BYTES
        name = archive[begin : begin + fields[11] - 1].decode()
        body = -(-(begin + fields[11]) // 4) * 4
        at = -(-(body + fields[6]) // 4) * 4
        if name == "TRAILER!!!":
            return
        yield name, fields[1], archive[body : body + fields[6]]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What set-up makes, of paper, and an emulator that is never started."""
    folder = tmp_path / "made"
    for name in ("image", "programs", "vm"):
        (folder / name).mkdir(parents=True)
        (folder / f"arm64_{name}").mkdir()
    for name in ("vm", "arm64_vm"):
        for file in ("complete", "vmlinuz", "initramfs", "cellbed_tcp.ko", "cellbed_window.ko"):
            (folder / name / file).write_text(f"{file}!")
    for name in ("disk", "arm64_disk"):
        (folder / name).write_text("squashfs")
    (folder / "programs" / "cwnd").write_text("program")
    (folder / "programs" / "cwnd").chmod(0o755)
    shutil.copy(folder / "programs" / "cwnd", folder / "arm64_programs")
    places = {path.name: path for path in folder.iterdir()}
    monkeypatch.setattr(paths, "places", lambda: places)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(vm, "kvm_works", lambda: False)
    monkeypatch.setattr(vm, "qemu_version", lambda _: "QEMU of paper")
    monkeypatch.setattr(VmArm64Lab, "tree", lambda _: tree_of(NODES))
    return folder


def lab_of(name: str, folder: Path, *, seed: int = 1, clock: str = "virtual") -> VmLab:
    """A lab for a trial, not booted."""
    folder.mkdir()
    (folder / "inbox").mkdir()
    plan = made_plans.plan({"seed": seed}, workload="iperf")
    lab = LABS[name](LabSpec(pairs=1, clock=clock, only=("one", plan)), folder)
    assert isinstance(lab, VmLab)
    return lab


def initramfs_of(lab: VmLab) -> bytes:
    """What it boots; the file has no name."""
    [file] = lab.open_files
    assert not [path for path in lab.run_directory.rglob("*") if "initramfs" in path.name]
    return Path(f"/proc/self/fd/{file.fileno()}").read_bytes()


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_of_the_host_moves_its_clock(name: str, made: Path, tmp_path: Path) -> None:
    argv = lab_of(name, tmp_path / "run").argv()
    words = " ".join(argv)
    icount = "shift=0,sleep=off,rr=record,rrfile=/dev/null"
    assert f"-accel tcg,thread=single -icount {icount} -smp 1 " in words
    assert "-rtc base=2020-01-01,clock=vm " in words
    assert "-initrd /proc/self/fd/" in words and "cellbed_share=none" in words
    assert " ipv6.disable=1 " in words
    assert "virtio-blk" not in words and "-drive" not in words
    assert [word for word in argv if word.startswith("virtio-9p")] == [
        "virtio-9p-pci,fsdev=run,mount_tag=run"
    ]


@pytest.mark.parametrize("name", MACHINES)
def test_its_random_numbers_are_of_the_seed(name: str, made: Path, tmp_path: Path) -> None:
    def number(folder: str, seed: int) -> str:
        argv = lab_of(name, tmp_path / folder, seed=seed).argv()
        return argv[argv.index("-seed") + 1]

    assert number("first", 1) == number("again", 1) != number("other", 2)


def test_the_clock_of_arm64_is_declared_faster(made: Path, tmp_path: Path) -> None:
    lab = lab_of("vm-arm64", tmp_path / "run")
    argv = lab.argv()
    assert argv[argv.index("-cpu") + 1] == "cortex-a72,cntfrq=1000000000"
    tree = (lab.run_directory / argv[argv.index("-dtb") + 1]).read_bytes()
    assert struct.pack(">I", DECLARED_HZ) in tree and DECLARED_HZ == 4_000_000_000
    assert "4 instructions a virtual ns" in lab.kernel_identity()
    real = lab_of("vm-arm64", tmp_path / "real", clock="real")
    assert "-dtb" not in real.argv()


@pytest.mark.parametrize("name", MACHINES)
def test_all_that_it_needs_is_in_its_memory(name: str, made: Path, tmp_path: Path) -> None:
    """Its disk, programs, jobs, and of the checkout what runs in it; the same bytes each time."""
    labs = [lab_of(name, tmp_path / folder) for folder in ("first", "again")]
    for lab in labs:
        (lab.run_directory / "load.bin").write_text("prepared")
        lab.argv()
    first, again = (initramfs_of(lab) for lab in labs)
    assert first == again
    base = b"initramfs!"
    assert first.startswith(base)
    found = {
        member: (mode, body) for member, mode, body in members(first[-(-len(base) // 4) * 4 :])
    }
    assert found["disk"] == (0o100644, b"squashfs")
    assert found["given/programs/cwnd"] == (0o100755, b"program")
    assert found["given/run/load.bin"] == (0o100644, b"prepared")
    jobs = [json.loads(found[f"given/run/inbox/000{n}.json"][1])["kind"] for n in (1, 2, 3)]
    assert jobs == ["network", "trial", "end"]
    agent = found["given/repo/harness/sealed/agent.py"][1]
    assert agent == (paths.PROJECT / "harness" / "sealed" / "agent.py").read_bytes()
    assert not any("__pycache__" in member or "console" in member for member in found)
    for member in found:  # a folder is there before what is in it
        assert member.rpartition("/")[0] in ("", *found)


@pytest.mark.parametrize("name", MACHINES)
def test_the_real_clock_has_disk_and_shares(name: str, made: Path, tmp_path: Path) -> None:
    """And the command line of a lab that is given jobs as it runs."""
    lab = lab_of(name, tmp_path / "run", clock="real")
    words = " ".join(lab.argv())
    assert not lab.sealed and "-initrd host/kernel/initramfs " in words
    assert "virtio-blk-pci" in words and "-seed" not in words
    for tag in ("repo", "run", "programs"):
        assert f"mount_tag={tag}" in words and f"cellbed_{tag}={tag}" in words


def test_what_starts_it_is_in_the_names_of_its_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    labs = [LABS[name](LabSpec(pairs=0), Path()) for name in MACHINES]
    before = [lab.told() for lab in labs]
    monkeypatch.setattr(sealed, "MAIN", "exec something else")
    assert all(lab.told() != told for lab, told in zip(labs, before, strict=True))


def test_members_begin_at_multiples_of_four_bytes(tmp_path: Path) -> None:
    for length in range(1, 6):
        (tmp_path / "file").write_bytes(b"x" * length)
        with (tmp_path / "archive").open("wb") as stream:
            archive = Archive(stream)
            archive.folder("a" * length)
            archive.file("b", tmp_path / "file")
            archive.end()
        assert list(members((tmp_path / "archive").read_bytes())) == [
            ("a" * length, 0o040755, b""),
            ("b", 0o100644, b"x" * length),
        ]


def test_a_number_in_a_device_tree() -> None:
    """In the node of that name, with its own string, and all else as before."""
    changed = with_number(tree_of(NODES), "timer", "clock-frequency", 7)
    _, total, at, strings_at, _, _, _, _, strings_bytes, nodes_bytes = struct.unpack_from(
        ">10I", changed
    )
    assert total == len(changed) and strings_at == at + nodes_bytes
    strings = changed[strings_at : strings_at + strings_bytes]
    assert strings == STRINGS + b"clock-frequency\0"
    added = struct.pack(">4I", 3, 4, len(STRINGS), 7)
    nodes = changed[at : at + nodes_bytes]
    assert b"\0\0\0\1timer\0\0\0" + added + b"\0\0\0\2" in nodes
    assert nodes.replace(added, b"") == NODES


@pytest.mark.parametrize(
    ("tree", "says"),
    [(bytes(60), "version 17"), (tree_of(b"\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\x09"), "node timer")],
)
def test_no_device_tree(tree: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        with_number(tree, "timer", "clock-frequency", 7)
