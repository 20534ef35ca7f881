# SPDX-License-Identifier: GPL-2.0-only
"""What cellbed made in the cache, known by its names: the folder may hold anything else, too."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from harness.host import temporary

KEY = r"[0-9a-f]{16}"
MADE = re.compile(
    rf"(root|image|kernel|full-kernel|vm|release|arm64-(cross|image|vm))-{KEY}(\.lock)?"
    rf"|programs-{KEY}-{KEY}-{KEY}(\.tools)?|arm64-programs-{KEY}-{KEY}"
    rf"|python-{KEY}-([0-9.]+|debian)"
    rf"|(arm64-)?disk-{KEY}\.squashfs(\.partial)?"
    rf"|mininet-{KEY}(,[a-z0-9+.,-]+)?(\.squashfs)?(\.lock)?"
    rf"|processor-{KEY}-{KEY}\.ko(\.lock)?"
    rf"|quic-{KEY}-{KEY}(\.lock)?"
    r"|kvm-[0-9a-f-]{36}(\.partial)?"
    r"|lock|mininet\.lock|costs\.json|costs\.[0-9]+|cluster\.pem"
)
# Folders of which only what has these names is removed.
BELOW = {
    "log": re.compile(r".+\.log"),
    "kernels": re.compile(
        rf"built-{KEY}(\.partial)?|(work|debian)-[0-9.]+(-(selftests|bpf))?|seen-{KEY}\.json"
        rf"|(recipe|tests|tools|root)-{KEY}(\.lock)?|tests-{KEY}-{KEY}(\.lock)?"
    ),
    # Of which releases the products are.
    "releases": re.compile(
        rf"(image|kernel)-{KEY}|programs-{KEY}-{KEY}-{KEY}|python-{KEY}-debian|made-{KEY}-{KEY}"
        rf"|arm64-((image|vm)-{KEY}|disk-{KEY}\.squashfs|programs-{KEY}-{KEY})"
    ),
}
# What a recipe fills (mktemp -d) until it is whole, and moves or removes at its end.
PARTIAL = re.compile(
    rf"(root|image|cross|arm64-programs-{KEY}-{KEY}|processor|mininet|quic|full-kernel|vm|disk|tests-{KEY}-{KEY}|programs-{KEY}-{KEY}-{KEY}(\.tools)?|debian-[0-9.]+(-(selftests|bpf))?|release-{KEY})"
    r"\.[A-Za-z0-9]{6}"
    rf"|tools-{KEY}\.[A-Za-z0-9]{{6}}|(recipe|tests)-{KEY}\.[a-z0-9_]{{8}}"
    r"|(image|disk|kernel|vm|programs|environment)\.from\.[a-z0-9_]{8}"
)
LOCKS = ("lock", "*.lock", "kernels/*.lock", "kernels/work-*/lock")


def products(cache: Path) -> Iterator[Path]:
    """All that is cellbed's."""
    for name, pattern in BELOW.items():
        yield from matching(cache / name, pattern)
    yield from matching(cache, MADE)
    yield from partials(cache)


def partials(cache: Path) -> Iterator[Path]:
    """What a recipe is filling, or a killed one has left."""
    for folder in (cache, cache / "kernels"):
        yield from matching(folder, PARTIAL)


def matching(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    """What of a folder has such a name."""
    with suppress(FileNotFoundError, NotADirectoryError):
        yield from (path for path in sorted(folder.iterdir()) if pattern.fullmatch(path.name))


def locked_all(cache: Path) -> ExitStack | None:
    """All locks under which something is made here, held; None while somebody has one.

    What a killed recipe began goes on, and holds its lock until it ends.
    """
    with ExitStack() as held:
        for path in (path for pattern in LOCKS for path in sorted(cache.glob(pattern))):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            held.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
        return held.pop_all()


def remove(path: Path) -> str:
    """Remove a file or folder; returns what stood against it."""
    if below := mounted(path):
        return f"{below[0]} is mounted in it"
    try:
        if path.is_dir() and not path.is_symlink():
            temporary.remove(path)
        else:
            path.unlink()
    except FileNotFoundError:  # somebody else cleans, too
        return ""
    except OSError as error:
        return str(error)
    return ""


def mounted(path: Path) -> Sequence[str]:
    """Mount points at a path and below: what is in them is not the path's, and must not go."""
    top = os.fspath(path.absolute())
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [re.sub(r"\\(\d{3})", lambda x: chr(int(x[1], 8)), line.split()[4]) for line in lines]
    return [point for point in points if point == top or point.startswith(f"{top}/")]
