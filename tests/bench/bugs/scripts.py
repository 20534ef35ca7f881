# SPDX-License-Identifier: GPL-2.0-only
"""Lays out a folder that ./cellbed selftests takes for a tree, with scripts of packetdrill.

net/6.12 and net/7.3 have the scripts of these two trees, net/own those of this folder. The files
`config` of all tests of 6.12 are there, too, so that the kernel is that of `selftests 'net/*'`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.kernels import names
from harness.kernels.trees import TOP as SOURCE
from harness.selftests import recipe
from harness.selftests.choice import TOP
from harness.selftests.sources import laid

OWN = Path(__file__).parent / "scripts"
BASE, NEWER = "6.12", "7.3"
FOLDER = f"{TOP}net/packetdrill"


def lay_out(place: Path) -> None:
    """Make the folder anew; Debian's sources of both kernels are fetched the first time.

    Raises:
        MissingError: Debian cannot be reached.
    """
    shutil.rmtree(place, ignore_errors=True)
    net = place / TOP / "net"
    net.mkdir(parents=True)
    known = laid(names.source(BASE, recipe.for_tests()).tree)
    for name in SOURCE:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(known / name, place / name)
    for path in [*(known / TOP).glob("kselftest*"), known / TOP / "lib"]:
        copy = shutil.copytree if path.is_dir() else shutil.copy2
        copy(path, place / TOP / path.name)
    for config in (known / TOP / "net").rglob("config"):
        copy_to = net / config.relative_to(known / TOP / "net")
        copy_to.parent.mkdir(exist_ok=True)
        shutil.copy(config, copy_to)
    for name in (BASE, NEWER):
        tree = laid(names.source(name, recipe.for_tests()).tree)
        shutil.copytree(tree / FOLDER, net / name)
    shutil.copytree(net / BASE, net / "own", ignore=shutil.ignore_patterns("*.pkt"))
    for script in OWN.glob("*.pkt"):
        shutil.copy(script, net / "own")
