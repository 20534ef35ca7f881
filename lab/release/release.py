# SPDX-License-Identifier: GPL-2.0-only
"""What a release is: one tar of a list, of compressed parts and of what tells where they are from.

The first file is the list, `cellbed-release.json`:

    format      "cellbed-release/1"
    version     of cellbed
    machine     as `uname -m` says it
    products    product -> its name in the cache, which has a hash of its recipe in it
    parts       of each other file, in the archive's order, `file`, `size` and `sha256`; and
                of those that are unpacked `product`, `below` (a folder in it), `unpacked` [bytes]
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from typing import Any, BinaryIO

FORMAT = "cellbed-release/1"
LIST = "cellbed-release.json"
MOST_LIST_BYTES = 1_000_000
MOST_BYTES = 1 << 63  # bash counts no further
ONE_READ = 1 << 20
BLOCK = 512  # of a tar
KEYS = {"file", "size", "sha256", "product", "below", "unpacked"}


class ReleaseError(Exception):
    """An archive that is not used, as the end of a sentence that begins with its name."""


def listed(stream: BinaryIO) -> bytes:
    """The bytes of the list at the begin of an archive.

    Raises:
        ReleaseError: it is no archive of ours.
    """
    stream.seek(0)
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            first = archive.next()
            content = archive.extractfile(first) if first and first.name == LIST else None
            if first is None or content is None or first.size > MOST_LIST_BYTES:
                raise ReleaseError("is no release of cellbed; name a file of ./cellbed release")
            return content.read()
    except tarfile.TarError as error:
        raise ReleaseError("is no release of cellbed; name a file of ./cellbed release") from error


def parsed(content: bytes) -> dict[str, Any]:
    """The list whose bytes these are.

    Raises:
        ReleaseError: it is no list, or of a later format.
    """
    try:
        found = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ReleaseError("is no release of cellbed; name a file of ./cellbed release") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ReleaseError(f"is not of the format {FORMAT}; use the cellbed that it was made for")
    if not sound(found):
        raise ReleaseError("has a list of parts that cannot be read; download it again")
    return found


def digest(content: bytes) -> str:
    """SHA-256 of the bytes of a list, whose checksums vouch for each byte of the parts."""
    return hashlib.sha256(content).hexdigest()


def sound(found: dict[str, Any]) -> bool:
    """Has a list the keys and types that are read of it?"""
    parts, products = found.get("parts"), found.get("products")
    return (
        isinstance(found.get("version"), str)
        and isinstance(found.get("machine"), str)
        and isinstance(products, dict)
        and all(isinstance(name, str) for name in products.values())
        and isinstance(parts, list)
        and all(isinstance(part, dict) and sound_part(part) for part in parts)
    )


def sound_part(part: dict[str, Any]) -> bool:
    """The same of one part."""
    numbers = [part.get("size"), part.get("unpacked", 0)]
    words = [part.get("file"), part.get("sha256"), part.get("product", ""), part.get("below", "")]
    return (
        set(part) <= KEYS
        and all(type(number) is int and 0 <= number < MOST_BYTES for number in numbers)
        and all(isinstance(word, str) for word in words)
    )


def check(stream: BinaryIO, release: dict[str, Any]) -> None:
    """Compare all that follows the list with it: each byte, and nothing besides.

    Raises:
        ReleaseError: which part is another, or that the file ends before its end.
    """
    stream.seek(0)
    wanted: list[dict[str, Any]] = release["parts"]
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            archive.next()
            for part in wanted:
                check_part(archive, part)
            if archive.next() is not None:
                raise ReleaseError("has a file that its list does not name; download it again")
            end = archive.offset
    except tarfile.TarError as error:
        raise ReleaseError("is cut off or damaged; download it again") from error
    stream.seek(end)
    if stream.read().strip(b"\0"):
        raise ReleaseError("has something behind its end; download it again")


def check_part(archive: tarfile.TarFile, part: dict[str, Any]) -> None:
    """Compare the next file with its line of the list."""
    member = archive.next()
    if member is None:
        raise ReleaseError(f"is cut off before {part['file']}; download it again")
    plain = member.isreg() and not member.issparse()
    if not plain or (member.name, member.size) != (part["file"], part["size"]):
        raise ReleaseError(
            f"was changed: {part['file']} is not where its list says; download it again"
        )
    content = archive.extractfile(member)
    assert content is not None
    found = hashlib.sha256()
    left = member.size
    while left:
        piece = content.read(min(ONE_READ, left))
        if not piece:
            raise ReleaseError(f"is cut off in {part['file']}; download it again")
        found.update(piece)
        left -= len(piece)
    if found.hexdigest() != part["sha256"]:
        raise ReleaseError(f"was changed: {part['file']} has another checksum; download it again")
