# SPDX-License-Identifier: GPL-2.0-only
"""The figures that each verdict rests on, from the evidence of the kept claims.csv."""

import re

from analysis.kept import Kept
from analysis.report.model import MISSING, Sheet, Value, plain, signed
from studies.web_2003.readings import KINDS, readings

BREAK = "<br>"
OWN = " as in ns-2"
NUMBER = r"[+-][\d.]+"
CHANGE = re.compile(
    rf"(?:^|, |: )(?P<name>[^,:()]+) (?P<mean>{NUMBER}) % \((?P<low>{NUMBER}) % to "
    rf"(?P<high>{NUMBER}) %\)"
)
CELL = re.compile(
    rf"(?:, |: )(?P<load>\d+) SACK (?P<queue>[^,:()]+) (?P<mean>{NUMBER}) ± (?P<half>[\d.]+)"
)
RANGE = re.compile(r"^\w+ (?P<low>[\d.]+)(?: to (?P<high>[\d.]+) in (?P<cells>\d+) cells)?")
INFINITE = re.compile(r"infinite in a trial: (?P<names>[\w, ]+)")
MADE = "paired by seed"
SOME_SEEDS = re.compile(rf"{MADE} \((\d+ of \d+)\)")


def sheet(kept: Kept) -> Sheet:
    """Each reading in full, and a line for each of its figures, with either Adaptive RED."""
    rows: list[list[Value]] = [
        [one.number, one.both[0]["reading"], *(lines(row["evidence_seeds"]) for row in one.both)]
        for one in readings(kept)
    ]
    return plain(rows, "no.", "reading", *(f"with {kind} ARED" for kind in KINDS))


def lines(evidence: str) -> str:
    """The figures of a claim's evidence, a line each."""
    found = [
        f"{_name(one['name'])}: {signed(one['mean'])} % ({signed(one['low'])} to "
        f"{signed(one['high'])} %)"
        for one in CHANGE.finditer(evidence)
    ] or _shares(evidence)
    if infinite := INFINITE.search(evidence):
        found += [f"{_name(name)}: infinite in a trial" for name in infinite["names"].split(", ")]
    if some := SOME_SEEDS.search(evidence):
        found.append(f"({some[1]} seeds)")
    return BREAK.join(found) or MISSING


def _shares(evidence: str) -> list[str]:
    """Means of cells: all as a range, then each that breaks the limit or can break it."""
    whole = RANGE.match(evidence)
    if whole is None:
        return []
    low, high = (float(whole[end] or whole["low"]) for end in ("low", "high"))
    found = [f"all {whole['cells'] or 1}: {100 * low:.1f} to {100 * high:.1f} %"]
    return found + [
        f"{one['load']} % {_name(one['queue'])}: {100 * float(one['mean']):.1f} ± "
        f"{100 * float(one['half']):.1f} %"
        for one in CELL.finditer(evidence)
    ]


def _name(name: str) -> str:
    """A figure's name; a column says which Adaptive RED is meant."""
    name = name.strip().replace(OWN, "")
    if percentile := re.fullmatch(r"p(\d+)_ms", name):
        return f"{percentile[1]}th percentile"
    return "median" if name == "median_ms" else name
