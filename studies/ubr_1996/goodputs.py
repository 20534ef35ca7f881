# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's sentence on the goodputs that the slides print, beside ours."""

import itertools
import math
from collections.abc import Sequence
from statistics import fmean

from analysis.kept import Kept
from analysis.metrics import jain_index
from analysis.report.model import listed
from analysis.report.sentences import Numbers
from analysis.statistics import CONFIDENCE
from analysis.table import Row
from studies.ubr_1996.readme import MAIN, ROW, published
from studies.ubr_1996.study import goodputs, results

LINK_MBIT_PER_S = 155.52 * 512 / 636
"""What whole segments leave of the link: the slides' 125.2 Mbit/s."""
Place = tuple[str, ...]


def numbers(kept: Kept) -> Numbers:
    """How many rows print what their goodputs give, and the slowest and the fastest source."""
    found = results()
    fitting = [place for place in found if fits(place)]
    copied = [place for place in found if round(efficiency(place), 2) != found[place]["efficiency"]]
    (network, policy, buffer, window), *_ = copied
    same = [place[3] for place in found if place != copied[0] and equal(place, copied[0])]
    lossy = [
        row
        for row in published(kept, MAIN)
        if row["network"] == "LAN" and float(row["lost_frames"]) > 0
    ]
    ends = {
        **_ends("paper", [sorted(goodputs()[_place(row)]) for row in lossy]),
        **_ends("ours", [_rates(row) for row in lossy]),
    }
    return {
        "rows": len(found),
        "fitting": len(fitting),
        "cut_off": len(found) - len(fitting) - len(copied),
        "copied": len(copied),
        "place": f"{network} with {policy}, {int(buffer):,} cells and {int(window):,} bytes",
        "same_window": f"{int(same[0]):,}",
        "sum": efficiency(copied[0]),
        "printed": found[copied[0]]["efficiency"],
        "lossy": len(lossy),
        **ends,
        **_others(lossy),
        **pairs(),
        "fastest_apart": abs(ends["paper_fastest"] - ends["ours_fastest"]),
    }


def pairs() -> dict[str, float | str]:
    """The rows that differ only in the window, and have the same goodputs: they may be one run."""
    same = [
        (first, second)
        for first, second in itertools.combinations(results(), 2)
        if first[:3] == second[:3] and equal(first, second)
    ]
    separate = len(results()) - len(same)
    return {
        "pairs": len(same),
        "pairs_which": listed(_pair_text(*both) for both in same),
        "separate": separate,
        "separate_by_chance": (1 - CONFIDENCE) * separate,
    }


def _pair_text(first: Place, second: Place) -> str:
    network, policy, buffer, window = first
    windows = f"{int(window):,} and {int(second[3]):,} bytes"
    return f"{network} with {policy} and {int(buffer):,} cells ({windows})"


def efficiency(place: Place) -> float:
    """What the sum of a row's goodputs gives."""
    return math.fsum(goodputs()[place]) / LINK_MBIT_PER_S


def fits(place: Place) -> bool:
    """Whether sum and index of a row's goodputs give what it prints."""
    own = {
        "efficiency": round(efficiency(place), 2),
        "fairness": round(jain_index(goodputs()[place]) or 0, 2),
    }
    return own == results()[place]


def equal(place: Place, other: Place) -> bool:
    """Whether two rows of a network and a policy have the same goodputs."""
    return place[:2] == other[:2] and goodputs()[place] == goodputs()[other]


def _others(lossy: Sequence[Row]) -> dict[str, float]:
    """The mean source of a row without its fastest, in the mean over the rows [Mbit/s]."""
    theirs = [sorted(goodputs()[_place(row)])[:-1] for row in lossy]
    ours = [
        (float(row["efficiency"]) * float(row["capacity_bit_per_s"]) / 1e6 - _rates(row)[-1])
        / (int(row["sources"]) - 1)
        for row in lossy
    ]
    return {"paper_others": fmean(map(fmean, theirs)), "ours_others": fmean(ours)}


def _place(row: Row) -> Place:
    network, buffer, window, policy = (row[name] for name in ROW)
    return network, policy, buffer, window


def _rates(row: Row) -> list[float]:
    return [float(row[f"{end}_bit_per_s"]) / 1e6 for end in ("least", "largest")]


def _ends(name: str, rates: Sequence[Sequence[float]]) -> dict[str, float]:
    """The slowest and the fastest source, in the mean over the rows [Mbit/s]."""
    return {
        f"{name}_slowest": fmean(row[0] for row in rates),
        f"{name}_fastest": fmean(row[-1] for row in rates),
    }
