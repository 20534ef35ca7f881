# SPDX-License-Identifier: GPL-2.0-only
"""The recorded profile of the lab's kernel, and the files that gcc 14 wants of it.

    gcda.py merge STREAM...    prints what kernels with count.c wrote, their counts added
    gcda.py unpack FOLDER      writes what `counts` beside this file says for gcc, a file each

A line of `counts` names a file of the kernel, or has a function: gcc's number for it, the checksum
of its branches, and how often the kernel went each way that gcc counts. A 0 is left out. It has
only functions with a way that gcc takes for hot. The others are compiled as without a profile.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

COUNTS = Path(__file__).parent / "counts"
DATA, NAME = 0x67636461, 0x6763666E  # "gcda", "gcfn"
VERSION = 0x4234322A  # of gcc 14: another one refuses the files
SUMMARY, FUNCTION, ARCS = 0xA1000000, 0x01000000, 0x01A10000
# gcc takes for hot what happens at least this part of the times that the most frequent does.
HOT = 10_000
MOST = 2**32 - 1  # that the summary can name

if TYPE_CHECKING:  # set-up runs this with the host's Python, which may be 3.7
    Key = tuple[str, int, int]
    Profile = dict[Key, list[int]]


def functions(stream: bytes) -> Iterator[tuple[Key, Sequence[int]]]:
    """What a kernel wrote: of each file its name, and of each of its functions the counts."""
    at, name, function = 0, "", (0, 0)
    while at + 8 <= len(stream):
        tag, length = struct.unpack_from("<Ii", stream, at)
        at += 8
        if tag == NAME:
            (size,) = struct.unpack_from("<I", stream, at)
            name = stream[at + 4 : at + 4 + size].rstrip(b"\0").decode()
            at += 4 + size
        elif tag == DATA:
            at += 8  # stamp and checksum
        elif tag == 0:
            at -= 4  # the end of a file is one word
        else:
            body = stream[at : at + max(length, 0)]
            at += len(body)
            if tag == FUNCTION and body:
                number, _, checksum = struct.unpack("<3I", body)
                function = number, checksum
            elif tag == ARCS and body:
                path = name.removeprefix("./").removesuffix(".gcda").replace("#", "/")
                yield (path, *function), struct.unpack(f"<{len(body) // 8}q", body)


def merged(streams: Sequence[bytes]) -> Profile:
    """The sums of several kernels' counts."""
    profile: Profile = {}
    for stream in streams:
        for key, counts in functions(stream):
            before = profile.get(key, [0] * len(counts))
            profile[key] = [a + b for a, b in zip(before, counts, strict=True)]
    return profile


def text(profile: Profile) -> Iterator[str]:
    """The lines of `counts`."""
    most = max(map(max, profile.values()))
    yield "# SPDX-License-Identifier: GPL-2.0-only"
    yield f"# Made by lab/kernel/profile/record. gcda.py says what a line has. Most: {most}"
    path = ""
    for (file, number, checksum), counts in sorted(profile.items()):
        if max(counts) * HOT < most:
            continue
        if file != path:
            yield file
        path = file
        yield f" {number:x} {checksum:x} {','.join(str(count or '') for count in counts)}"


def files(lines: Sequence[str]) -> dict[str, bytes]:
    """The content of gcc's file for each file of the kernel."""
    most = int(lines[1].rpartition(" ")[2])
    summary = struct.pack("<IiII", SUMMARY, 8, 1, min(most, MOST))
    made: dict[str, bytes] = {}
    path = ""
    for line in lines[2:]:
        if not line.startswith(" "):
            path = line
            made[path] = struct.pack("<4I", DATA, VERSION, 0, 0) + summary
            continue
        number, checksum, counts = line[1:].split(" ")
        ways = [int(count or 0) for count in counts.split(",")]
        made[path] += struct.pack("<Ii3I", FUNCTION, 12, int(number, 16), 0, int(checksum, 16))
        made[path] += struct.pack(f"<Ii{len(ways)}q", ARCS, 8 * len(ways), *ways)
    return {path: content + bytes(4) for path, content in made.items()}


def main() -> None:
    what, *names = sys.argv[1:]
    if what == "merge":
        print(*text(merged([Path(name).read_bytes() for name in names])), sep="\n")
        return
    folder = Path(*names)
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files(COUNTS.read_text().splitlines()).items():
        (folder / f"{path.replace('/', '#')}.gcda").write_bytes(content)


if __name__ == "__main__":
    main()
