# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of its README's abstract (sentences.toml), from the kept results."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from analysis.claims import Verdict
from analysis.kept import Kept
from analysis.report.sentences import Numbers
from analysis.statistics import mean
from analysis.table import Row
from studies.web_2003.ns2.tables import CAMPAIGN, LOADS, Pair, pairs

AS_IN_NS_2 = "-as-in-ns-2"
HIGHEST = LOADS[-1]
SLIDES = ("80", "105")
"""The slides' loads: those with the most seeds."""
WHOLE = "web"
"""The campaign that is judged: its trials are as long as the source's."""
NOT_RUN, ONE_SEED = "not measured", Verdict.ONE_SEED.value
"""Of a reading: how its evidence begins, and a verdict."""
PANELS = "red-tradeoff-"
"""How the ids of the readings of one sentence begin, one of each of its four panels."""
FIRM_OR_OPEN = (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
VERDICTS = {one.name.lower(): one.value for one in FIRM_OR_OPEN}


def abstract(kept: Kept) -> Numbers:
    """Trials, how far ns-2 is from the kernel, and the verdicts."""
    found, long = list(pairs(kept)), list(pairs(kept, WHOLE))
    linux = [pair for pair in found if _is_linux(pair.queue)]
    by_load = {load: _away([p for p in linux if p.load == load], lambda _: True) for load in LOADS}
    others = [away for load, away in by_load.items() if load != HIGHEST and away is not None]
    tail, rule = _away(found, _is_tail), _away(found, _is_ns_2)
    lower = [-change for change in _changes(p for p in long if p.load == HIGHEST)]
    return {
        **_trials(kept, found, long),
        "tail": tail,
        "rule": rule,
        "lower_least": min(lower, default=0),
        "lower_most": max(lower, default=0),
        "lower_seeds": len(lower),
        "highest": HIGHEST,
        "linux": by_load[HIGHEST],
        "linux_least": min(others),
        "linux_most": max(others),
        **_verdicts(kept),
    }


def _is_tail(queue: str) -> bool:
    return queue == "drop-tail"


def _is_ns_2(queue: str) -> bool:
    return queue.endswith("as in ns-2")


def _is_linux(queue: str) -> bool:
    return queue in ("ARED", "ARED+ECN")


def _trials(kept: Kept, found: Sequence[Pair], long: Sequence[Pair]) -> dict[str, int]:
    short, whole = (kept.table(campaign, "trials").rows for campaign in (CAMPAIGN, WHOLE))
    return {
        "trials": len(short),
        "whole_trials": len(whole),
        "exchanges": min(int(pair.ns_2["exchanges"]) for pair in found),
        "seeds": _seeds(row for row in short if row["load"] in SLIDES),
        "whole_seeds": _seeds(row for row in whole if row["load"] in SLIDES),
        "few_seeds": _seeds(row for row in whole if row["load"] not in SLIDES),
        "runs": _repeated(found),
        "whole_runs": _repeated(long),
    }


def _seeds(trials: Iterable[Row]) -> int:
    """The seeds of each cell of these trials: of the cell that has the fewest."""
    return min(Counter((row["load"], row["sender"], row["queue"]) for row in trials).values())


def _repeated(found: Iterable[Pair]) -> int:
    """The trials that ns-2 repeated with the same queue; it has not Linux's Adaptive RED."""
    return len(
        {
            (pair.load, pair.sender, pair.queue, pair.kernel["seed"])
            for pair in found
            if not _is_linux(pair.queue)
        }
    )


def _changes(found: Iterable[Pair]) -> list[float]:
    """What ns-2 changes in the median of each trial with drop tail [%]."""
    ratios = [pair.ratio("median_ms") for pair in found if _is_tail(pair.queue)]
    return [100 * (ratio - 1) for ratio in ratios if ratio is not None]


def _away(found: Sequence[Pair], is_of: Callable[[str], bool]) -> float | None:
    """The mean distance of ns-2's median from the kernel's [%]; None without a pair."""
    ratios = [pair.ratio("median_ms") for pair in found if is_of(pair.queue)]
    known = [100 * abs(ratio - 1) for ratio in ratios if ratio is not None]
    return mean(known) if known else None


def _verdicts(kept: Kept) -> Mapping[str, int]:
    """Of each Adaptive RED: readings by verdict; open are those without any."""
    verdicts = {
        row["id"]: NOT_RUN if row["evidence_seeds"].startswith(NOT_RUN) else row["verdict_seeds"]
        for row in kept.claims(WHOLE).rows
    }
    numbers: dict[str, int] = {}
    for rule, own in (("linux", False), ("ns_2", True)):
        some = Counter(v for name, v in verdicts.items() if name.endswith(AS_IN_NS_2) is own)
        panels = [v for name, v in verdicts.items() if name.startswith(PANELS)
                  and name.endswith(AS_IN_NS_2) is own]  # fmt: skip
        numbers["readings"] = some.total()
        numbers[f"{rule}_panels"] = panels.count(VERDICTS["holds"])
        numbers |= {f"{rule}_{name}": some[verdict] for name, verdict in VERDICTS.items()}
        numbers |= {f"{rule}_not_run": some[NOT_RUN], f"{rule}_one_seed": some[ONE_SEED]}
    return numbers
