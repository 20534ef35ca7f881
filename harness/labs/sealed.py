# SPDX-License-Identifier: GPL-2.0-only
"""What a sealed lab is given: all of it in memory, before the machine starts.

In the vm lab's virtual time, a machine that waits for its host is idle, so its clock jumps ahead,
further when the host is slow. A disk and shared folders make it wait. So a sealed lab has none
until its trial has ended: the kernel unpacks the disk, the programs and the jobs into memory as it
starts, and events leave by a serial port, which takes each byte at once. The machine's random
numbers begin with the trial's seed. So the same trial gives the same bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from harness.host import paths
from harness.labs.cpio import Archive

IN_LAB = "harness/sealed"
# As harness/records/identity.py: what is read in the lab. The rest of the checkout, which does not
# enter the names of trials, would move the clock by what unpacking it takes.
FOLDERS = (
    *("bpf", "harness/agent", "harness/captures", IN_LAB),
    *("plan", "topology", "workload"),
)
FILES = ("harness/__init__.py", "harness/capture.py")
NOT_READ = frozenset({".md", ".mk"})
MAIN = "exec /bin/sh /mnt/media/repo/harness/sealed/start"


def words(seed: int, events: tuple[str, str], initramfs: int) -> list[str]:
    """QEMU's arguments for it, beside the machine.

    Args:
        events: those of the serial port.
        initramfs: the number of the open file.
    """
    return [
        *("-seed", str(machine_seed(seed)), "-initrd", f"/proc/self/fd/{initramfs}"),
        *("-chardev", "file,id=events,path=events.jsonl,append=on", *events),
    ]


def told() -> list[str]:
    """What decides how it starts, the same on every machine."""
    return [MAIN, *FOLDERS, paths.content(*sorted(tree(paths.PROJECT / IN_LAB)))]


def machine_seed(seed: int) -> int:
    """Where the machine's random numbers begin: the kernel's own, and the places of its code."""
    digest = hashlib.blake2b(f"machine {seed}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def initramfs(run: Path, base: Path, disk: Path) -> IO[bytes]:
    """Set-up's initramfs, and behind it what the lab of a run directory is given.

    The file is as large as the image and has no name: nothing stays of it, whatever is killed.
    """
    stream = tempfile.TemporaryFile(dir=run)  # noqa: SIM115 (whoever boots the lab closes it)
    with base.open("rb") as first:
        shutil.copyfileobj(first, stream, 1 << 20)
    archive = Archive(stream)
    archive.file("disk", disk)
    archive.folder("given")
    add(archive, "given/programs", run / "programs", tree(run / "programs"))
    add(archive, "given/run", run, (path for path in tree(run) if given(path, run)))
    add(archive, "given/repo", paths.PROJECT, repo())
    archive.end()
    stream.flush()
    return stream


def given(path: Path, run: Path) -> bool:
    """Is a file of the run directory for the lab? Jobs are, and what a workload has prepared."""
    return path.relative_to(run).parts[0] not in ("host", "programs", "events.jsonl")


def add(archive: Archive, name: str, base: Path, files: Iterator[Path]) -> None:
    """Files of a folder, with the folders that they are in, sorted."""
    archive.folder(name)
    made: set[Path] = set()
    for path in sorted(files):
        inside = path.relative_to(base)
        for parent in reversed(inside.parents[:-1]):
            if parent not in made:
                archive.folder(f"{name}/{parent}")
                made.add(parent)
        archive.file(f"{name}/{inside}", path)


def tree(folder: Path) -> Iterator[Path]:
    """The files of a folder, compiled Python left out."""
    found = folder.rglob("*")
    return (path for path in found if path.is_file() and "__pycache__" not in path.parts)


def repo() -> Iterator[Path]:
    """The files of the checkout that are read in the lab."""
    yield from (paths.PROJECT / name for name in FILES)
    for folder in FOLDERS:
        for path in tree(paths.PROJECT / folder):
            if path.suffix not in NOT_READ:
                yield path
