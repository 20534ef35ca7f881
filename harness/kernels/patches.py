# SPDX-License-Identifier: GPL-2.0-only
"""The lab's patches on any kernel's source: which apply, and what the files then are.

Those of lab/kernel/patches are for the kernel that set-up makes; a file of lab/kernels/patches
with the same number is tried where that one does not apply, and those from 1001 on are for kernels
that set-up's is not. Nothing is applied with fuzz: a hunk at the wrong place would be found by
nobody.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths, temporary
from harness.kernels.errors import KernelError
from harness.kernels.trees import Tree, blob

FOLDERS = ("lab/kernel/patches", "lab/kernels/patches")
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)
# Clock and entropy: without one of these a trial is not the same when it is run again.
ESSENTIAL = frozenset({"0002", "0003", "0004", "0005"})
# Essential as well, but only where this file has these words; else the kernel needs no patch.
WHERE = {
    "0001": ("arch/x86/um/user-offsets.c", b"DEFINE_LONGS(HOST_FP_SIZE, 2696)"),
    "0014": ("net/ipv4/tcp_bbr.c", b"(bbr_cycle_rand)"),
    # Else it would tick 100 times a second, and its timers be rounded otherwise than set-up's.
    "0017": ("arch/um/Kconfig", b"config HZ\n\tint\n"),
    "1001": ("fs/hostfs/hostfs_kern.c", b"*req_root = d;"),
    "1002": ("fs/proc/Kconfig", b"config SYSCTL\n"),
    "1003": ("net/sched/sch_netem.c", b"if (get_random_u32() < clg->a1)"),
}


@dataclass(frozen=True, kw_only=True)
class Patched:
    """Files that the patches change or add, and the titles of those that were left out."""

    files: Mapping[str, bytes]
    left_out: Sequence[str]


def patched(name: str, tree: Tree) -> Patched:
    """The lab's patches on a source.

    Args:
        name: of the kernel, for errors.

    Raises:
        KernelError: an essential one does not apply.
    """
    left_out = []
    with temporary.folder("patches") as folder:
        touched = sorted({path for patch in files() for path in TOUCHED.findall(patch.read_text())})
        for path, content in tree.read([path for path in touched if path in tree.files]):
            put(folder / path, content)
        for number, candidates in numbered().items():
            if any(applied(folder, patch) for patch in candidates):
                continue
            title = candidates[0].read_text().partition("\n")[0].rstrip(".")
            if essential(number, folder):
                raise KernelError(
                    f"kernel {name}: {candidates[0].name} does not apply, and without it a trial "
                    f"is not exact: {title}"
                )
            if number not in WHERE:
                left_out.append(title)
        found = {path: (folder / path).read_bytes() for path in touched if (folder / path).exists()}
    before = {path: file.blob for path, file in tree.files.items()}
    changed = {path: x for path, x in found.items() if before.get(path) != blob(x)}
    return Patched(files=changed, left_out=left_out)


def files() -> list[Path]:
    """All patches."""
    return [patch for name in FOLDERS for patch in sorted((paths.PROJECT / name).glob("*.patch"))]


def numbered() -> dict[str, list[Path]]:
    """The patches by their number, in its order; of each the first is for set-up's kernel."""
    found: dict[str, list[Path]] = {}
    for patch in files():
        found.setdefault(patch.name[:4], []).append(patch)
    return found


def essential(number: str, folder: Path) -> bool:
    """Can a lab not do without it?"""
    path, words = WHERE.get(number, ("", b""))
    needed = bool(path) and (folder / path).is_file() and words in (folder / path).read_bytes()
    return number in ESSENTIAL or needed


def applied(folder: Path, patch: Path) -> bool:
    """Apply a patch whole, or not at all."""
    return run(folder, patch, "--dry-run") and run(folder, patch)


def run(folder: Path, patch: Path, *options: str) -> bool:
    """Did patch(1) find every place exactly?"""
    argv = ["patch", "-d", str(folder), "-p1", "-F0", "-f", "-s", "-r-", "--no-backup-if-mismatch"]
    with patch.open("rb") as text:
        done = subprocess.run(
            [*argv, *options], stdin=text, capture_output=True, check=False, timeout=60
        )
    return done.returncode == 0


def put(path: Path, content: bytes) -> None:
    """A file in a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
