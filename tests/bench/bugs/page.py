# SPDX-License-Identifier: GPL-2.0-only
"""Prints results of tests/bench/bugs/run as the tables of docs/historical-bugs.md.

Usage: tests/bench/bugs/page RESULTS
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.bugs.patches import Bug, all_bugs
from tests.bench.bugs.run import BASE

Results = Mapping[tuple[str, str], Mapping[str, Any]]
MOST = 2  # scripts that a row names
COMMENT = "comment-"  # begins the names of the patches that change no instruction
SEEN = ("verdict", "output", "duration", "packets")  # of a run, in the order of the results
SAME = "every segment the same"  # of what ./cellbed compare says
KINDS = {
    "6.12/": "a script of the tree of 6.12",
    "7.3/": "a script of the tree of 7.3.4",
    "own/": "a script of ours",
    "compare": "`compare`",
}


def main(place: Path) -> None:
    """Print the counts, then a row for each bug."""
    lines = map(json.loads, place.read_text().splitlines())
    found = {(line["name"], line["way"]): line for line in lines}
    for text in page(all_bugs(), found):
        print(text)


def page(bugs: Sequence[Bug], found: Results) -> Iterator[str]:
    """The lines of all tables.

    Args:
        found: the results by name and way.
    """
    ran = [one for one in bugs if any((one.name, way) in found for way in ("scripts", "compare"))]
    shown = {one.name: ways(one, found) for one in ran}
    rest = len(bugs) - len(ran)
    compared = any((one.name, "compare") in found for one in ran)
    total = [*counts(shown, compared), *([["not run yet", rest]] if rest else [])]
    yield from table(["shown by", "bugs"], total, right=1)
    yield ""
    heads = ["year", "commit that fixed it", "what went wrong", "scripts", "`compare`"]
    yield from table(heads, (row(one, shown[one.name], found) for one in ran))
    if harmless := list(comments(found)):
        yield ""
        heads = ["patches that add a comment", "patches", "runs or comparisons", "differ"]
        yield from table(heads, harmless, right=3)
        yield ""
        heads = ["scripts", "kernels with a comment", "runs", *(f"other {one}" for one in SEEN)]
        yield from table(heads, again(found), right=len(heads))
    yield ""
    changed = {"a bug": [one.name for one in ran], "a comment": sorted(commented(found))}
    rows = (row for what, names in changed.items() for row in times(what, names, found))
    yield from table(
        ["patches with", "way", "kernels", "least s", "median s", "most s"], rows, right=4
    )
    if rest:
        yield ""
        yield from table(["year", "commit of a patch that did not run yet"], waiting(bugs, shown))


def ways(bug: Bug, found: Results) -> list[str]:
    """The scripts that fail with a bug and pass without it, and compare if it differs."""
    passing = found.get((BASE, "scripts"), {}).get("passed", [])
    failed = found.get((bug.name, "scripts"), {}).get("failed", {})
    scripts = [test for test in failed if test in passing]
    differs = found.get((bug.name, "compare"), {}).get("differs", False)
    return [*scripts, *(["compare"] if differs else [])]


def counts(shown: Mapping[str, Sequence[str]], compared: bool) -> Iterator[list[object]]:
    """How many bugs each way shows, and how many one that comes before it does not."""
    rest = set(shown)
    for start, kind in KINDS.items():
        if start == "compare" and not compared:
            yield [kind, "not run"]
            continue
        here = {name for name in rest if any(one.startswith(start) for one in shown[name])}
        yield [kind, len(here)]
        rest -= here
    yield ["nothing that ran", len(rest)]
    yield ["together", len(shown)]


def commented(found: Results) -> set[str]:
    """The patches that add a comment, of which something ran."""
    return {name for name, _ in found if name.startswith(COMMENT)}


def times(what: str, names: Sequence[str], found: Results) -> Iterator[list[object]]:
    """How long a patch's kernel and what ran on it took together, by the machine's clock [s].

    Then how long the kernels of compare took alone: the source of each differs from that of the
    kernel before it in the file of its own patch and in that of the other.
    """
    of = {way: [found[name, way] for name in names if (name, way) in found]
          for way in ("scripts", "compare")}  # fmt: skip
    for way, lines in of.items():
        took = [x["s"] + x.get("build_s", 0) for x in lines]
        yield from ([what, *row] for row in spread(KINDS.get(way, way), took))
    alone = [x["build_s"] for x in of["compare"]]
    yield from ([what, *row] for row in spread("the kernel of `compare` alone", alone))


def spread(what: str, took: Sequence[float]) -> Iterator[list[object]]:
    """How many, the least, the median and the most [s]; nothing for none."""
    if took:
        told = [f"{x:.0f}" for x in (min(took), statistics.median(took), max(took))]
        yield [what, len(took), *told]


def waiting(bugs: Sequence[Bug], shown: Mapping[str, object]) -> Iterator[list[object]]:
    """Those of which nothing ran."""
    yield from ([one.year, one.subject] for one in bugs if one.name not in shown)


def row(bug: Bug, shown: Sequence[str], found: Results) -> list[object]:
    """A bug."""
    ran = found.get((bug.name, "scripts"))
    scripts = [f"`{one}`" for one in shown if one != "compare"]
    more = f" and {len(scripts) - MOST} more" if len(scripts) > MOST else ""
    said = ", ".join(scripts[:MOST]) + more if scripts else none_of(ran, found)
    said = said if ran or bug.tests else "no script"
    compared = found.get((bug.name, "compare"))
    differs = "not run" if compared is None else differing(compared)
    commit = f"{bug.commit} {bug.subject}".strip()
    return [bug.year, commit, bug.bug, said, differs]


def none_of(ran: Mapping[str, Any] | None, found: Results) -> str:
    """What ran of the scripts, if none shows the bug."""
    if ran is None:
        return "not run"
    passing = found.get((BASE, "scripts"), {}).get("passed", [])
    tried = sum(test in passing for test in [*ran["passed"], *ran["failed"]])
    anyway = sum(test not in passing for test in ran["failed"])
    return f"none of {tried}" + (f" ({anyway} fails without the bug, too)" if anyway else "")


def differing(compared: Mapping[str, Any]) -> str:
    """In how many comparisons segments differ, or which files do if no segment does."""
    if not compared["differs"]:
        return "no difference"
    said = compared["said"][1]
    if said.startswith(SAME):
        return f"other {said.rpartition(' in ')[2]}"
    return f"{said.split()[0]} of {size(compared)}"


def size(result: Mapping[str, Any]) -> int:
    """How many scripts a result has, or how many comparisons."""
    if "said" in result:
        return int(result["said"][0].rpartition(", ")[2].split()[0])
    return len(result["passed"]) + len(result["failed"])


def comments(found: Results) -> Iterator[list[object]]:
    """How many patches of comments ran each way, how often in all, and how many differ there."""
    for way in ("scripts", "compare"):
        ran = [line for (name, kind), line in found.items()
               if kind == way and name.startswith(COMMENT)]  # fmt: skip
        passing = found.get((BASE, "scripts"), {}).get("passed", [])
        differ = [line for line in ran
                  if line.get("differs") or set(line.get("failed", {})) & set(passing)]  # fmt: skip
        if ran:
            yield [KINDS.get(way, way), len(ran), sum(map(size, ran)), len(differ)]


def again(found: Results) -> Iterator[list[object]]:
    """Of scripts on equally many kernels with a comment: how many differ on any two, in what."""
    runs: dict[str, list[Sequence[str]]] = {}
    for name in sorted(commented(found)):
        for test, values in found.get((name, "scripts"), {}).get("seen", {}).items():
            runs.setdefault(test, []).append(values)
    for kernels in sorted({len(one) for one in runs.values()}, reverse=True):
        same = [one for one in runs.values() if len(one) == kernels]
        columns = zip(*(zip(*one, strict=True) for one in same), strict=True)
        other = [sum(len(set(values)) > 1 for values in column) for column in columns]
        yield [len(same), kernels, len(same) * kernels, *other]


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], right: int = 0) -> Iterator[str]:
    """A table of Markdown, whose last columns are numbers."""
    marks = ["---"] * (len(heads) - right) + ["---:"] * right
    for cells in (heads, marks, *rows):
        yield f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
