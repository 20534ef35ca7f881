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
        "We repeated the slides' comparison of Reno and SACK over three queues: drop tail, Adaptive"
        f" RED, and Adaptive RED with ECN. The loads are {', '.join(map(str, loads))} %. We do not"
        " have the numbers behind the slides' figures. So we compare only which curve is lower,"
        " and where two curves cross."
    )


def _how(kept: Kept, found: Sequence[Pair]) -> str:
    trials = kept.table(CAMPAIGN, "trials").rows
    seeds = Counter(row["seed"] for row in trials if row["load"] in ("80", "105"))
    exchanges = {int(pair.ns_2["exchanges"]) for pair in found}
    return (
        f"A real kernel carried web traffic in {len(trials)} trials, with at least"
        f" {min(exchanges):,} exchanges in each. The loads of 80 and 105 % have {len(seeds)} seeds."
        f" For {len({_run(pair) for pair in found})} of these trials, ns-2 2.35 carried the same"
        " traces."
    )


def _run(pair: Pair) -> tuple[str, ...]:
    return pair.load, pair.sender, pair.queue, pair.kernel["seed"]


def _agrees(found: Sequence[Pair]) -> str:
    tail = _away(found, lambda queue: queue == "drop-tail")
    rule = _away(found, lambda queue: queue.endswith("as in ns-2"))
    return (
        f"If kernel and ns-2 have the same queue, their median response times differ by {tail} % on"
        f" average with drop tail, and by {rule} % with Adaptive RED."
    )


def _away(found: Sequence[Pair], is_of: Callable[[str], bool], figure: str = "median_ms") -> str:
    """The mean distance of ns-2's figure from the kernel's [%]."""
    ratios = [pair.ratio(figure) for pair in found if is_of(pair.queue)]
    known = [100 * abs(ratio - 1) for ratio in ratios if ratio is not None]
    return format(mean(known), ".1f") if known else "–"


def _claims(kept: Kept) -> str:
    verdicts = {row["id"]: row["verdict_seeds"] for row in kept.claims(CAMPAIGN).rows}
    texts = []
    for rule, own in (("Linux's Adaptive RED", False), ("the Adaptive RED of ns-2", True)):
        some = Counter(
            verdict for name, verdict in verdicts.items() if name.endswith(AS_IN_NS_2) is own
        )
        hold, fail = (some[verdict] for verdict in ("holds", "does not hold"))
        texts.append(
            f'With {rule}, the verdict of the {some.total()} readings is "holds" for {hold}, "does'
            f' not hold" for {fail} and "open" for {some.total() - hold - fail}.'
        )
    return (
        f"We judge each of the slides' sentences in one or more readings. {' '.join(texts)}"
        " A reading is open if these seeds do not decide it, or if we did not run its loads."
    )


def _why(kept: Kept, found: Sequence[Pair]) -> str:
    linux = _away(found, lambda queue: queue in ("ARED", "ARED+ECN"))
    coarse, fine = (_away(some, lambda _: True, "p75_ms") for some in clocks(kept).values())
    return (
        "Linux's own Adaptive RED drops packets by other rules than ns-2's. With it, the median"
        f" response times differ from ns-2's by {linux} %. The clock of the timeouts also has an"
        f" effect: with drop tail at 105 %, the 75th percentiles differ by {coarse} % with ticks of"
        f" 100 ms, and by {fine} % with ticks of 10 ms."
    )
