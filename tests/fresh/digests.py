# SPDX-License-Identifier: GPL-2.0-only
"""The table of docs/install.md with the digests of products and trials over the tests' machines.

    PYTHONPATH=. python -P -m tests.fresh.digests [--release FILE] [--trials N] [MACHINE ...]

in the project's environment, as root. The machines are those of MACHINES; all, if none is named.
Each runs the trials of studies/digests.toml (digests_there.py), one after the other; N of them, if
--trials is given. A fresh Debian that is not set up is set up first and kept, as
tests/fresh/test_debian.py keeps it. FILE is of `./cellbed release`, for the machines that compile
nothing.

Each machine must give the same, and of the trials what studies/digests.csv has; else this program
says so, and the page keeps its table. Rows of other machines stay if they have the same digests.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.api import digests as kept_digests
from harness.judge import studies
from tests.chosen import chosen
from tests.fresh import test_ubuntu, trees
from tests.fresh.digests_there import PRODUCTS, trials
from tests.fresh.test_debian import CLONE, DEFAULT, administrator_allows
from tests.fresh.test_stranger import HOME, stranger
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "install.md"
TABLE = re.compile(r"(?<=<!-- tests\.fresh\.digests -->\n).*?(?=<!-- end -->)", re.DOTALL)
PYTHON = "$(lab/paths --environment | sed -n s/^environment=//p)/bin/python"
LIMIT_S = 7200
DIGITS = 12
Done = subprocess.CompletedProcess[str]
Asked = Callable[["Given"], Done]
Found = dict[str, str]  # what it is of: the digest


@dataclass(frozen=True)
class Given:
    """What a machine is given: a release, and how many trials to run (all)."""

    release: Path | None = None
    trials: int | None = None

    @property
    def there(self) -> str:
        """The command that is run on the machine, in a copy of the project."""
        number = "" if self.trials is None else self.trials
        return f'PYTHONPATH=. "{PYTHON}" -P -m tests.fresh.digests_there {number}'


def here(given: Given) -> Done:
    """This machine."""
    argv = ["bash", "-c", given.there]
    return subprocess.run(
        argv, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )


def fresh(name: str) -> Asked:
    """A minimal Debian, set up from source."""

    def run(given: Given) -> Done:
        user = DEFAULT[name]
        with trees.kept(name) as tree:
            if user != "root":
                administrator_allows(tree)
            done = tree(user, f"({CLONE}) && cd ~/cellbed && make setup && {given.there}")
            if done.returncode == 0:
                tree.note_set_up()
            return done

    return run


def ubuntu(given: Given) -> Done:
    """This machine's files, where nobody has rights in a namespace of an ordinary user."""
    with tempfile.TemporaryDirectory() as folder:
        library = test_ubuntu.filled(Path(folder))
        return test_ubuntu.run(library, "bash", "-c", given.there, cwd=PROJECT, limit_s=LIMIT_S)


@contextmanager
def strange(release: Path, tools: Sequence[str]) -> Iterator[Path]:
    """The tree of a Linux that is no Debian, with a release in the user's home."""
    folder = trees.place() / f"stranger-{os.getpid()}"
    try:
        done = stranger("make", folder, *tools)
        if done.returncode:
            sys.exit(done.stderr)
        shutil.copy(release, folder / HOME / "release.tar")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def no_debian(*tools: str) -> Asked:
    """A Linux without dpkg, apt and compiler, of a release."""

    def run(given: Given) -> Done:
        if given.release is None:
            sys.exit("this machine needs a file of ./cellbed release; name it with --release")
        with strange(given.release, tools) as folder:
            return stranger("run", folder, f"./cellbed setup --from ~/release.tar && {given.there}")

    return run


MACHINES: Mapping[str, tuple[str, Asked]] = {
    "here": ("Debian 12, the developers' machine, root", here),
    "bookworm": ("Debian 12, a minimal tree, root", fresh("bookworm")),
    "trixie": ("Debian 13, a minimal tree, a user", fresh("trixie")),
    "ubuntu": ("Ubuntu 24.04 imitated: no rights in user namespaces", ubuntu),
    "fedora": ("Fedora imitated: no dpkg, apt or compiler; of a release, a user", no_debian()),
}


def digests_of(machine: str, given: Given) -> Found:
    """What one machine gives; a failure, or a digest that is missing, ends this program."""
    try:
        done = MACHINES[machine][1](given)
    except subprocess.TimeoutExpired as error:
        sys.exit(
            f"{machine}: no end within {error.timeout:.0f} s; try again when this computer does"
            " less, or with fewer trials (--trials)"
        )
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    if done.returncode or not all(len(line) == 2 and line[1] for line in lines) or not lines:
        sys.exit(f"{machine}: status {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    found = dict(lines)
    wanted = [*PRODUCTS, *list(known())[: given.trials]]
    if missing := [name for name in wanted if name not in found]:
        sys.exit(
            f"{machine}: {len(missing)} of {len(wanted)} digests are missing, first that of"
            f" {missing[0]}\n{(done.stdout + done.stderr)[-4000:]}"
        )
    return found


def cells(found: Found) -> list[str]:
    """The first digits of each product's checksum, and the number of the trials."""
    return [*(found[name][:DIGITS] for name in PRODUCTS), str(len(found) - len(PRODUCTS))]


def known() -> Found:
    """The kept digest of each trial."""
    folder = studies.folder("ubr_1996").parent
    kept = {line.trial: line.digest for line in kept_digests.kept(folder)}
    return {trial.name: kept.get(trial.name, "") for trial in trials(folder)}


def table(found: Mapping[str, Found], before: str) -> str:
    """The new rows; and the rows of other machines, if they have the same products."""
    new = {MACHINES[machine][0]: cells(of) for machine, of in found.items()}
    same = next(iter(new.values()))[:-1]
    rows = [[x.strip() for x in line.strip("|").split("|")] for line in before.splitlines()]
    old = {row[0]: row[1:] for row in rows if row[1:-1] == same}
    heads = ["machine", *PRODUCTS, "trials with the kept digests"]
    lines = [heads, ["---"] * len(heads)]
    lines += [[x, *{**old, **new}[x]] for x, _ in MACHINES.values() if x in {**old, **new}]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def differing(found: Mapping[str, Found]) -> str:
    """Why the page keeps its table; empty if the machines agree."""
    first, trials_of = next(iter(found.values())), known()
    for of in found.values():
        if any(of.get(name) != first.get(name) for name in PRODUCTS):
            return "the machines do not give the same products"
        if any(of[name] != trials_of.get(name) for name in of if name not in PRODUCTS):
            return "the digests are not those of studies/digests.csv"
    return ""


def main(words: Sequence[str]) -> None:
    """Ask the machines, and write the table if they agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.fresh.digests")
    parser.add_argument("--release", type=Path, metavar="FILE")
    parser.add_argument("--trials", type=int, metavar="N")
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=", ".join(MACHINES))
    options = parser.parse_args(words)
    if options.trials is not None and options.trials < 1:
        parser.error(f"--trials {options.trials}: it must be at least 1; without it, all run")
    found: dict[str, Found] = {}
    for machine in chosen(parser, options.machines, MACHINES, "machine"):
        found[machine] = digests_of(machine, Given(options.release, options.trials))
        print(machine, *cells(found[machine]), flush=True)
    if differing(found):
        sys.exit(f"The page keeps its table: {differing(found)}.")
    text = TABLE.sub(lambda old: table(found, old[0]), PAGE.read_text("utf-8"), count=1)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
