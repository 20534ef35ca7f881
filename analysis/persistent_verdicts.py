# SPDX-License-Identifier: GPL-2.0-only
"""The checks that the conclusions of 96-0518R1 (`persistent_conclusions.toml`) can name.

Each is a function of the rows and of the conclusion's parameters. Bounds on a mean and on a
mean difference are judged by their 95 % interval over rows and seeds; a row that loses nothing
tells nothing about losses and is left out where a check says 'lossy'. A trial without a value
(of fairness, when nobody received anything) counts in no mean; one value has no interval, and
decides nothing.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analysis.comparison import Estimate, estimate
from analysis.conclusions import Conclusion, load
from analysis.evidence import NoEvidenceError
from analysis.persistent import VOCABULARY, Row
from analysis.verdicts import Check, Finding, Verdict, within_bounds

CONCLUSIONS = Path(__file__).with_name("persistent_conclusions.toml")
Rows = Sequence[Row]
Levels = Mapping[str, Sequence[object]]


def queue_is_sum_of_windows(rows: Rows, *, where: Levels, within_cells: int) -> Finding:
    """Where nothing is lost the largest queue is the windows' sum less what is on the path."""
    chosen = [row for row in _with_queue(rows, where) if row.lossless and row.full_queue_cells]
    _need(chosen, "a row without loss")
    worst, texts = 0, []
    for row in chosen:
        peak = round(max(row.values("peak_cells")))
        beyond = peak - (row.full_queue_cells or 0)
        worst = max(worst, abs(beyond))
        texts.append(
            f"{row.name}: {peak} of {row.windows_cells} cells,"
            f" {row.path_cells} on the path ({beyond:+d})"
        )
    return Finding(verdict=_verdict(worst <= within_cells), evidence="; ".join(texts))


def queue_below_windows(rows: Rows, *, where: Levels) -> Finding:
    """No queue is ever longer than the sum of the windows."""
    chosen = _with_queue(rows, where)
    _need(chosen, "a row")
    room = {row.name: row.windows_cells - max(row.values("peak_cells")) for row in chosen}
    least = min(room, key=lambda name: room[name])
    text = f"{len(room)} rows; nearest {least}: {room[least]:.0f} cells below"
    return Finding(verdict=_verdict(room[least] >= 0), evidence=text)


def no_loss_with_buffer(rows: Rows, *, where: Levels) -> Finding:
    """A buffer of at least the sum of the windows loses nothing."""
    chosen = [row for row in _of(rows, where) if row.buffer_cells >= row.windows_cells]
    _need(chosen, "a row with buffer >= sum of windows")
    lost = {row.name: sum(row.lost_frames) for row in chosen}
    text = "; ".join(f"{name}: {count} frames lost" for name, count in lost.items())
    return Finding(verdict=_verdict(not any(lost.values())), evidence=text)


def loss_without_buffer(rows: Rows, *, where: Levels) -> Finding:
    """A buffer short of what windows and path leave loses frames."""
    chosen = [row for row in _of(rows, where) if row.buffer_cells < (row.full_queue_cells or 0)]
    _need(chosen, "a row with a short buffer")
    none = [row.name for row in chosen if not all(row.lost_frames)]
    text = f"{len(chosen)} rows, {len(none)} of them without loss {' '.join(none)}".strip()
    return Finding(verdict=_verdict(not none), evidence=text)


def grows(rows: Rows, *, where: Levels, factor: str, metric: str) -> Finding:
    """A metric's mean grows with a factor's level, a number, where nothing is lost."""
    chosen = [row for row in _of(rows, where) if row.lossless]
    chosen.sort(key=lambda row: float(row.factors[factor]))
    means = _means(chosen, metric)
    _need(means[1:], f"{metric} in two rows without loss")
    text = ", ".join(f"{factor} {row.factors[factor]}: {mean:g}" for row, mean in means)
    rising = all(a < b for (_, a), (_, b) in itertools.pairwise(means))
    return Finding(verdict=_verdict(rising), evidence=text)


