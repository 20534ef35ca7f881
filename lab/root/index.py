# SPDX-License-Identifier: GPL-2.0-only
"""Which packages a suite of Debian has, as its signed Release file vouches for."""

from __future__ import annotations

import hashlib
import lzma
import re
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import quote

from mirror import RELEASE_BYTES, FetchError, address, fetch
from signature import NotSignedError, signed_text

PACKAGES = "main/binary-amd64/Packages.xz"


class UntrustedError(Exception):
    """A mirror that sends what Debian did not sign, as a sentence."""


class Package(NamedTuple):
    """One version of a package; `depends` and `provides` as Debian writes them."""

    name: str
    version: str
    url: str
    size: int
    sha256: str
    depends: str
    provides: str

    @property
    def file(self) -> str:
        """The name that apt gives the file."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.url.rpartition('_')[2]}"


def release(suite: str) -> dict[str, tuple[str, int]]:
    """Hash and size of each file that a suite's Release file names.

    Raises:
        FetchError, UntrustedError
    """
    url = f"{address(suite)}/dists/{suite}/InRelease"
    try:
        text = signed_text(fetch(url, RELEASE_BYTES))
    except (NotSignedError, ValueError, IndexError) as error:
        raise UntrustedError(f"{url} is not to be trusted: {error}") from error
    head, _, rest = text.partition("\nSHA256:\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    # The same key signs all suites: an older one in this one's place would be good as well.
    if suite not in (fields.get("Suite"), fields.get("Codename")):
        raise UntrustedError(f"{url} is the Release file of {fields.get('Codename')}")
    until = fields.get("Valid-Until")
    if until and parsedate_to_datetime(until).timestamp() < time.time():
        raise UntrustedError(
            f"{url} was valid until {until}; the mirror is old, or this machine's clock is wrong"
        )
    rows = re.findall(r"^ ([0-9a-f]{64}) +(\d+) (\S+)$", rest, re.MULTILINE)
    return {path: (digest, int(size)) for digest, size, path in rows}


def packages(suite: str) -> list[Package]:
    """All packages of a suite.

    Raises:
        FetchError, UntrustedError
    """
    base = address(suite)
    digest, size = release(suite)[PACKAGES]
    folder = f"{base}/dists/{suite}/{PACKAGES.rpartition('/')[0]}"
    try:  # by its hash it is there also while the mirror is being renewed
        packed = fetch(f"{folder}/by-hash/SHA256/{digest}", size)
    except FetchError:
        packed = fetch(f"{base}/dists/{suite}/{PACKAGES}", size)
    if hashlib.sha256(packed).hexdigest() != digest:
        raise UntrustedError(f"{base}: {suite}'s list of packages is not the one that was signed")
    return list(parsed(lzma.decompress(packed).decode(), base))


def parsed(text: str, base: str) -> Iterator[Package]:
    """The packages of a list."""
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
        if "Filename" in fields:
            depends = [fields.get("Pre-Depends", ""), fields.get("Depends", "")]
            yield Package(
                name=fields["Package"],
                version=fields["Version"],
                url=f"{base}/{quote(fields['Filename'])}",
                size=int(fields["Size"]),
                sha256=fields["SHA256"],
                depends=", ".join(filter(None, depends)),
                provides=fields.get("Provides", ""),
            )


def newest(found: list[Package]) -> dict[str, Package]:
    """Of each name the newest version."""
    chosen: dict[str, Package] = {}
    for package in found:
        known = chosen.get(package.name)
        if known is None or order(package.version, known.version) > 0:
            chosen[package.name] = package
    return chosen


def order(one: str, other: str) -> int:
    """Which version is newer: Debian Policy, section 5.6.12."""
    left, right = split(one), split(other)
    if left[0] != right[0]:
        return left[0] - right[0]
    return part_order(left[1], right[1]) or part_order(left[2], right[2])


def split(version: str) -> tuple[int, str, str]:
    """Epoch, upstream version and Debian's revision."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    return (int(epoch), upstream, revision) if dash else (int(epoch), rest, "0")


def part_order(one: str, other: str) -> int:
    """The same for a part without epoch: text and numbers in turn."""
    for a, b in zip_all(re.findall(r"(\D*)(\d*)", one), re.findall(r"(\D*)(\d*)", other)):
        ranks = [[rank(letter) for letter in x[0]] + [0] for x in (a, b)]
        if ranks[0] != ranks[1]:
            return 1 if ranks[0] > ranks[1] else -1
        numbers = [int(x[1] or "0") for x in (a, b)]
        if numbers[0] != numbers[1]:
            return 1 if numbers[0] > numbers[1] else -1
    return 0


def zip_all(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs, the shorter list filled with nothing."""
    for i in range(max(len(one), len(other))):
        yield (one[i] if i < len(one) else ("", "")), (other[i] if i < len(other) else ("", ""))


def rank(letter: str) -> int:
    """A tilde comes before the end, letters before the rest."""
    if letter == "~":
        return -1
    return ord(letter) if letter.isalpha() else ord(letter) + 256
