# SPDX-License-Identifier: GPL-2.0-only
"""Addresses of mirrors of Debian that files of this machine name. None is written down here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
APT = "etc/apt"
# Programs that make a tree of Debian know one mirror each: a network of servers, which is not old.
MAKERS = (
    "usr/share/debootstrap/scripts/trixie",
    "usr/share/debootstrap/scripts/sid",
    "usr/bin/mmdebstrap",
)
# Ubuntu's settings of package sources have Debian's list of mirrors, below a line for each country.
LIST = "usr/share/python-apt/templates/Debian.mirrors"
ADDRESS = r"https?://[^\s'\"<>]+/{}(?=/?(?:[\s'\"<>]|$))"


def of_apt(archive: str, root: Path = ROOT) -> str:
    """The first address of an archive, such as debian, in apt's sources; "" where there is none.

    An archive of a derivative, such as Ubuntu's, is none of Debian's.
    """
    for path in sorted((root / APT).glob("sources.list*")) + sorted(
        (root / APT).glob("sources.list.d/*")
    ):
        if path.is_file() and path.suffix in (".list", ".sources"):
            for line in path.read_text(errors="replace").splitlines():
                if line.startswith(("deb ", "URIs:")):
                    for found in addresses(line, archive):
                        return found
    return ""


def of_host(root: Path = ROOT) -> Iterator[str]:
    """All other mirrors that this machine knows, the likeliest first."""
    for name in MAKERS:
        yield from addresses(text(root / name), "debian")
    listed = text(root / LIST)
    country = re.search(r"_([A-Z]{2})\b", os.environ.get("LANG", ""))
    here = re.search(rf"^#LOC:{country[1]}$([^#]*)", listed, re.MULTILINE) if country else None
    yield from addresses(here[1] if here else "", "debian")
    yield from addresses(listed, "debian")


def addresses(content: str, archive: str) -> Iterator[str]:
    """The addresses in a text, but for those in comments of a shell or of Perl."""
    for line in content.splitlines():
        if not line.lstrip().startswith("#"):
            yield from re.findall(ADDRESS.format(archive), line)


def text(path: Path) -> str:
    """What a file says; "" where there is none."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
