# SPDX-License-Identifier: GPL-2.0-only
"""Files of a mirror of Debian. Nothing that comes from it is used before its hash is compared."""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

DEFAULT = "http://deb.debian.org/debian"
NAMED_BY = "CELLBED_DEBIAN_MIRROR"
SOURCES = Path("/etc/apt")
TIMEOUT_S = 60
TRIES = 3
RELEASE_BYTES = 10_000_000  # more than any release's file of checksums has
ONE_READ = 1 << 20


class FetchError(Exception):
    """A file that cannot be had, as a sentence."""


def address(suite: str) -> str:
    """Of the mirror for a suite: the user's, else this Debian's own, else the public one."""
    base = os.environ.get(NAMED_BY) or configured() or DEFAULT
    return base.rstrip("/") + ("-security" if suite.endswith("-security") else "")


def configured() -> str:
    """The mirror in apt's sources, where this machine is a Debian; "" where it names none."""
    for path in sorted(SOURCES.glob("sources.list*")) + sorted(SOURCES.glob("sources.list.d/*")):
        if path.is_file() and path.suffix in (".list", ".sources"):
            for found in mirrors(path.read_text(errors="replace")):
                return found
    return ""


def mirrors(text: str) -> Iterator[str]:
    """Addresses of mirrors of Debian, which its derivatives' are not, in a file of apt's."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in lines:
        if line.startswith(("deb ", "URIs:")):
            yield from re.findall(r"https?://\S+/debian(?=/?(?:\s|$))", line)


def opener() -> urllib.request.OpenerDirector:
    """Goes through the proxy that the environment names, or apt does."""
    proxies = urllib.request.getproxies()
    if "http" not in proxies and shutil.which("apt-config"):
        argv = ["apt-config", "shell", "proxy", "Acquire::http::Proxy"]
        said = subprocess.run(argv, stdout=subprocess.PIPE, check=False).stdout.decode()
        found = re.match(r"proxy='(https?://[^']+)'", said)
        if found:
            proxies["http"] = found[1]
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies))


def fetch(url: str, most: int) -> bytes:
    """A small file, of at most so many bytes.

    Raises:
        FetchError: as save().
    """
    stream = io.BytesIO()
    save(url, most, stream)
    return stream.getvalue()


def save(url: str, most: int, stream: BinaryIO) -> None:
    """Write a file of at most so many bytes; where the connection fails, again from its begin.

    Raises:
        FetchError: it is not there, is larger, or the network fails each time.
    """
    for attempt in range(TRIES):
        stream.seek(0)
        stream.truncate()
        try:
            with opener().open(url, timeout=TIMEOUT_S) as answer:
                copy(answer, stream, most, url)
            return
        except urllib.error.HTTPError as error:
            raise FetchError(f"{url} cannot be had: {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == TRIES - 1:
                reason = getattr(error, "reason", error)
                raise FetchError(f"{url} cannot be had: {reason}") from error
            time.sleep(1 + attempt)


def copy(answer: BinaryIO, stream: BinaryIO, most: int, url: str) -> None:
    """All that a server sends, if it is not too much."""
    for piece in iter(lambda: answer.read(ONE_READ), b""):
        most -= len(piece)
        if most < 0:
            raise FetchError(f"{url} is larger than the mirror's own index says")
        stream.write(piece)


def same(path: Path, size: int, digest: str) -> bool:
    """Is a file there with this content?"""
    if not path.is_file() or path.stat().st_size != size:
        return False
    with path.open("rb") as stream:
        found = hashlib.sha256()
        for piece in iter(lambda: stream.read(ONE_READ), b""):
            found.update(piece)
    return found.hexdigest() == digest
