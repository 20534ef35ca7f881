# SPDX-License-Identifier: GPL-2.0-only
"""Is a text signed by a key of Debian's archive? RFC 9580's clear text, with RSA keys.

The host need have no gpgv. Only what Debian's archive uses is read: signatures of version 4 by RSA
with PKCS #1 1.5 (RFC 8017, section 8.2.2) over SHA-256 or longer.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

KEYS = Path(__file__).resolve().parent / "keys"
PUBLIC_KEY, SUBKEY, SIGNATURE = 6, 14, 2
RSA = (1, 3)
OF_TEXT = (0, 1)  # types of a signature over a document
# RFC 9580's number of a hash: its name, and what PKCS #1 puts before it.
HASHES = {
    8: ("sha256", "3031300d060960864801650304020105000420"),
    9: ("sha384", "3041300d060960864801650304020205000430"),
    10: ("sha512", "3051300d060960864801650304020305000440"),
}
CLEAR = re.compile(
    rb"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Za-z]+: [^\n]*\n)*\n(?P<text>.*?)\n"
    rb"(?P<armor>-----BEGIN PGP SIGNATURE-----\n.*?\n-----END PGP SIGNATURE-----)\n?",
    re.DOTALL,
)


class NotSignedError(Exception):
    """A text that no key of Debian's has signed."""


class Key(NamedTuple):
    """An RSA public key."""

    modulus: int
    exponent: int


def signed_text(whole: bytes) -> str:
    """The text that a key of Debian's signed, and nothing that stands around it.

    Raises:
        NotSignedError: there is no good signature.
    """
    found = CLEAR.fullmatch(whole)
    if not found:
        raise NotSignedError("it is no signed text")
    lines = found["text"].split(b"\n")
    lines = [line[2:] if line.startswith(b"- ") else line for line in lines]
    document = b"\r\n".join(line.rstrip(b" \t\r") for line in lines)
    trusted = keys()
    for body in of_kind(unarmored(found["armor"]), (SIGNATURE,)):
        if any(good(body, document, key) for key in trusted):
            return b"\n".join(line.rstrip(b" \t\r") for line in lines).decode()
    raise NotSignedError("no key of Debian's archive has signed it")


def keys(folder: Path = KEYS) -> list[Key]:
    """All RSA keys of the archive, main and sub: every file in the folder is trusted as it is."""
    found = []
    for path in sorted(folder.glob("*.asc")):
        for body in of_kind(unarmored(path.read_bytes()), (PUBLIC_KEY, SUBKEY)):
            if body[0] == 4 and body[5] in RSA:
                modulus, rest = integer(body[6:])
                found.append(Key(modulus, integer(rest)[0]))
    return found


def good(body: bytes, document: bytes, key: Key) -> bool:
    """Is a signature's packet the key's over a document?"""
    if len(body) < 10 or body[0] != 4 or body[1] not in OF_TEXT or body[2] not in RSA:
        return False
    if body[3] not in HASHES:
        return False
    name, prefix = HASHES[body[3]]
    hashed = body[: 6 + int.from_bytes(body[4:6], "big")]
    rest = body[len(hashed) :]
    rest = rest[2 + int.from_bytes(rest[:2], "big") + 2 :]  # what is not signed, and a hint
    digest = hashlib.new(name, document + hashed + b"\x04\xff" + len(hashed).to_bytes(4, "big"))
    size = (key.modulus.bit_length() + 7) // 8
    ending = bytes.fromhex(prefix) + digest.digest()
    expected = b"\x00\x01" + b"\xff" * (size - 3 - len(ending)) + b"\x00" + ending
    value = integer(rest)[0]
    return value < key.modulus and pow(value, key.exponent, key.modulus) == int.from_bytes(
        expected, "big"
    )


def integer(data: bytes) -> tuple[int, bytes]:
    """A number with its count of bits before it, and what follows."""
    size = (int.from_bytes(data[:2], "big") + 7) // 8
    return int.from_bytes(data[2 : 2 + size], "big"), data[2 + size :]


def unarmored(text: bytes) -> bytes:
    """The bytes of an armored block, without its checksum: the signature is a better one."""
    lines = text.strip().split(b"\n")
    begin = lines.index(b"") + 1
    data = [line for line in lines[begin:] if line and line[:1] not in (b"-", b"=")]
    return base64.b64decode(b"".join(data))


def of_kind(data: bytes, kinds: tuple[int, ...]) -> Iterator[bytes]:
    """Bodies of the packets of some kinds."""
    while data:
        kind, size, data = header(data)
        if kind in kinds:
            yield data[:size]
        data = data[size:]


def header(data: bytes) -> tuple[int, int, bytes]:
    """A packet's kind and size, and what follows its header."""
    first = data[0]
    if not first & 0x40:  # the old form: two bits say how long the size is
        width = 1 << (first & 3)
        if width == 8:
            raise NotSignedError("a packet has no size")
        return (first >> 2) & 15, int.from_bytes(data[1 : 1 + width], "big"), data[1 + width :]
    if data[1] < 192:
        return first & 63, data[1], data[2:]
    if data[1] < 224:
        return first & 63, ((data[1] - 192) << 8) + data[2] + 192, data[3:]
    if data[1] == 255:
        return first & 63, int.from_bytes(data[2:6], "big"), data[6:]
    raise NotSignedError("a packet comes in parts")
