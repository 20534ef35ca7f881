# SPDX-License-Identifier: GPL-2.0-only
"""What README says of the pooled error: do the cells of an analysis of variance scatter alike?

The analyses over the seeds take one error for all cells of a network, with the seed as a block.
They are computed again from the kept lines of the trials, with Brown and Forsythe's test.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from statistics import fmean

from analysis.anova import UNLIKE, Anova, analyse
from analysis.claims import Claim, claims_of
from analysis.claims.evidence import SEED
from analysis.claims.findings import ALPHA
from analysis.claims.reading import WIDER
from analysis.contrasts import BySeed, contrast
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.table import Table
from studies.ubrplus_1998 import verdicts
from studies.ubrplus_1998.cells import RESPONSES, cells_of
from studies.ubrplus_1998.checks import CHECKS
from studies.ubrplus_1998.source_tables import MINIMA, TEXT
from studies.ubrplus_1998.study import CELL, STUDY

POOLED = ("separated", "overlap", "ordered", "extreme", "effects_within")
"""The checks whose verdict is by the intervals of effects."""


def pooling(kept: Kept) -> Numbers:
    """How many analyses fail the test, and what differences without a pooled error say."""
    found = list(analyses(kept))
    pooled = {
        claim.id: claim
        for claim in claims_of(STUDY, CHECKS)
        if claim.check in POOLED and not claim.id.endswith(WIDER)
    }
    seeds, directions = verdicts.by_intervals(kept), verdicts.by_kind(kept, "direction")
    [sided] = {frozenset(pooled.keys() & directions[name]) for name in verdicts.TEXTS}
    unsided = [claim for name, claim in pooled.items() if name not in sided]
    numbers: dict[str, float | int] = {
        "anovas": len(found),
        "unlike": sum(one.spread is not None and one.spread.unlike for one in found),
        "blocks": sum(one.block is not None for one in found),
        "level": UNLIKE,
        "pooled": len(pooled),
        "sided": len(sided),
        "unsided": len(unsided),
    }
    for name, minimum in verdicts.TEXTS.items():
        short = verdicts.SHORT[minimum]
        numbers[f"same_{short}"] = sum(seeds[name][c] == directions[name][c] for c in sided)
        against = {claim.id: contradicted(claim, kept, minimum) for claim in unsided}
        for kind, verdict in (("hold", verdicts.VERDICTS[0]), ("fail", verdicts.VERDICTS[1])):
            some = [against[claim.id] for claim in unsided if seeds[name][claim.id] == verdict]
            numbers |= {f"{kind}_{short}": len(some), f"{kind}_paired_{short}": sum(some)}
    return {**numbers, **ratios(kept)}


def ratios(kept: Kept) -> Numbers:
    """The largest variance of a cell's seeds over the smallest one, of each analysis."""
    found: dict[str, float] = {}
    for minimum, network, response in product(MINIMA, CELL["network"], RESPONSES):
        cells = cells_of(kept, TEXT, minimum=minimum, network=network)
        halves = [float(row[f"{response}_half_width"]) for row in cells]  # all of as many seeds
        found[f"{network}, {response}, {minimum}"] = (max(halves) / min(halves)) ** 2
    place = max(found, key=lambda name: found[name])
    others = [ratio for name, ratio in found.items() if name != place]
    return {
        "ratio_least": min(others),
        "ratio_next": max(others),
        "ratio_most": found[place],
        "ratio_place": place,
    }


def contradicted(claim: Claim, kept: Kept, minimum: str) -> bool:
    """Whether differences paired by seed say that levels differ that the claim calls alike.

    effects_within asks how many effects enclose 0, so more effects must surely differ from 0 than
    the claim allows.
    """
    asked, allowed = claim.parameters, 0
    by_level = _by_level(kept, minimum, asked["where"], asked["response"])
    if claim.check == "overlap":
        levels = [by_level[asked["factor"], level] for level in asked["levels"]]
        pairs = list(combinations(levels, 2))
    else:
        pairs = [(level, by_level[WHOLE]) for place, level in by_level.items() if place != WHOLE]
        allowed = len(pairs) - asked["enclosing"]
    tests = [contrast([(1, first), (-1, second)]).p_against(0) for first, second in pairs]
    return sum(p <= ALPHA for p in holm([1.0 if p is None else p for p in tests])) > allowed


WHOLE = ("", "")
"""The place of the means over all cells."""


def _by_level(
    kept: Kept, minimum: str, where: Mapping[str, Sequence[str]], response: str
) -> Mapping[tuple[str, str], BySeed]:
    """Factor and level -> seed -> the mean over the cells that have it."""
    values: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in kept.table(TEXT, "trials").rows:
        if row["minimum"] == minimum and all(row[name] in of for name, of in where.items()):
            for place in (WHOLE, *((factor, row[factor]) for factor in STUDY.anova)):
                of_seed = values.setdefault(place, {})
                of_seed.setdefault(int(row[SEED]), []).append(float(row[response]))
    return {place: {seed: fmean(some) for seed, some in of.items()} for place, of in values.items()}


def analyses(kept: Kept) -> Iterator[Anova]:
    """Of each minimum, network and response, the analysis over the seeds of all its trials."""
    trials = kept.table(TEXT, "trials").rows
    for minimum in MINIMA:
        for network in CELL["network"]:
            for response in RESPONSES:
                columns = (*STUDY.anova, SEED, response)
                rows = tuple(
                    {name: row[name] for name in columns}
                    for row in trials
                    if (row["minimum"], row["network"]) == (minimum, network)
                )
                table = Table(source=f"{minimum}, {network}", columns=columns, rows=rows)
                yield analyse(table, response, STUDY.anova, block=SEED)
