# SPDX-License-Identifier: GPL-2.0-only
"""The README's abstract: five sentences, whose numbers are those of the kept results."""

from collections import Counter
from collections.abc import Callable, Sequence

from analysis.kept import Kept
from analysis.report.model import Sheet, plain
from analysis.statistics import mean
from studies.web_2003.ns2.tables import CAMPAIGN, Pair, clocks, pairs

AS_IN_NS_2 = "-as-in-ns-2"


def abstract(kept: Kept) -> Sheet:
    """A sentence a row: what was repeated, how, what agrees, what does not, and why."""
    found = list(pairs(kept))
    sentences = [_what(found), _how(kept, found), _agrees(found), _claims(kept), _why(kept, found)]
    return plain([[sentence] for sentence in sentences], "abstract")


def _what(found: Sequence[Pair]) -> str:
    loads = sorted({int(pair.load) for pair in found})
    return (
        "The slides' comparison of Reno and SACK over drop tail, Adaptive RED and Adaptive RED"
        f" with ECN was repeated at loads of {', '.join(map(str, loads))} %, by orders and"
        " crossings alone, as the numbers behind the slides' figures are not at hand."
    )


def _how(kept: Kept, found: Sequence[Pair]) -> str:
    trials = kept.table(CAMPAIGN, "trials").rows
    seeds = Counter(row["seed"] for row in trials if row["load"] in ("80", "105"))
    exchanges = {int(pair.ns_2["exchanges"]) for pair in found}
    return (
        f"A real kernel carried web traffic of at least {min(exchanges):,} exchanges a trial in"
        f" {len(trials)} trials, of {len(seeds)} seeds at 80 and 105 %, and ns-2 2.35"
        f" carried the same traces beside {len({_run(pair) for pair in found})} of them."
    )


def _run(pair: Pair) -> tuple[str, ...]:
    return pair.load, pair.sender, pair.queue, pair.kernel["seed"]


def _agrees(found: Sequence[Pair]) -> str:
    tail = _away(found, lambda queue: queue == "drop-tail")
    rule = _away(found, lambda queue: queue.endswith("as in ns-2"))
    return (
        f"Where the kernel has ns-2's queue, the medians of the two are {tail} % apart on average"
        f" with drop tail and {rule} % with Adaptive RED."
    )


def _away(found: Sequence[Pair], is_of: Callable[[str], bool], figure: str = "median_ms") -> str:
    """The mean distance of ns-2's figure from the kernel's [%]."""
    ratios = [pair.ratio(figure) for pair in found if is_of(pair.queue)]
    known = [100 * abs(ratio - 1) for ratio in ratios if ratio is not None]
    return format(mean(known), ".1f") if known else "–"


def _claims(kept: Kept) -> str:
    verdicts = {row["id"]: row["verdict_seeds"] for row in kept.claims(CAMPAIGN).rows}
    texts = []
    for rule, own in (("Linux's Adaptive RED", False), ("that of ns-2", True)):
        some = Counter(
            verdict for name, verdict in verdicts.items() if name.endswith(AS_IN_NS_2) is own
        )
        hold, fail = (some[verdict] for verdict in ("holds", "does not hold"))
        texts.append(f"with {rule} {hold} hold and {fail} do not, of {some.total()}")
    return (
        f"Of the slides' sentences, each in one or more readings, {'; '.join(texts)}: these seeds"
        " do not decide the others, or their loads were not run."
    )


def _why(kept: Kept, found: Sequence[Pair]) -> str:
    linux = _away(found, lambda queue: queue in ("ARED", "ARED+ECN"))
    coarse, fine = (_away(some, lambda _: True, "p75_ms") for some in clocks(kept).values())
    return (
        f"Linux's own Adaptive RED is {linux} % from ns-2's in the median, by its rule; and by the"
        f" timeouts' clock the 75th percentiles with drop tail at 105 % are {coarse} % apart with"
        f" ticks of 100 ms and {fine} % with ticks of 10 ms."
    )
