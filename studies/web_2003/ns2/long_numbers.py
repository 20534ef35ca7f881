# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of the sentences about long trials in ns-2 (sentences.toml); all are of SACK."""

import math
from collections.abc import Mapping, Sequence

from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import mean
from studies.web_2003.changes import how, percent, sure, told
from studies.web_2003.ns2.long import (
    ARED,
    AS_IN_NS_2,
    ECN,
    HIGH,
    KERNEL,
    LOADS,
    NS_2,
    TAIL,
    Cell,
    Lines,
    both,
    effect,
)  # fmt: skip
from studies.web_2003.ns2.tables import PLAN
from studies.web_2003.ns2.witness import LONG, SHORT, WITNESS


def numbers(kept: Kept) -> Numbers:
    """The numbers of the sentences about long trials in ns-2; of SACK. Means are in per cent."""
    lines = {when: Lines(kept, name) for when, name in (("short", SHORT), ("long", LONG))}
    long = lines["long"]
    seeds = {load: len(long.seeds(load, "SACK")) for load in LOADS}
    signs = {name: value for when, some in lines.items()
             for name, value in _signs(some, when).items()}  # fmt: skip
    return {
        "runs": len([row for row in kept.table(LONG, WITNESS.name).rows if row["variant"] == PLAN]),
        **{f"seeds_{load}": some for load, some in seeds.items()},
        **{f"how_{load}": how(some) for load, some in seeds.items()},
        "seeds": "one seed" if seeds[HIGH] == 1 else f"{seeds[HIGH]} seeds",
        "seeds_short": len(lines["short"].seeds(HIGH, "SACK")),
        **{f"{name}_{load}": _away(long, load, queues)
           for name, queues in SAME.items() for load in LOADS},
        **signs,
        "sign_sure": sum(int(signs[f"{name}_{when}_sure"])
                         for name in ("ared", "ecn") for when in lines),
        **{f"lost_{program.replace('-', '_')}": _lost(long, program) for program in (KERNEL, NS_2)},
        **{f"tail_{name}_{HIGH}": told(change) for name in ("median", "p90")
           if (change := long.change(f"{name}_ms", *both(HIGH, "SACK", TAIL)))},
        "first_two": int(long.seeds(HIGH, "SACK") == [1, 2]),
    }  # fmt: skip


SAME: Mapping[str, Sequence[str]] = {
    "tail": (TAIL,),
    "rule": (ARED + AS_IN_NS_2, ECN + AS_IN_NS_2),
}
RED = "ARED in place of drop tail"
"""Of EFFECTS."""


def _away(lines: Lines, load: str, queues: Sequence[str]) -> float:
    """The mean distance of ns-2's median from the kernel's with these queues [%]."""
    found = [
        100 * abs(math.expm1(draw))
        for queue in queues
        for change in [lines.change("median_ms", *both(load, "SACK", queue))]
        if change is not None
        for draw in change.draws
    ]
    return mean(found)


def _signs(lines: Lines, when: str) -> Mapping[str, str | float]:
    """At 105 %: what ns-2 changes in the medians of Linux's queues, and what its RED changes."""
    known = {
        **{name: lines.change("median_ms", *both(HIGH, "SACK", queue))
           for name, queue in (("ared", ARED), ("ecn", ECN))},
        **{name: effect(lines, RED, "p25_ms", program)
           for name, program in (("p25_rule", "the kernel, ns-2's ARED"), ("p25_ns_2", NS_2))},
    }  # fmt: skip
    found: dict[str, str | float] = {}
    for name, change in known.items():
        if change is not None:
            found |= {
                f"{name}_{when}": told(change),
                f"{name}_{when}_percent": percent(change.difference),
                f"{name}_{when}_value": change.difference,
                f"{name}_{when}_sure": int(sure(change)),
            }
    return found


def _lost(lines: Lines, program: str) -> float:
    """Drop tail at 105 %: exchanges without a response [%]."""
    rows = lines.rows(Cell(program, HIGH, "SACK", TAIL))
    return mean([100 * float(row["unfinished_share"]) for row in rows])
