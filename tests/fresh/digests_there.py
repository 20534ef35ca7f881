# SPDX-License-Identifier: GPL-2.0-only
"""Prints what a machine gives: the kernel's checksum, and the digests of trials of several studies.

    PYTHONPATH=. python -P -m tests.fresh.digests_there

in the project's environment on that machine. tests.fresh.digests reads the lines, NAME<TAB>DIGEST.
The trials are the first of each of the first experiments in studies/digests.toml.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.api import digests
from harness.api.digests import Wanted
from harness.host import paths
from harness.judge import studies
from tests.fresh import rooms

TRIALS = 5
KERNEL = "kernel"


def some(trials: Sequence[Wanted]) -> list[Wanted]:
    """Trials of several experiments."""
    first: dict[str, Wanted] = {}
    for trial in trials:
        first.setdefault(trial.experiment, trial)
    return list(first.values())[:TRIALS]


def main() -> None:
    """Run the trials, one after the other."""
    folder = studies.folder("ubr_1996").parent
    found = rooms.digests(paths.places()["cache"])
    print(KERNEL, found[0] if found else "", sep="\t", flush=True)
    with tempfile.TemporaryDirectory(prefix="cellbed-digests.") as out:
        for line in digests.run(folder, some(digests.wanted(folder)), Path(out), 1):
            print(line.trial, line.digest, sep="\t", flush=True)


if __name__ == "__main__":
    main()
