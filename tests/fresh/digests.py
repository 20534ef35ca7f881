# SPDX-License-Identifier: GPL-2.0-only
"""The table of docs/install.md with the digests of kernel and trials over the tests' machines.

    PYTHONPATH=. python -P -m tests.fresh.digests [--release FILE] [MACHINE ...]

in the project's environment, as root. The machines are those of MACHINES; all, if none is named.
Each runs the same trials (digests_there.py). The fresh Debians must be set up, which
tests/fresh/test_debian.py does, and keeps them. FILE is of `./cellbed release`, for the machine
without dpkg. The table is written if all machines give the same; else this program says so.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.chosen import chosen
from tests.fresh import test_ubuntu, trees
from tests.fresh.test_debian import CLONE, DEFAULT
from tests.fresh.test_stranger import HOME, stranger
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "install.md"
TABLE = re.compile(r"(?<=<!-- tests\.fresh\.digests -->\n).*?(?=<!-- end -->)", re.DOTALL)
PYTHON = "$(lab/paths --environment | sed -n s/^environment=//p)/bin/python"
THERE = f'PYTHONPATH=. "{PYTHON}" -P -m tests.fresh.digests_there'
LIMIT_S = 3600
Done = subprocess.CompletedProcess[str]
Found = dict[str, str]  # what it is of: the digest


def here(release: Path | None) -> Done:
    """This machine."""
    argv = ["bash", "-c", THERE]
    return subprocess.run(
        argv, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )


def fresh(name: str) -> Callable[[Path | None], Done]:
    """A minimal Debian that a test has set up."""

    def run(release: Path | None) -> Done:
        tree = trees.Fresh(name, trees.place() / f"{name}-{trees.key(PROJECT)}")
        if not tree.was_set_up():
            sys.exit(f"{tree.folder} is not set up; run tests/fresh/test_debian.py first")
        tree.renew()
        return tree(DEFAULT[name], f"({CLONE}) && cd ~/cellbed && {THERE}")

    return run


def ubuntu(release: Path | None) -> Done:
    """This machine's files, where nobody has rights in a namespace of an ordinary user."""
    with tempfile.TemporaryDirectory() as folder:
        library = test_ubuntu.filled(Path(folder))
        return test_ubuntu.run(library, "bash", "-c", f"{THERE}", cwd=PROJECT)


@contextmanager
def strange(release: Path) -> Iterator[Path]:
    """The tree of a Linux that is no Debian, with a release in the user's home."""
    folder = trees.place() / "stranger-digests"
    try:
        done = stranger("make", folder)
        if done.returncode:
            sys.exit(done.stderr)
        shutil.copy(release, folder / HOME / "release.tar")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def no_debian(release: Path | None) -> Done:
    """A Linux without dpkg, apt and compiler, of a release."""
    if release is None:
        sys.exit("the machine no-debian needs a release; name it with --release")
    with strange(release) as folder:
        return stranger("run", folder, f"./cellbed setup --from ~/release.tar && {THERE}")


MACHINES: Mapping[str, tuple[str, Callable[[Path | None], Done]]] = {
    "here": ("Debian 12, the developers' machine, root", here),
    "bookworm": ("Debian 12, a minimal tree, root", fresh("bookworm")),
    "trixie": ("Debian 13, a minimal tree, a user", fresh("trixie")),
    "ubuntu": ("Ubuntu 24.04 imitated: no rights in user namespaces", ubuntu),
    "no-debian": ("Fedora imitated: no dpkg, apt or compiler; of a release, a user", no_debian),
}


def digests_of(machine: str, release: Path | None) -> Found:
    """What one machine gives; a failure ends this program."""
    done = MACHINES[machine][1](release)
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    if done.returncode or not all(len(line) == 2 and line[1] for line in lines) or not lines:
        sys.exit(f"{machine}: status {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    return dict(lines)


def table(found: Mapping[str, Found]) -> str:
    """A row for each machine; the trials are listed below."""
    names = list(next(iter(found.values())))
    heads = [name if not number else str(number) for number, name in enumerate(names)]
    lines = [f"| machine | {' | '.join(heads)} |", "|" + " --- |" * (len(names) + 1)]
    for machine, digests in found.items():
        cells = [MACHINES[machine][0], *(digests[name][:12] for name in names)]
        lines.append(f"| {' | '.join(cells)} |")
    rows = [f"{number}. `{name}`" for number, name in enumerate(names) if number]
    return "".join(f"{line}\n" for line in [*lines, "", "The trials:", "", *rows, ""])


def main(words: Sequence[str]) -> None:
    """Ask all machines, and write the table if they agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.fresh.digests")
    parser.add_argument("--release", type=Path, metavar="FILE")
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=", ".join(MACHINES))
    options = parser.parse_args(words)
    found: dict[str, Found] = {}
    for machine in chosen(parser, options.machines, MACHINES, "machine"):
        found[machine] = digests_of(machine, options.release)
        print(machine, *found[machine].values(), flush=True)
    if len({tuple(sorted(digests.items())) for digests in found.values()}) != 1:
        sys.exit("The machines do not give the same, so the page keeps its table.")
    text = TABLE.sub(lambda _: table(found), PAGE.read_text("utf-8"), count=1)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
