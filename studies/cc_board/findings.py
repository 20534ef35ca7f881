# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentences (sentences.toml), from the kept results."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from analysis import kept_trials
from analysis.claims import Verdict
from analysis.kept import Kept
from analysis.metrics import capacity_bit_per_s
from analysis.report.sentences import Number, Numbers
from analysis.statistics import mean
from plan.atm import CELL_BITS, segment_cells
from studies.cc_board import board
from studies.cc_board.study import ALIKE, STUDY

MAIN = board.CAMPAIGNS[0]
SHORT = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails", Verdict.UNDECIDED: "open"}
MSS_BYTES, SEGMENT_BYTES = 1460, 1448
"""Of a packet of the cases: its payload without timestamps, and with them."""
RATE_BIT_PER_S, ROUND_TRIP_S, LOST = 20_000_000, 0.040, 0.01
FLOWS, CROWDED_BIT_PER_S, CROWDED_PACKETS, TIMEOUT_S = 59, 1_250_000, 4, 0.2
"""The case "many flows": its flows, link and buffer, and Linux's shortest timeout."""
SIGN = {Verdict.HOLDS: 1, Verdict.FAILS: -1}
"""A verdict as a number, for the conditions of sentences; 0 where it is undecided."""


def board_numbers(kept: Kept) -> Numbers:
    """Each figure and its verdict by the criterion's id and the sender, and the counts."""
    rows = board.kept_places(kept)
    manifests = [kept.manifest(name) for name in board.CAMPAIGNS]
    found: dict[str, Number] = {
        "trials": sum(one["trials"] for one in manifests),
        "seeds": len(manifests[0]["seeds"]),
        "criteria": len(rows),
        "minus": -1,
        "cases": len(STUDY.cell["case"]),
    }
    for row in rows:
        for place in row:
            if place.figure is not None:
                name = word_of(f"{place.claim.id}-{place.flavor}")
                found[name] = place.figure.mean
                found[f"{name}_half"] = place.figure.half_width
                found[f"{name}_kept"] = SIGN.get(place.finding.verdict, 0)
    for flavor, counted in board.counts(rows).items():
        for verdict, word in SHORT.items():
            found[f"{word_of(flavor)}_{word}"] = counted[verdict]
    tests, left_open = board.not_adjusted(rows)
    found |= {"tests": tests, "tests_open": len(left_open)} | versions(kept, rows)
    found |= column(kept, rows, "quic", board.QUIC, "QUIC CUBIC")
    found |= column(kept, rows, "aioquic", board.AIOQUIC, "aioquic CUBIC")
    found |= column(kept, rows, "prague", board.PRAGUE, "Prague")
    found |= cost(kept) | alike(kept, rows) | reordering(kept) | far(kept) | two_trips(kept)
    return found | square_root() | {"no_backoff": no_backoff_percent()}


def word_of(text: str) -> str:
    """A name that a sentence can have in braces."""
    return re.sub("[- ]", "_", text).lower()


def column(
    kept: Kept, rows: Sequence[Sequence[board.Place]], name: str, campaign: str, flavor: str
) -> dict[str, Number]:
    """Of a column with a campaign of its own: the trials, what they took, and the criteria."""
    manifest = kept.manifest(campaign)
    measured = [place for row in rows for place in row if place.flavor == flavor]
    return {
        f"{name}_trials": manifest["trials"],
        f"{name}_seeds": len(manifest["seeds"]),
        f"{name}_cases": len({board.case(one.claim) for one in measured if one.figure is not None}),
        f"{name}_criteria": sum(one.figure is not None for one in measured),
        f"{name}_wall_min": manifest["wall_s"] / 60,
    }


def alike(kept: Kept, rows: Sequence[Sequence[board.Place]]) -> dict[str, Number]:
    """The verdicts if seeds with almost the same start are one observation (board.merged)."""
    cells, flavors = board.kept_cells(kept), STUDY.cell["flavor"]
    after = board.places(board.merged(cells), flavors)
    _, left_open = board.not_adjusted(after)
    found: dict[str, Number] = {"alike_cases": len(ALIKE), "alike_tests_open": len(left_open)}
    for name, places in {"undecided": rows, "alike_undecided": after}.items():
        verdicts = sum(board.counts(places).values(), Counter[Verdict]())
        found[name] = verdicts[Verdict.UNDECIDED]
    flips = [
        (old, new)
        for old, new in zip(chain(*rows), chain(*after), strict=True)
        if old.figure is not None and old.finding.verdict is not new.finding.verdict
    ]
    for old, new in flips:
        name = word_of(f"{old.claim.id}-{old.flavor}")
        found[f"{name}_alike"] = SIGN.get(new.finding.verdict, 0)
        each = board.by_seed(cells, old.claim, old.flavor)
        whole = all(value % 1 == 0 for value in each.values())
        form = "g" if whole else board.response(old.claim).form
        *most, last = (format(each[seed], form) for seed in sorted(each))
        found[f"{name}_seeds"] = f"{', '.join(most)} and {last}"
    return found | {"alike_flips": len(flips)}


