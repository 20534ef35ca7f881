# SPDX-License-Identifier: GPL-2.0-only
"""What the lab itself changes in one cell: README's table and numbers of ubrplus-www-sensitivity.

One cell of the paper (WAN, EPD, 1 RTT) is run with other ticks, with a processor that each packet
takes time of, and with clients that start at random moments. Changes are paired by seed.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean as mean

from analysis import kept_trials
from analysis.contrasts import BySeed, Contrast, contrast, differences
from analysis.families import holm
from analysis.kept import Kept
from analysis.report.model import MISSING, Sheet, Value, plain, signed
from analysis.report.sentences import Numbers
from studies.ubrplus_1998.cells import RESPONSES, cells_of
from studies.ubrplus_1998.source_tables import TEXT
from studies.ubrplus_1998.study import CELL

CAMPAIGN = "ubrplus-www-sensitivity"
AS_IT_IS = "as it is"
LAB = {
    "100 ticks": "100 ticks a second, not 1,000",
    "1 us a packet": "a packet takes 1 µs of the processor at each device",
    "5 us a packet": "a packet takes 5 µs",
    "starts within 10 ms": "each client starts at a random moment of the first 10 ms",
}
"""What is changed, by level of the factor `lab`; the last is of the clients, not of the lab."""
STARTS, TICKS, SLOW = "starts within 10 ms", "100 ticks", "5 us a packet"
CELL_OF = {"network": "WAN", "policy": "EPD", "buffer": "1"}
SURE = 0.05
EXACT = 1e-12
"""Two means of the same figures differ by no more, in whatever order they were summed."""


@dataclass(frozen=True)
class Change:
    """What one level changes in a response of one flavor."""

    lab: str
    flavor: str
    response: str
    contrast: Contrast

    @property
    def p(self) -> float:
        """Of no change; 1 where one seed gives no interval."""
        found = self.contrast.p_against(0)
        return 1.0 if found is None else found


def sensitivity(kept: Kept) -> Sheet:
    """Both responses of each flavor, and what each level changes in them."""
    base, found = _base(kept), {_key(one): one.contrast for one in changes(kept)}
    rows: list[list[Value]] = []
    for response in RESPONSES:
        means = (f"{base[flavor, response]:.4f}" for flavor in CELL["flavor"])
        rows.append([response, AS_IT_IS, *means])
        for lab, text in LAB.items():
            some = (_shown(found.get((lab, flavor, response))) for flavor in CELL["flavor"])
            rows.append([response, text, *some])
    return plain(rows, "", "changed", *CELL["flavor"])


def changes(kept: Kept) -> Iterator[Change]:
    """Each level's change of each response and flavor, where a trial of it is valid."""
    values = _values(kept)
    for response in RESPONSES:
        for lab in LAB:
            for flavor in CELL["flavor"]:
                after, before = (values.get((one, flavor, response)) for one in (lab, AS_IT_IS))
                if after and before:
                    yield Change(lab, flavor, response, contrast(differences([after], [before])))


def numbers(kept: Kept) -> Numbers:
    """The largest changes, how many are sure by Holm's rule, and the main campaign's means."""
    found = list(changes(kept))
    adjusted = zip(found, holm([one.p for one in found]), strict=True)
    sure = [one for one, p in adjusted if p <= SURE]
    own = [one for one in found if one.lab != STARTS]
    starts = [one for one in found if one.lab == STARTS and one.response == "efficiency"]
    moved = [one.contrast.difference for one in starts]
    return {
        **_trials(kept),
        "fewest_seeds": min(len(one.contrast.draws) for one in found),
        "seeds": max(len(one.contrast.draws) for one in found),
        "lab_changes": len(own),
        "lab_sure": len([one for one in sure if one in own]),
        "starts_changes": len(found) - len(own),
        "starts_sure": len([one for one in sure if one not in own]),
        **_largest("efficiency", own),
        **_largest("fairness", own),
        "starts_least": min(moved),
        "starts_most": max(moved),
        **_as_kept(kept),
    }


def _trials(kept: Kept) -> dict[str, int]:
    """How many trials the checks of the lab left out, and how many of them with 5 µs."""
    known = kept.manifest(CAMPAIGN)
    rows = {(row["lab"], row["flavor"]): int(row["seeds"]) for row in kept.cells(CAMPAIGN).rows}
    planned = len(known["seeds"]) * len(CELL["flavor"])
    slow = planned - sum(seeds for (lab, _), seeds in rows.items() if lab == SLOW)
    return {"slow": planned, "slow_left_out": slow, "others_left_out": known["left_out"] - slow}


def _largest(response: str, some: list[Change]) -> dict[str, float | str]:
    of = [change for change in some if change.response == response]
    one = max(of, key=lambda change: abs(change.contrast.difference))
    return {
        response: one.contrast.difference,
        f"{response}_half": one.contrast.half_width or 0.0,
        f"{response}_place": f"{one.flavor}, {one.lab}",
    }


def _as_kept(kept: Kept) -> dict[str, int]:
    """How many means of the lab as it is are exactly those of the main campaign's same cell."""
    same = [
        math.isclose(mean(values.values()), float(row[response]), rel_tol=EXACT)
        for row in cells_of(kept, TEXT, minimum="2 ticks", **CELL_OF)
        for response in RESPONSES
        for values in [_values(kept)[AS_IT_IS, row["flavor"], response]]
    ]
    return {"means": len(same), "same": sum(same)}


def _key(one: Change) -> tuple[str, str, str]:
    return one.lab, one.flavor, one.response


def _shown(change: Contrast | None) -> str:
    if change is None:
        return MISSING
    half = change.half_width
    text = signed(f"{change.difference:+.4f}")
    return text if half is None else f"{text} ± {half:.4f}"


def _base(kept: Kept) -> dict[tuple[str, str], float]:
    rows = cells_of(kept, CAMPAIGN, lab=AS_IT_IS)
    return {(row["flavor"], name): float(row[name]) for row in rows for name in RESPONSES}


def _values(kept: Kept) -> Mapping[tuple[str, str, str], BySeed]:
    """(level, flavor, response) -> seed -> value."""
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in kept_trials.read(kept.folder / CAMPAIGN / kept_trials.FILE):
        for response in RESPONSES:
            place = (one.levels["lab"], one.levels["flavor"], response)
            found.setdefault(place, {})[one.seed] = one.metrics[response]
    return found
