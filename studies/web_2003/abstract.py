# SPDX-License-Identifier: GPL-2.0-only
"""The README's abstract: five sentences, whose numbers are those of the kept results."""

from collections import Counter
from collections.abc import Callable, Sequence

from analysis.kept import Kept
from analysis.report.model import Sheet, plain
from analysis.statistics import mean
from studies.web_2003.ns2.tables import CAMPAIGN, LOADS, Pair, pairs

AS_IN_NS_2 = "-as-in-ns-2"
HIGHEST = LOADS[-1]
NOT_RUN, ONE_SEED = "not measured", "one seed: no verdict"
"""Of a reading: how its evidence begins, and a verdict."""


def abstract(kept: Kept) -> Sheet:
    """A sentence a row: what was repeated, how, what agrees, what does not, and why."""
    found = list(pairs(kept))
    sentences = [_what(found), _how(kept, found), _agrees(found), _claims(kept), _why(found)]
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


def _away(found: Sequence[Pair], is_of: Callable[[str], bool]) -> str:
    """The mean distance of ns-2's median from the kernel's [%]."""
    ratios = [pair.ratio("median_ms") for pair in found if is_of(pair.queue)]
    known = [100 * abs(ratio - 1) for ratio in ratios if ratio is not None]
    return format(mean(known), ".1f") if known else "–"


def _claims(kept: Kept) -> str:
    verdicts = {
        row["id"]: NOT_RUN if row["evidence_seeds"].startswith(NOT_RUN) else row["verdict_seeds"]
        for row in kept.claims(CAMPAIGN).rows
    }
    texts = []
    for rule, own in (("Linux's Adaptive RED", False), ("the Adaptive RED of ns-2", True)):
        some = Counter(
            verdict for name, verdict in verdicts.items() if name.endswith(AS_IN_NS_2) is own
        )
        hold, fail = (some[verdict] for verdict in ("holds", "does not hold"))
        texts.append(
            f'With {rule}, the verdict of the {some.total()} readings is "holds" for {hold}, "does'
            f' not hold" for {fail} and "undecided" for {some["undecided"]}. For {some[NOT_RUN]} we'
            f" did not run the loads, and for {some[ONE_SEED]} a cell has one seed and no verdict."
        )
    return f"We judge each of the slides' sentences in one or more readings. {' '.join(texts)}"


def _why(found: Sequence[Pair]) -> str:
    linux = [pair for pair in found if pair.queue in ("ARED", "ARED+ECN")]
    by_load = {load: _away([p for p in linux if p.load == load], lambda _: True) for load in LOADS}
    others = [away for load, away in by_load.items() if load != HIGHEST and away != "–"]
    return (
        "The Adaptive RED of Linux, with our patch that makes it gentle, drops packets by other"
        " rules than ns-2's. With it, the median response times differ from ns-2's by"
        f" {by_load[HIGHEST]} % on average at {HIGHEST} %, and by {min(others, key=float)} to"
        f" {max(others, key=float)} % at the other loads. We do not know the cause of the other"
        " differences: with these seeds, we cannot say whether it is the clock of the timeouts."
    )
