# SPDX-License-Identifier: GPL-2.0-only
"""Fresh Debians: trees in namespaces, and where they are kept."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths
from tests.small import PROJECT

RELEASES = ("bookworm", "trixie")
SCRIPT = PROJECT / "tests" / "fresh" / "debian"
SUDO = [] if os.geteuid() == 0 else ["sudo", "-n"]
# Of one command in a tree, on a machine that does much else; set-up takes minutes on an idle one.
LIMIT_S = 7200
# All that set-up reads, and the script that makes the machine.
RECIPES = ("lab", "Makefile", "cellbed", "topology/Makefile", "topology/nsfarm.c",
           "topology/cwnd.c", "bpf", "workload/Makefile", "workload/common",
           *(str(path.relative_to(PROJECT)) for path in PROJECT.glob("workload/*/programs")),
           "tcp-configs/module", "tests/fresh/debian")  # fmt: skip
# Of these, set-up from source reads nothing.
LEFT_OUT = ("lab/ci", "lab/cluster", "lab/container", "lab/pip", "lab/release", "lab/upstream",
            "lab/vagrant")  # fmt: skip


@dataclass
class Fresh:
    """A tree and what may be shared between trees of its release: downloaded packages."""

    release: str
    folder: Path

    @property
    def shared(self) -> Path:
        return self.folder.parent / f"shared-{self.release}"

    @property
    def _set_up(self) -> Path:
        return self.folder.with_suffix(".set-up")

    def __call__(self, user: str, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command line in it as a user of it."""
        return script("run", str(self.folder), str(self.shared), user, command)

    def make(self) -> None:
        done = script("make", self.release, str(self.folder), str(self.shared))
        assert done.returncode == 0, done.stderr[-2000:]

    def renew(self) -> None:
        """Bring the project in it up to date."""
        done = script("renew", str(self.folder))
        assert done.returncode == 0, done.stderr[-2000:]

    def remove(self) -> None:
        self._set_up.unlink(missing_ok=True)
        script("remove", str(self.folder))

    def was_set_up(self) -> bool:
        """Has set-up gone from nothing to its end in it, and a trial run?"""
        return self._set_up.exists()

    def note_set_up(self) -> None:
        self._set_up.touch()


def script(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [*SUDO, str(SCRIPT), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def key(project: Path) -> str:
    """Of all that set-up reads: another one, and the machine is made anew."""
    digest = hashlib.sha256()
    for recipe in RECIPES:
        whole = project / recipe
        for path in sorted(whole.rglob("*")) if whole.is_dir() else [whole]:
            name = path.relative_to(project)
            if any(name.is_relative_to(folder) for folder in LEFT_OUT):
                continue
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(name).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def place() -> Path:
    folder = paths.places()["cache"] / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def made(release: str, name: str) -> Iterator[Fresh]:
    """A new tree, for the duration."""
    tree = Fresh(release, place() / name)
    try:
        tree.make()
        yield tree
    finally:
        tree.remove()


@contextmanager
def kept(release: str) -> Iterator[Fresh]:
    """The tree of the present recipes, made when there is none that has been set up.

    Others of the release go, and so does one that could not be set up.
    """
    tree = Fresh(release, place() / f"{release}-{key(PROJECT)}")
    with (place() / f"{release}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for other in place().glob(f"{release}-*"):
            if other.is_dir() and (other != tree.folder or not tree.was_set_up()):
                Fresh(release, other).remove()
        if tree.was_set_up():
            tree.renew()
        else:
            tree.make()
        try:
            yield tree
        finally:
            if not tree.was_set_up():
                tree.remove()