def each_bounded(
    rows: Rows,
    *,
    where: Levels,
    metric: str,
    at_least: float | None = None,
    at_most: float | None = None,
    lossy: bool | None = None,
) -> Finding:
    """The mean of every row keeps the bound."""
    means = {row.name: mean for row, mean in _means(_of(rows, where, lossy), metric)}
    _need(means, "such a row")
    beyond = {
        name: mean
        for name, mean in means.items()
        if (at_least is not None and mean < at_least) or (at_most is not None and mean > at_most)
    }
    text = f"{metric} {min(means.values()):.3f} to {max(means.values()):.3f} in {len(means)} rows"
    if beyond:
        text += f"; {len(beyond)} beyond: " + ", ".join(f"{n} {m:.3f}" for n, m in beyond.items())
    return Finding(verdict=_verdict(not beyond), evidence=text)


def mean_bounded(
    rows: Rows,
    *,
    where: Levels,
    metric: str,
    at_least: float | None = None,
    at_most: float | None = None,
    lossy: bool | None = None,
) -> Finding:
    """The mean over the rows keeps the bound."""
    values = _values(_of(rows, where, lossy), metric)
    _need(values, "such a row")
    found = estimate(values)
    return Finding(
        verdict=_bounded(found, at_least, at_most),
        evidence=f"mean {metric} {_text(found)}{_limits(at_least, at_most)}",
    )


def share_below(
    rows: Rows, *, where: Levels, metric: str, below: float, share: float, lossy: bool = True
) -> Finding:
    """In at least `share` of the trials the metric is below a bound."""
    values = _values(_of(rows, where, lossy), metric)
    _need(values, "such a row")
    found = sum(value < below for value in values)
    text = f"{metric} below {below} in {found} of {len(values)} trials"
    return Finding(verdict=_verdict(found >= share * len(values)), evidence=text)


def gain(
    rows: Rows,
    *,
    where: Levels,
    metric: str,
    factor: str,
    of: object,
    minus: object,
    at_least: float = 0.0,
) -> Finding:
    """Mean difference between two levels, row by row and seed by seed with all else equal."""
    found = estimate(_differences(_of(rows, where), metric, factor, str(of), str(minus)))
    return Finding(
        verdict=_bounded(found, at_least, None),
        evidence=f"{metric}, {of} less {minus}: {_text(found, '+.3f')}",
    )


def gain_larger(
    rows: Rows,
    *,
    metric: str,
    factor: str,
    of: object,
    minus: object,
    in_rows: Levels,
    than: Levels,
) -> Finding:
    """The mean difference between two levels is larger in one group of rows than in another."""
    large, small = (
        estimate(_differences(_of(rows, group), metric, factor, str(of), str(minus)))
        for group in (in_rows, than)
    )
    names = [_group_name(group) for group in (in_rows, than)]
    return Finding(
        verdict=_apart(large, small),
        evidence=f"{metric}, {of} less {minus}: {names[0]} {_text(large, '+.3f')},"
        f" {names[1]} {_text(small, '+.3f')}",
    )


def mean_larger(
    rows: Rows, *, metric: str, in_rows: Levels, than: Levels, lossy: bool | None = None
) -> Finding:
    """The mean is larger in one group of rows than in another, their intervals apart."""
    groups = [_values(_of(rows, group, lossy), metric) for group in (in_rows, than)]
    for group in groups:
        _need(group, "rows of both groups")
    large, small = (estimate(group) for group in groups)
    names = [_group_name(group) for group in (in_rows, than)]
    text = f"{metric}: {names[0]} {_text(large)}, {names[1]} {_text(small)}"
    return Finding(verdict=_apart(large, small), evidence=text)


def window_fills_link(rows: Rows, *, where: Levels, within: float) -> Finding:
    """One source has window / round trip of the link, or all of it with a larger window."""
    means = _means(_of(rows, where), "efficiency")
    means.sort(key=lambda both: both[0].windows_cells)
    _need(means[1:], "two rows")
    worst, texts = 0.0, []
    for row, found in means:
        expected = min(1.0, row.windows_cells / row.path_cells)
        worst = max(worst, abs(found - expected))
        texts.append(f"{row.factors['window']} bytes {found:.3f} (expected {expected:.3f})")
    sides = {row.windows_cells >= row.path_cells for row, _ in means}
    _need([1] if len(sides) == 2 else [], "windows on both sides of the round trip")
    return Finding(verdict=_verdict(worst <= within), evidence=", ".join(texts))