def reordering(kept: Kept) -> dict[str, Number]:
    """What the queue dropped of each sender in "reordering", the mean over the seeds [%]."""
    cells = [one for one in board.kept_cells(kept) if one.levels["case"] == "reordering"]
    return {
        word_of(f"reordering-lost-{one.levels['flavor']}"): 100
        * mean([*one.metrics["dropped_share"].values()])
        for one in cells
    }


def far(kept: Kept) -> dict[str, Number]:
    """Of "high delay": the largest difference of Reno and CUBIC in a seed, and shares of seed 1."""
    reno, cubic, quic = (
        kept_trials.by_seed(kept.folder / name, "efficiency", case="high delay", flavor=flavor)
        for name, flavor in ((MAIN, "Reno"), (MAIN, "CUBIC"), (board.QUIC, "QUIC CUBIC"))
    )
    gap = max(abs(reno[seed] - cubic[seed]) for seed in reno)
    return {"far_gap": gap, "far_cubic": cubic[1], "far_quic": quic[1]}


def two_trips(kept: Kept) -> dict[str, Number]:
    """The ratios of "two round trips" of ngtcp2's CUBIC, in words: one for each seed."""
    found = kept_trials.by_seed(
        kept.folder / board.QUIC, "long_over_short", case="two round trips", flavor="QUIC CUBIC"
    )
    *most, last = (f"{found[seed]:.2f}" for seed in sorted(found))
    return {"trips_seeds": max(found), "trips_ratios": f"{', '.join(most)} and {last}"}


def versions(kept: Kept, rows: Sequence[Sequence[board.Place]]) -> dict[str, Number]:
    """In how many criteria the two versions of BBR have other verdicts, and other figures."""
    pairs = [{place.flavor: place.finding.verdict for place in row} for row in rows]
    other = [one["BBRv3"] for one in pairs if one["BBRv3"] is not one["BBR"]]
    figures = board.changes(kept, "BBR", "BBRv3")
    return {
        "verdicts_differ": len(other),
        "verdicts_better": other.count(Verdict.HOLDS),
        "figures_differ": sum(one.differs for one in figures),
        "bbr3_trials": kept.manifest("cc-board-bbr3")["trials"],
    }


def cost(kept: Kept) -> dict[str, Number]:
    """What the trials took: the hours of a lab, and the minutes of a lab for each seed."""
    manifests = [kept.manifest(name) for name in board.CAMPAIGNS]
    wall_s = sum(one["wall_s"] for one in manifests)
    return {
        "virtual_h": sum(one["virtual_s"] for one in manifests) / 3600,
        "wall_min": wall_s / 60,
        "seed_min": wall_s / 60 / len(manifests[0]["seeds"]),
    }


def square_root() -> dict[str, Number]:
    """What Reno can use of the link with one random loss in 100 packets, and a tenth more and less.

    The mean window is sqrt(3 / (2 p)) segments, if each segment has its own acknowledgement.
    Source: M. Mathis, J. Semke, J. Mahdavi, T. Ott, The Macroscopic Behavior of the TCP Congestion
    Avoidance Algorithm, Computer Communication Review 27(3), 1997, section 2.
    """
    capacity = capacity_bit_per_s(MSS_BYTES, RATE_BIT_PER_S)
    rate = 8 * SEGMENT_BYTES * math.sqrt(1.5 / LOST) / ROUND_TRIP_S
    share = rate / capacity
    return {"predicted": share, "predicted_low": 0.9 * share, "predicted_high": 1.1 * share}


def no_backoff_percent() -> float:
    """What the queue of "many flows" would drop of flows that never double their timer [%].

    Each of 59 flows has one packet in flight. A packet that arrives takes a round trip with a full
    queue, and a lost packet is sent again after 0.2 s, Linux's shortest timeout. With the rate r
    of the link [packets/s], 59 (1 - p) = r ((1 - p) trip + p 0.2) gives p.
    """
    rate = CROWDED_BIT_PER_S / (segment_cells(MSS_BYTES) * CELL_BITS)
    trip_s = ROUND_TRIP_S + CROWDED_PACKETS / rate
    return 100 * (FLOWS - rate * trip_s) / (FLOWS + rate * (TIMEOUT_S - trip_s))
