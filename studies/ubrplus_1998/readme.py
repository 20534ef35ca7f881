# SPDX-License-Identifier: GPL-2.0-only
"""The tables of its README, from the kept results."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from analysis.kept import Kept, number
from analysis.report.model import MISSING, Sheet, Value, plain, signed
from analysis.statistics import rank_correlation
from analysis.table import Row
from studies.ubrplus_1998.study import CELL

TEXT, RFC, STOCK = "ubrplus-www-text", "ubrplus-www-rfc", "ubrplus-www-stock"
ASSUMPTIONS = "ubrplus-www-rfc-assumptions"
DEFAULT = "default"
MINIMA = ("2 ticks", "1 s")
CAMPAIGNS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    **{f"the text, minimum {minimum}": (TEXT, {"minimum": minimum}) for minimum in MINIMA},
    "later RFCs": (RFC, {}),
}
"""Whose senders they are: the campaign, and which of its cells."""
RESPONSES = ("efficiency", "fairness")
READINGS = {
    "full segments": "windows in whole segments",
    "short segments again": "what is sent again keeps its boundaries",
    "spread starts": "first batches spread over 10 s",
    "idle restart": "window restarts after an idle RTO",
    "exact RTO": "the kernel's own RTO and timer",
    "minimum RTO 1 s": "minimum RTO 1 s",
    "first RTO 1 s": "first RTO 1 s, not 3 s",
    "backoff any ACK": "any ACK ends the backoff",
    "small return buffer": "100 cells in the return direction",
    "initial window 2": "initial window of 2 segments",
    "partial ACK resets": "NewReno: a partial ACK resets cwnd to ssthresh",
    "keep scoreboard": "SACK: scoreboard kept after a timeout",
    "SACK hole again": "SACK: a hole is sent again after an RTT",
}
"""What the levels of `assumption` were; the kernel's timer had the name under which it ran."""


def distances(kept: Kept) -> Sheet:
    """How far each network's cells are from the published, for each set of senders."""
    rows = [
        [name, network, *_distance(cells, "efficiency"), *_distance(cells, "fairness")]
        for name, (campaign, where) in CAMPAIGNS.items()
        for network in CELL["network"]
        for cells in [_of(kept, campaign, network=network, **where)]
    ]
    heads = [
        head
        for response in RESPONSES
        for head in (
            (f"{response}: mean absolute difference", ".3f"),
            ("mean difference", "+.3f"),
            ("rank correlation", ".3f"),
        )
    ]
    return plain(rows, "senders", "network", *heads)


def _distance(rows: Sequence[Row], response: str) -> list[Value]:
    both = [
        (float(row[response]), float(row[f"{response}_published"]))
        for row in rows
        if row[response] and row[f"{response}_published"]
    ]
    differences = [measured - published for measured, published in both]
    measured, published = zip(*both, strict=True)
    return [
        fmean(map(abs, differences)),
        fmean(differences),
        rank_correlation(measured, published),
    ]


def claims(kept: Kept) -> Sheet:
    """How many claims hold, for each set of senders, by the sharpest error it allows."""
    verdicts = ("holds", "does not hold", "undecided")
    rows: list[list[Value]] = [
        [name, *(list(found.values()).count(verdict) for verdict in verdicts)]
        for name, found in _verdicts(kept).items()
    ]
    return plain(rows, "senders", *((verdict, "d") for verdict in verdicts))


def failing(kept: Kept) -> Sheet:
    """The claims that do not hold, or are undecided, in a reading of the text."""
    found = _verdicts(kept)
    readings = [name for name, (campaign, _) in CAMPAIGNS.items() if campaign == TEXT]
    rows: list[list[Value]] = [
        [row["sentence"], row["source"], *(found[name][row["id"]] for name in found)]
        for row in kept.claims(TEXT).rows
        if any(found[name][row["id"]] != "holds" for name in readings)
    ]
    return plain(rows, "sentence", "section", *found)


def _verdicts(kept: Kept) -> dict[str, dict[str, str]]:
    """Senders -> claim -> verdict."""
    by_reading = kept.table(TEXT, "claims-by-variant").rows
    found = {
        f"the text, minimum {minimum}": {
            row["id"]: row[f"minimum={minimum}"] for row in by_reading
        }
        for minimum in MINIMA
    }
    later = {row["id"]: row["verdict_replications"] for row in kept.claims(RFC).rows}
    return {**found, "later RFCs": later}


