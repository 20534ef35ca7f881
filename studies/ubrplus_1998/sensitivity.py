# SPDX-License-Identifier: GPL-2.0-only
"""What the lab itself changes: README's table and numbers of ubrplus-www-sensitivity.

A cell of a network (EPD, 1 RTT) is run with other ticks, with a processor that each packet takes
time of, and with clients that start at random moments. Changes are paired by seed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
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
CELL_OF = {"policy": "EPD", "buffer": "1", "minimum": "2 ticks"}
"""Of the main campaign: the cells that the lab as it is runs here again."""
NETWORKS = CELL["network"]
FIRST = "WAN"
SURE = 0.05
FEW = 5
"""Fewer seeds have wide intervals."""
Place = tuple[str, ...]
"""Network, level of `lab`, flavor and response."""


@dataclass(frozen=True)
class Change:
    """What one level changes in a response of one flavor."""

    network: str
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
    """Both responses of each network and flavor, and what each level changes in them."""
    values, found = _values(kept), {_key(one): one.contrast for one in changes(kept)}
    rows: list[list[Value]] = []
    for network in NETWORKS:
        for response in RESPONSES:
            places = [(network, AS_IT_IS, flavor, response) for flavor in CELL["flavor"]]
            if all(place in values for place in places):
                means = (f"{mean(values[place].values()):.4f}" for place in places)
                rows.append([network, response, AS_IT_IS, *means])
                rows += _lines(network, response, found)
    return plain(rows, "network", "", "changed", *CELL["flavor"])


def _lines(network: str, response: str, found: Mapping[Place, Contrast]) -> Iterator[list[Value]]:
    """A line for each level; of WAN, where all levels were tried, also for one without a trial."""
    for lab, text in LAB.items():
        some = [found.get((network, lab, flavor, response)) for flavor in CELL["flavor"]]
        if any(some) or network == FIRST:
            yield [network, response, text, *map(_shown, some)]


def changes(kept: Kept) -> Iterator[Change]:
    """Each level's change of each network, response and flavor, where a trial of it is valid."""
    values = _values(kept)
    for network, response, lab, flavor in product(NETWORKS, RESPONSES, LAB, CELL["flavor"]):
        both = (values.get((network, one, flavor, response)) for one in (lab, AS_IT_IS))
        after, before = both
        if after and before:
            found = contrast(differences([after], [before]))
            yield Change(network, lab, flavor, response, found)


def numbers(kept: Kept) -> Numbers:
    """Of WAN, and how many trials the checks left out in all networks."""
    return {**_trials(kept), **numbers_of(kept, FIRST)}


def numbers_of(kept: Kept, network: str) -> Numbers:
    """A network's largest changes, and how many are sure by Holm's rule over its changes."""
    found = [one for one in changes(kept) if one.network == network]
    adjusted = zip(found, holm([one.p for one in found]), strict=True)
    sure = [one for one, p in adjusted if p <= SURE]
    own = [one for one in found if one.lab != STARTS]
    starts = [one for one in found if one.lab == STARTS and one.response == "efficiency"]
    moved = [one.contrast.difference for one in starts]
    seeds = [len(one.contrast.draws) for one in found]
    return {
        "fewest_seeds": min(seeds),
        "seeds": max(seeds),
        "seeds_range": " to ".join(dict.fromkeys(map(str, (min(seeds), max(seeds))))),
        "few": " With so few seeds, the intervals are wide." if max(seeds) < FEW else "",
        "lab_changes": len(own),
        "lab_sure": len([one for one in sure if one in own]),
        "starts_changes": len(found) - len(own),
        "starts_sure": len([one for one in sure if one not in own]),
        **_largest("efficiency", own),
        **_largest("fairness", own),
        "starts_least": min(moved),
        "starts_most": max(moved),
        **_as_kept(kept, network),
    }


def _trials(kept: Kept) -> dict[str, int]:
    """How many trials the checks of the lab left out, and how many of them with 5 µs in WAN."""
    known, of = kept.manifest(CAMPAIGN), {"network": FIRST, "lab": SLOW}
    planned = len(known["seeds"]) * len(CELL["flavor"])
    slow = planned - sum(int(row["seeds"]) for row in cells_of(kept, CAMPAIGN, **of))
    return {"slow": planned, "slow_left_out": slow, "others_left_out": known["left_out"] - slow}


def _largest(response: str, some: list[Change]) -> dict[str, float | str]:
    of = [change for change in some if change.response == response]
    one = max(of, key=lambda change: abs(change.contrast.difference))
    return {
        response: one.contrast.difference,
        f"{response}_half": one.contrast.half_width or 0.0,
        f"{response}_place": f"{one.flavor}, {one.lab}".replace(" us ", " µs "),
    }


def _as_kept(kept: Kept, network: str) -> dict[str, int]:
    """How many trials of the lab as it is have exactly the figures of the main campaign's."""
    here, there = (
        {
            (one.levels["flavor"], one.seed): [one.metrics[name] for name in RESPONSES]
            for one in kept_trials.read(kept.folder / campaign / kept_trials.FILE)
            if of.items() <= one.levels.items()
        }
        for campaign, of in (
            (CAMPAIGN, {"network": network, "lab": AS_IT_IS}),
            (TEXT, {"network": network, **CELL_OF}),
        )
    )
    both = here.keys() & there.keys()
    return {"again": len(both), "same": sum(here[key] == there[key] for key in both)}


def _key(one: Change) -> Place:
    return one.network, one.lab, one.flavor, one.response


def _shown(change: Contrast | None) -> str:
    if change is None:
        return MISSING
    half = change.half_width
    text = signed(f"{change.difference:+.4f}")
    return text if half is None else f"{text} ± {half:.4f}"


def _values(kept: Kept) -> Mapping[Place, BySeed]:
    """Seed -> value, by place."""
    found: dict[Place, dict[int, float]] = {}
    for one in kept_trials.read(kept.folder / CAMPAIGN / kept_trials.FILE):
        for response in RESPONSES:
            place = (*(one.levels[name] for name in ("network", "lab", "flavor")), response)
            found.setdefault(place, {})[one.seed] = one.metrics[response]
    return found