def none_starves(rows: Rows, *, where: Levels, least_share: float) -> Finding:
    """Every source of every trial receives at least a part of an equal share, from the start."""
    chosen = _of(rows, where)
    _need(chosen, "such a row")
    least, name = min(
        (min(shares) * len(shares), row.name) for row in chosen for shares in row.shares
    )
    text = f"the least source has {least:.3f} of an equal share ({name})"
    return Finding(verdict=_verdict(least >= least_share), evidence=text)


def not_in_the_testbed(rows: Rows, *, lacks: str) -> Finding:
    """A sentence about what the testbed has not."""
    del rows
    return Finding(verdict=Verdict.UNDECIDED, evidence=f"not measured: {lacks}")


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        queue_is_sum_of_windows,
        queue_below_windows,
        no_loss_with_buffer,
        loss_without_buffer,
        grows,
        each_bounded,
        mean_bounded,
        share_below,
        gain,
        gain_larger,
        mean_larger,
        window_fills_link,
        none_starves,
        not_in_the_testbed,
    )
}
"""Names that `check` in `persistent_conclusions.toml` can have."""


def judge(rows: Rows, path: Path = CONCLUSIONS) -> tuple[tuple[Conclusion, Finding], ...]:
    """Every conclusion with its finding; what was not measured is undecided."""
    return tuple((one, one.on(rows)) for one in load(path, CHECKS, VOCABULARY))


def _of(rows: Rows, where: Levels, lossy: bool | None = None) -> list[Row]:
    return [row for row in rows if row.matches(where) and (lossy is None or lossy != row.lossless)]


def _with_queue(rows: Rows, where: Levels) -> list[Row]:
    """The rows chosen of which the queue's peak is known."""
    return [row for row in _of(rows, where) if row.values("peak_cells")]


def _values(rows: Iterable[Row], metric: str) -> list[float]:
    return [value for row in rows for value in row.values(metric)]


def _means(rows: Iterable[Row], metric: str) -> list[tuple[Row, float]]:
    """The rows that have the metric, each with its mean."""
    return [(row, mean) for row in rows if (mean := row.mean(metric)) is not None]


def _need(found: Sequence[object] | Mapping[str, object], what: str) -> None:
    if not found:
        raise NoEvidenceError(f"not measured: {what}")


def _differences(rows: Rows, metric: str, factor: str, of: str, minus: str) -> list[float]:
    """One difference a row and seed that both have; NoEvidenceError when nothing makes a pair."""
    by_seed = {
        (row.factors[factor], _without(row, factor), seed): value
        for row in rows
        for seed, value in row.metrics.get(metric, {}).items()
    }
    found = [
        value - by_seed[minus, others, seed]
        for (level, others, seed), value in by_seed.items()
        if level == of and (minus, others, seed) in by_seed
    ]
    _need(found, f"{of} and {minus} on the same row and seed")
    return found


def _without(row: Row, factor: str) -> frozenset[tuple[str, str]]:
    return frozenset(item for item in row.factors.items() if item[0] != factor)


def _bounded(found: Estimate, low: float | None, high: float | None) -> Verdict:
    if found.half_width is None:
        return Verdict.UNDECIDED
    return within_bounds(found.mean, found.half_width, low, high)


def _apart(first: Estimate, second: Estimate) -> Verdict:
    """Whether the first lies above the second, their intervals apart."""
    if first.half_width is None or second.half_width is None:
        return Verdict.UNDECIDED
    gap, needed = first.mean - second.mean, first.half_width + second.half_width
    if abs(gap) <= needed:
        return Verdict.UNDECIDED
    return _verdict(gap > 0)


def _verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


def _text(found: Estimate, form: str = ".3f") -> str:
    half = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:{form}}{half}"


def _limits(at_least: float | None, at_most: float | None) -> str:
    low = "" if at_least is None else f", at least {at_least:g}"
    return low + ("" if at_most is None else f", at most {at_most:g}")


def _group_name(levels: Levels) -> str:
    return " ".join("/".join(map(str, names)) for names in levels.values())
