# SPDX-License-Identifier: GPL-2.0-only
"""BBR where TCP paces, and where fq at the sender does: README's table and numbers of fq.csv.

fq.py measures them, and fq.csv has the lines of its outputs.
"""

from collections.abc import Sequence

from analysis.contrasts import p_of
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.model import Sheet, Value, plain, signed
from analysis.report.sentences import Numbers
from analysis.statistics import Estimate, estimate
from analysis.table import Row, read_csv

FILE = "fq.csv"
TCP, FQ = "TCP", "fq"
RESPONSES = (
    ("goodput_mbit_per_s", "goodput (Mbit/s)", ".3f"),
    ("retransmits", "sent again", ",.0f"),
    ("rtt_ms", "round trip (ms)", ".2f"),
)
"""Columns of the file: name, title, form."""
SURE = 0.05


def rows(kept: Kept) -> list[Row]:
    """The lines of the file."""
    return list(read_csv(kept.folder.parent / FILE).rows)


def table(kept: Kept) -> Sheet:
    """By number of flows: the means with each pacer, and what fq changes, paired by seed."""
    found = rows(kept)
    lines: list[list[Value]] = []
    for flows in _flows(found):
        lines += [_of_pacer(found, flows, pacer) for pacer in (TCP, FQ)]
        changes = (_shown(change(found, flows, name), form) for name, _, form in RESPONSES)
        lines.append([flows, "change", None, *changes, None])
    heads = [title for _, title, _ in RESPONSES]
    return plain(lines, "flows", "paced by", ("seeds", "d"), *heads, "packets that fq held")


def _of_pacer(found: Sequence[Row], flows: str, pacer: str) -> list[Value]:
    own = [row for row in found if (row["flows"], row["pacer"]) == (flows, pacer)]
    means = (format(_mean(own, name), form) for name, _, form in RESPONSES)
    return [flows, pacer, len(own), *means, f"{_mean(own, 'held_packets'):,.0f}"]


def change(found: Sequence[Row], flows: str, name: str) -> Estimate:
    """fq less TCP itself, paired by seed."""
    both = (
        {row["seed"]: float(row[name]) for row in found if (row["flows"], row["pacer"]) == place}
        for place in ((flows, TCP), (flows, FQ))
    )
    before, after = both
    return estimate([after[seed] - before[seed] for seed in sorted(before)])


def numbers(kept: Kept) -> Numbers:
    """How many changes are sure by Holm's rule over all of them, and the largest of each kind."""
    found = rows(kept)
    changes = {
        (flows, name): change(found, flows, name)
        for flows in _flows(found)
        for name, *_ in RESPONSES
    }
    adjusted = holm([p_of(one) for one in changes.values()])
    return {
        "seeds": len({row["seed"] for row in found}),
        "trials": len(found),
        "changes": len(changes),
        "sure": sum(p <= SURE for p in adjusted),
        "held_least": min(float(row["held_packets"]) for row in found if row["pacer"] == FQ),
        "goodput": max(_goodput_percent(found, flows) for flows in _flows(found)),
    }


def _goodput_percent(found: Sequence[Row], flows: str) -> float:
    """How much the mean goodput changes, without its sign [%]."""
    name = RESPONSES[0][0]
    own = [row for row in found if (row["flows"], row["pacer"]) == (flows, TCP)]
    return 100 * abs(change(found, flows, name).mean) / _mean(own, name)


def _flows(found: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["flows"] for row in found))


def _mean(found: Sequence[Row], name: str) -> float:
    return sum(float(row[name]) for row in found) / len(found)


def _shown(one: Estimate, form: str) -> str:
    mean = signed(format(one.mean, "+" + form))
    return mean if one.half_width is None else f"{mean} ± {one.half_width:{form}}"
