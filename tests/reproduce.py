# SPDX-License-Identifier: GPL-2.0-only
"""The tables of docs/reproduce.md: `python -m tests.reproduce` renews them from the kept results.

tests/studies/test_reproduce.py compares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from analysis import kept_trials
from analysis.kept import Kept
from analysis.report.markdown import table
from analysis.report.model import Sheet, Value, plain
from analysis.table import read_csv
from harness.design import experiment
from harness.judge import studies
from studies.ubr_1996 import verdicts as ubr_1996
from studies.ubrplus_1998 import verdicts as ubrplus_1998
from studies.web_2003.abstract import AS_IN_NS_2
from studies.web_2003.readme import JUDGED
from tests.small import PROJECT

PAGE = PROJECT / "docs" / "reproduce.md"
BEFORE = PROJECT / "studies" / "verdicts-before.csv"
PLACE = re.compile(r"(<!-- table ([\w.-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
VERDICTS = ("holds", "does not hold", "undecided")


def kept_of(study: str) -> Kept:
    """The kept results of a study."""
    return Kept(studies.folder(study) / "results")


def campaigns() -> Sheet:
    """Every kept campaign: its command, its trials, how long they took, whether it has lines."""
    rows: list[list[Value]] = []
    for study, campaign, known in _manifests():
        hours = [known[name] / 3600 for name in ("virtual_s", "wall_s")]
        lines = (kept_of(study).folder / campaign / kept_trials.FILE).exists()
        command = _command(study, campaign, len(known["seeds"]))
        runs = _runs(study, campaign, len(known["seeds"]))
        rows.append([command, runs, known["trials"], *hours, "yes" if lines else "no"])
    rows.append(["all", *(sum(_number(row[at]) for row in rows) for at in (1, 2, 3, 4)), None])
    figures = (
        ("the command runs", ",d"),
        ("kept trials", ",d"),
        ("virtual hours", ",.2f"),
        ("hours on one core", ",.2f"),
    )
    return plain(rows, "command", *figures, "a line a trial")


def _command(study: str, campaign: str, seeds: int) -> str:
    """What runs it, with the kernels that its file does not name itself."""
    path = studies.folder(study) / f"{campaign}.toml"
    text, kernels = path.read_text(encoding="utf-8"), _kernels(study, campaign)
    command = f"./cellbed run {path.relative_to(PROJECT)} --seeds {seeds}"
    if kernels:
        command += f" --kernel {','.join(kernels)}"
    return f"`{command}{' --trust-kernels' if ',patch=' in text else ''}`"


def _runs(study: str, campaign: str, seeds: int) -> int:
    """How many trials the command runs."""
    cells = experiment.load(studies.folder(study) / f"{campaign}.toml").cells()
    return seeds * len(list(cells)) * max(1, len(_kernels(study, campaign)))


def _kernels(study: str, campaign: str) -> Sequence[str]:
    """The kept kernels of a campaign whose file does not name them."""
    text = (studies.folder(study) / f"{campaign}.toml").read_text(encoding="utf-8")
    table = kept_of(study).cells(campaign)
    named = "kernel" not in table.columns or "lab.kernel" in text
    return [] if named else table.levels("kernel")


def _manifests() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for study in studies.known():
        kept = kept_of(study)
        for folder in sorted(kept.folder.iterdir()):
            yield study, folder.name, kept.manifest(folder.name)


def _number(value: Value) -> float:
    assert isinstance(value, int | float)
    return value


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


TABLES: Mapping[str, Callable[[], Sheet]] = {"campaigns": campaigns, "verdicts": verdicts}


def renewed(text: str) -> str:
    """The page with its tables as the kept results now have them."""

    def filled(match: re.Match[str]) -> str:
        lines = "\n".join(table(TABLES[match[2]]()))
        return f"{match[1]}{lines}\n{match[4]}"

    return PLACE.sub(filled, text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
