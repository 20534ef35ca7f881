# SPDX-License-Identifier: GPL-2.0-only
"""Files of a mirror of Debian. Nothing that comes from it is used before its hash is compared."""

from __future__ import annotations

import functools
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import lists

NAMED_BY = "CELLBED_DEBIAN_MIRROR"
SUITE = "trixie"
MOST_ASKED = 20  # of a list of hundreds
ASKED_S = 10
TIMEOUT_S = 60
TRIES = 3
RELEASE_BYTES = 10_000_000  # more than any release's file of checksums has
ONE_READ = 1 << 20


class FetchError(Exception):
    """A file that cannot be had, as a sentence."""


def address(suite: str) -> str:
    """Of the mirror for a suite.

    It is the user's, else apt's where this machine is a Debian, else the first that answers of
    those that other programs of this machine know.

    Raises:
        FetchError: there is none.
    """
    archive = "debian-security" if suite.endswith("-security") else "debian"
    named = os.environ.get(NAMED_BY, "").rstrip("/")
    if not named:
        configured = lists.of_apt(archive)
        if configured:
            return configured
        named = lists.of_apt("debian") or answering()
    return named + archive[len("debian") :]


@functools.lru_cache(maxsize=1)
def answering() -> str:
    """The first mirror of this machine's lists that has Debian and its security updates.

    Raises:
        FetchError: none does.
    """
    known = list(dict.fromkeys(lists.of_host()))[:MOST_ASKED]
    with ThreadPoolExecutor(MOST_ASKED) as pool:
        answers = dict(pool.map(lambda base: (base, serves(base)), known))
    for base in known:
        if answers[base]:
            return base
    silent = f" ({len(known)} mirrors of this machine's lists did not answer)" if known else ""
    raise FetchError(
        f"this machine names no mirror of Debian{silent}; set {NAMED_BY}=http://HOST/debian to a "
        "mirror that also has debian-security; Debian's website lists the mirrors"
    )


def serves(base: str) -> bool:
    """Has a mirror what a build root is made of?"""
    folders = (f"{base}/dists/{SUITE}", f"{base}-security/dists/{SUITE}-security")
    for folder in folders:
        try:
            with opener().open(f"{folder}/InRelease", timeout=ASKED_S) as answer:
                answer.read(1)
        except (OSError, http.client.HTTPException):
            return False
    return True


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
