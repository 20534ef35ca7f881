# SPDX-License-Identifier: GPL-2.0-only
"""What README says of the pooled error: do the cells of an analysis of variance scatter alike?

The analyses over the seeds take one error for all cells of a network, with the seed as a block.
They are computed again from the kept lines of the trials, with Brown and Forsythe's test.
"""

from collections.abc import Iterator

from analysis.anova import UNLIKE, Anova, analyse
from analysis.claims import claims_of
from analysis.claims.evidence import SEED
from analysis.claims.reading import WIDER
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.table import Table
from studies.ubrplus_1998 import verdicts
from studies.ubrplus_1998.cells import RESPONSES
from studies.ubrplus_1998.checks import CHECKS
from studies.ubrplus_1998.source_tables import MINIMA, TEXT
from studies.ubrplus_1998.study import CELL, STUDY

POOLED = ("separated", "overlap", "ordered", "extreme", "effects_within")
"""The checks whose verdict is by the intervals of effects."""


def pooling(kept: Kept) -> Numbers:
    """How many analyses fail the test, and what differences without a pooled error say."""
    found = list(analyses(kept))
    pooled = {
        claim.id
        for claim in claims_of(STUDY, CHECKS)
        if claim.check in POOLED and not claim.id.endswith(WIDER)
    }
    numbers: dict[str, float | int] = {
        "anovas": len(found),
        "unlike": sum(one.spread is not None and one.spread.unlike for one in found),
        "blocks": sum(one.block is not None for one in found),
        "level": UNLIKE,
        "pooled": len(pooled),
    }
    seeds, directions = verdicts.by_intervals(kept), verdicts.by_kind(kept, "direction")
    for name, minimum in verdicts.TEXTS.items():
        short, holds = verdicts.SHORT[minimum], verdicts.VERDICTS[0]
        sided = [c for c in pooled if c in directions[name] and seeds[name][c] == holds]
        numbers |= {
            f"sided_{short}": len(sided),
            f"paired_{short}": sum(directions[name][claim] == holds for claim in sided),
        }
    return numbers


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