def assumptions(
    networks: Sequence[str], buffer: str, flavors: Sequence[str]
) -> Callable[[Kept], Sheet]:
    """Values of the default, then the changes that each assumption makes to them."""

    def made(kept: Kept) -> Sheet:
        table = [row for row in kept.cells(ASSUMPTIONS).rows if row["buffer"] == buffer]
        places = [(network, flavor) for network in networks for flavor in flavors]
        cells = {(row["network"], row["flavor"], row["assumption"]): row for row in table}
        first = [_pair(cells[(*place, DEFAULT)]) for place in places]
        rows: list[list[Value]] = [["as the experiment has it", *first]]
        for level, text in READINGS.items():
            found = [
                _change(cells.get((*place, level)), cells[(*place, DEFAULT)]) for place in places
            ]
            if any(found):
                rows.append([text, *found])
        names = [flavor if len(networks) == 1 else f"{net} {flavor}" for net, flavor in places]
        return plain(rows, "", *names)

    return made


def sets(kept: Kept) -> Sheet:
    """Mean absolute difference to the paper over the WAN cells, by assumption."""
    rows: list[list[Value]] = []
    for level, text in {DEFAULT: "as the experiment has it", **READINGS}.items():
        cells = _of(kept, ASSUMPTIONS, network="WAN", assumption=level)
        if len(cells) == 8:  # of all four flavors at two buffers
            rows.append([text, *(_distance(cells, name)[0] for name in ("efficiency", "fairness"))])
    rows.sort(key=lambda row: float(row[1] or 0))
    return plain(rows, "changed", *((response, ".3f") for response in RESPONSES))


def simulation(kept: Kept) -> Sheet:
    """Mean absolute differences to the simulation, with the largest of a cell."""
    rows: list[list[Value]] = []
    for text, campaign, name in (("the text", TEXT, "literal"), ("later RFCs", RFC, "today")):
        found = kept.table(campaign, "predictions").rows
        for network in CELL["network"]:
            of = {"prediction": name, "group": network}
            cells = {row["response"]: row for row in found if of.items() <= row.items()}
            figures = [
                number(cells[response], column)
                for response in RESPONSES
                for column in ("mean_absolute_difference", "mean_difference", "largest_difference")
            ]
            rows.append([text, network, *figures])
    heads = [
        head
        for response in RESPONSES
        for head in ((f"{response}: mean absolute", ".3f"), ("mean", "+.3f"), ("largest", "+.3f"))
    ]
    return plain(rows, "senders", "network", *heads)


def stock(kept: Kept) -> Sheet:
    """Today's senders beside SACK of 1998: the cells of WAN, the means of the others."""
    sack = _of(kept, TEXT, flavor="SACK", minimum=MINIMA[0])
    today = kept.cells(STOCK)
    flavors = today.levels("flavor")
    rows: list[list[Value]] = []
    for where in _places():
        mine = [row for row in sack if where.items() <= row.items()]
        found = [row for row in today.rows if where.items() <= row.items()]
        texts = [_means([row for row in found if row["flavor"] == flavor]) for flavor in flavors]
        heads = [where.get(factor, "all") for factor in HEADS]
        rows.append([*heads, *texts, _means(mine), _means(mine, "_published")])
    return plain(rows, *HEADS, *flavors, "SACK of 1998", "SACK, paper")


def _places() -> list[dict[str, str]]:
    """The cells of WAN, then each other network whole."""
    wan = [
        {"network": "WAN", "policy": policy, "buffer": buffer}
        for policy in CELL["policy"]
        for buffer in CELL["buffer"]
    ]
    return [*wan, {"network": "MEO"}, {"network": "GEO"}]


HEADS = ("network", "policy", "buffer")
TABLES: Mapping[str, Callable[[Kept], Sheet]] = {
    "distances": distances,
    "simulation": simulation,
    "claims": claims,
    "failing": failing,
    "wan-0.5": assumptions(["WAN"], "0.5", CELL["flavor"]),
    "long-paths": assumptions(["MEO", "GEO"], "0.5", ["Reno", "SACK"]),
    "sets": sets,
    "stock": stock,
}


def _of(kept: Kept, campaign: str, **levels: str) -> list[Row]:
    """The cells of a campaign with these levels."""
    return [row for row in kept.cells(campaign).rows if levels.items() <= row.items()]


def _means(rows: Sequence[Row], column: str = "") -> str:
    """Both responses' means over some cells."""
    return " / ".join(
        _text(fmean(float(row[f"{name}{column}"]) for row in rows), ".3f") for name in RESPONSES
    )


def _pair(row: Row) -> str:
    return " / ".join(_text(number(row, name), ".3f") for name in RESPONSES)


def _change(row: Row | None, base: Row) -> str:
    """Both responses less the base's; empty where the cell was not measured."""
    if row is None:
        return ""
    texts = []
    for name in RESPONSES:
        value, first = number(row, name), number(base, name)
        change = None if value is None or first is None else value - first
        texts.append(_text(change, "+.3f"))
    return " / ".join(texts)


def _text(value: float | None, form: str) -> str:
    return MISSING if value is None else signed(format(value, form))

