# SPDX-License-Identifier: GPL-2.0-only
"""Makes products that set-up leaves out: when they are first used, and kept in its cache."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.host import paths, step
from plan.errors import MissingError

PROGRESS_S = 10.0
MOST_BYTES = 2000
MOST_LETTERS = 80


def make(what: str, product: Path, argv: Sequence[str | Path], whole: Path | None = None) -> None:
    """Run the script that makes a product, unless that is there.

    Args:
        whole: a file of the product that is made last; None: the product appears as a whole.
    """
    whole = whole or product
    if whole.exists():
        return
    with only_one(what, product) as lock:
        if not whole.exists():
            say(f"{what}: this command builds it once")
            build(what, argv, lock)


@contextmanager
def only_one(what: str, product: Path) -> Iterator[int]:
    """Two at once would make a product twice, into the same place. Gives the lock's descriptor.

    Raises:
        MissingError: nothing can be written there, as in a cache that others share.
    """
    try:
        lock = Path(f"{product}.lock").open("w")  # noqa: SIM115 (the next line closes it)
    except OSError as error:
        raise MissingError(
            f"{what} is missing and cannot be built in {product.parent} ({error.strerror}); build "
            "it "
            "as the owner of that folder, or name another folder with CELLBED_CACHE"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{what}: another command builds it; this command waits")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def build(what: str, argv: Sequence[str | Path], lock: int) -> None:
    """Run the script. It inherits the lock, because it ends a moment after this process."""
    log = paths.places()["cache"] / "log" / f"{what.replace(' ', '-')}.log"
    log.parent.mkdir(exist_ok=True)
    os.set_inheritable(lock, True)
    begin = time.monotonic()

    def tell() -> None:
        said = last_line(log)
        say(f"{what}: {time.monotonic() - begin:.0f} s so far{said and f'; {said}'}")

    with log.open("wb") as stream:
        code = step.run(argv, stream, tell, PROGRESS_S)
    if code:
        raise MissingError(f"{what} could not be built: {reason(log)} ({log})")


def last_line(log: Path) -> str:
    """What a log ends with, as far as it fits into a line; nothing where that is no text."""
    with log.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - MOST_BYTES))
        lines = stream.read().decode(errors="replace").split("\n")
    whole = (line.strip() for line in reversed(lines))
    return next((line[:MOST_LETTERS] for line in whole if line and line.isprintable()), "")


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, file=sys.stderr, flush=True)


def reason(log: Path) -> str:
    """The cause that a log names, as lab/setup tells it."""
    script = '. "$1" && reason "$2"'
    argv = ["bash", "-c", script, "-", str(paths.PROJECT / "lab" / "strict"), str(log)]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
