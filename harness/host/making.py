# SPDX-License-Identifier: GPL-2.0-only
"""Makes products that set-up leaves out: when they are first used, and kept in its cache."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.host import paths, step
from plan.errors import MissingError


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
    with log.open("wb") as stream:
        code = step.run(argv, stream)
    if code:
        raise MissingError(f"{what} could not be built: {reason(log)} ({log})")


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, file=sys.stderr, flush=True)


def reason(log: Path) -> str:
    """The cause that a log names, as lab/setup tells it."""
    script = '. "$1" && reason "$2"'
    argv = ["bash", "-c", script, "-", str(paths.PROJECT / "lab" / "strict"), str(log)]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
