# SPDX-License-Identifier: GPL-2.0-only
"""The tables of two pages: `python -m tests.reproduce` renews them from the kept results.

The pages are docs/reproduce.md and docs/older-results.md.

tests/studies/test_reproduce.py compares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis import kept_trials
from analysis.kept import Kept
from analysis.kept_trials import KeptTrial
from analysis.records import level_text
from analysis.report.markdown import table
from analysis.report.model import Sheet, Value, plain
from analysis.table import read_csv
from harness.api.verify import wanted
from harness.design import experiment
from harness.design.levels import Level
from harness.judge import studies
from studies.ubr_1996 import verdicts as ubr_1996
from studies.ubrplus_1998 import verdicts as ubrplus_1998
from studies.web_2003.abstract import AS_IN_NS_2
from studies.web_2003.readme import JUDGED
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "reproduce.md"
OLDER_PAGE = PROJECT / "docs" / "older-results.md"
OTHER_KERNEL = "2026-11-26T17:32"
"""When the lab's kernel changed (commit 11f34f1a), in UTC."""
BEFORE = PROJECT / "studies" / "verdicts-before.csv"
PLACE = re.compile(r"(<!-- table ([\w.-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
OTHER_LABS = "lab=as it is,100 ticks,1 us a packet,starts within 10 ms"
LEVELS: Mapping[str, Sequence[Sequence[str]]] = {
    "ubrplus-www-sensitivity": [
        ["network=WAN"],
        ["network=MEO", OTHER_LABS],
        ["network=GEO", OTHER_LABS],
    ],
    "web": [
        ["load=80,105"],
        ["load=50,70", "sender=SACK", "queue=drop-tail,ARED,ARED as in ns-2"],
    ],
    "web-witness": [["load=50"], ["load=80"], ["load=90"], ["load=105"]],
}
"""Campaigns of which we ran only a part, or other seeds in each part: the levels of the parts."""
VERDICTS = ("holds", "does not hold", "undecided")


def kept_of(study: str) -> Kept:
    """The kept results of a study."""
    return Kept(studies.folder(study) / "results")


def campaigns() -> Sheet:
    """Every kept campaign: the commands that run it, their trials, and how long they took."""
    parts = [part for study, campaign in kept_campaigns() for part in parts_of(study, campaign)]
    rows: list[list[Value]] = [_row(f"`{part.command}`", part.runs, part.kept) for part in parts]
    every = [line for part in parts for line in part.kept]
    rows.append(_row("all", sum(part.runs for part in parts), every))
    figures = (
        ("the command runs", ",d"),
        ("kept trials", ",d"),
        ("virtual hours", ",.2f"),
        ("hours on one core", ",.2f"),
        ("s a trial", ".1f"),
    )
    return plain(rows, "command", *figures)


def _row(command: str, runs: int, lines: Sequence[KeptTrial]) -> list[Value]:
    virtual_s = sum(line.virtual_s for line in lines)
    wall_s = sum(line.wall_s for line in lines)
    return [command, runs, len(lines), virtual_s / 3600, wall_s / 3600, wall_s / len(lines)]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a kept campaign: the trials of one command.

    Attributes:
        command: what runs them.
        runs: how many trials it runs.
        kept: those of them that are kept.
    """

    command: str
    runs: int
    kept: Sequence[KeptTrial]


def parts_of(study: str, campaign: str) -> list[Part]:
    """The parts of a campaign, each with levels and seeds that have no gap."""
    file = studies.folder(study) / f"{campaign}.toml"
    lines = lines_of(study, campaign)
    cells = [texts_of(cell) for cell in experiment.load(file).cells()]
    kernels = _kernels(study, campaign)
    found = []
    for only in LEVELS.get(campaign, [()]):
        levels = wanted(only)
        ran = [line for line in lines if fits(line.levels, levels)]
        count = sum(fits(cell, levels) for cell in cells) * max(1, len(kernels))
        for seeds in without_gaps({line.seed for line in ran}):
            found.append(
                Part(
                    command=_command(file, only, seeds, kernels),
                    runs=count * len(seeds),
                    kept=[line for line in ran if line.seed in seeds],
                )
            )
    return found


def texts_of(cell: Mapping[str, Level]) -> dict[str, str]:
    """The levels of a cell as kept trials have them."""
    return {factor: level_text(level) for factor, level in cell.items()}


def fits(levels: Mapping[str, str], these: Mapping[str, set[str]]) -> bool:
    """Has a trial one of the levels of each factor?"""
    return all(levels[factor] in some for factor, some in these.items())


def without_gaps(seeds: Collection[int]) -> list[range]:
    """The seeds as ranges without gaps."""
    firsts = sorted(seed for seed in seeds if seed - 1 not in seeds)
    lasts = sorted(seed for seed in seeds if seed + 1 not in seeds)
    return [range(first, last + 1) for first, last in zip(firsts, lasts, strict=True)]


def _command(file: Path, only: Sequence[str], seeds: range, kernels: Sequence[str]) -> str:
    """What runs it, with the kernels that its file does not name itself."""
    quoted = [f'"{one}"' if " " in one else one for one in only]
    words = ["./cellbed run", str(file.relative_to(PROJECT)), *(f"--only {one}" for one in quoted)]
    if seeds.start > 1:
        words.append(f"--first-seed {seeds.start}")
    words.append(f"--seeds {len(seeds)}")
    if kernels:
        words.append(f"--kernel {','.join(kernels)}")
    if ",patch=" in file.read_text(encoding="utf-8"):
        words.append("--trust-kernels")
    return " ".join(words)


def _kernels(study: str, campaign: str) -> Sequence[str]:
    """The kept kernels of a campaign whose file does not name them."""
    text = (studies.folder(study) / f"{campaign}.toml").read_text(encoding="utf-8")
    table = kept_of(study).cells(campaign)
    named = "kernel" not in table.columns or "lab.kernel" in text
    return [] if named else table.levels("kernel")


def kept_campaigns() -> Iterator[tuple[str, str]]:
    """The studies and their kept campaigns."""
    for study in studies.known():
        for folder in sorted(kept_of(study).folder.iterdir()):
            yield study, folder.name


def older() -> Sheet:
    """The campaigns with trials on the lab's earlier kernel, and the days of these trials."""
    rows: list[list[Value]] = []
    for study, campaign in kept_campaigns():
        lines = lines_of(study, campaign)
        days = sorted(line.ended[:10] for line in lines if line.ended < OTHER_KERNEL)
        if days:
            rows.append([study, campaign, len(lines), len(days), days[0], days[-1]])
    figures = (("kept trials", ",d"), ("on the earlier kernel", ",d"))
    return plain(rows, "study", "campaign", *figures, "their first day", "their last day")


def lines_of(study: str, campaign: str) -> list[KeptTrial]:
    """The kept trials of a campaign."""
    return kept_trials.read(kept_of(study).folder / campaign / kept_trials.FILE)


def verdicts() -> Sheet:
    """The number of claims under each verdict, before the claims were read again and now."""
    before = {
        (row["study"], row["reading"]): [int(row[name]) for name in ("readings", *VERDICTS)]
        for row in read_csv(BEFORE).rows
    }
    rows: list[list[Value]] = [
        [study, reading, *before.get((study, reading), [None] * 4), len(found), *_counts(found)]
        for (study, reading), found in _now().items()
    ]
    heads = [f"{when}: {name}" for when in ("before", "now") for name in ("readings", *VERDICTS)]
    return plain(rows, "study", "reading", *((head, "d") for head in heads))


def _now() -> Mapping[tuple[str, str], Sequence[str]]:
    found: dict[tuple[str, str], Sequence[str]] = {}
    for study, first_bounds in (
        ("ubr_1996", ubr_1996.first_bounds),
        ("ubrplus_1998", ubrplus_1998.first_bounds),
    ):
        for reading, some in first_bounds(kept_of(study)).items():
            found[study, reading] = some
    web = {row["id"]: row["verdict_seeds"] for row in kept_of("web_2003").claims(JUDGED).rows}
    for reading, theirs in (("Linux's Adaptive RED", False), ("ns-2's Adaptive RED", True)):
        found["web_2003", reading] = [
            verdict for name, verdict in web.items() if name.endswith(AS_IN_NS_2) is theirs
        ]
    return found


def _counts(found: Sequence[str]) -> list[int]:
    """Of each verdict; one seed that gives no verdict is undecided."""
    counted = Counter(verdict if verdict in VERDICTS else VERDICTS[-1] for verdict in found)
    return [counted[verdict] for verdict in VERDICTS]


TABLES: Mapping[str, Callable[[], Sheet]] = {
    "campaigns": campaigns,
    "verdicts": verdicts,
    "older": older,
}


def renewed(text: str) -> str:
    """The page with its tables as the kept results now have them."""

    def filled(match: re.Match[str]) -> str:
        lines = "\n".join(table(TABLES[match[2]]()))
        return f"{match[1]}{lines}\n{match[4]}"

    return PLACE.sub(filled, text)


if __name__ == "__main__":
    for page in (PAGE, OLDER_PAGE):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
