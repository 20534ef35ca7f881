# SPDX-License-Identifier: GPL-2.0-only
"""Prints what a machine gives: checksums of set-up's products, and the digests of trials.

    PYTHONPATH=. python -P -m tests.fresh.digests_there [NUMBER]

in the project's environment on that machine. tests.fresh.digests reads the lines, NAME<TAB>DIGEST.
The trials are those of studies/digests.toml that set-up's kernel runs; or the first NUMBER of them,
of one experiment after the other.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.api import digests
from harness.host import paths
from harness.judge import studies

PRODUCTS = ("kernel", "programs", "packages of the image")
# Its trials run on Linux 7.3, which a machine without a compiler cannot build.
OTHER_KERNEL = "l4s/l4s.toml"


def products(places: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """The name and the checksum of each product; a missing file ends this program."""
    packages = places["image"] / "etc" / "cellbed-debs"
    files = [[places["kernel"] / "linux"], sorted(places["programs"].glob("*")), [packages]]
    for name, of in zip(PRODUCTS, files, strict=True):
        yield name, checksum(of)


def checksum(files: Sequence[Path]) -> str:
    """Over names and contents; empty where there is no file."""
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest() if files else ""


def trials(folder: Path, number: int | None = None) -> list[digests.Wanted]:
    """Those of set-up's kernel: the first of each experiment, the second of each, and so on."""
    turns: dict[str, int] = {}
    found = []
    for trial in digests.wanted(folder):
        if trial.experiment != OTHER_KERNEL:
            turns[trial.experiment] = turns.get(trial.experiment, 0) + 1
            found.append((turns[trial.experiment], trial))
    return [trial for _, trial in sorted(found, key=lambda x: x[0])][:number]


def main(number: int | None = None) -> None:
    """Run the trials, one after the other."""
    for name, digest in products(paths.places()):
        print(name, digest, sep="\t", flush=True)
    folder = studies.folder("ubr_1996").parent
    with tempfile.TemporaryDirectory(prefix="cellbed-digests.") as out:
        for line in digests.run(folder, trials(folder, number), Path(out), 1):
            print(line.trial, line.digest, sep="\t", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
