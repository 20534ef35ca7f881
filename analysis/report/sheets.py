# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a report, from computed results."""

from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import fmean

from analysis.anova import Anova, Component, Effect
from analysis.comparison import (
    RESPONSES,
    CellComparison,
    NetworkSummary,
    compare,
    estimate,
    summarise,
)
from analysis.records import Campaign, Trial
from analysis.report.model import Column, Sheet, Value
from analysis.report.results import Results

LARGE = 1000
"""From here on a metric's decimals tell nothing."""
TITLES = {"down": "To the clients", "up": "To the servers"}
Columns = list[Column]
Row = list[Value]
Rows = list[Row]


def summary(summaries: Sequence[NetworkSummary]) -> Sheet:
    """Distance to the paper by network and response."""
    columns = [
        Column(name="network", title="Network"),
        Column(name="response", title="Response"),
        Column(name="cells", title="Cells", form="d"),
        Column(name="mean_absolute_difference", title="Mean absolute difference", form=".4f"),
        Column(name="mean_difference", title="Mean difference", form="+.4f"),
        Column(name="largest_difference", title="Largest difference", form="+.4f"),
        Column(name="rank_correlation", title="Rank correlation", form=".3f"),
    ]
    rows: Rows = [[getattr(entry, c.name) for c in columns] for entry in summaries]
    return Sheet(
        name="summary",
        caption="Measured less published, over the cells of each network",
        columns=columns,
        rows=rows,
        heads=2,
    )


def cells(results: Results, network: str) -> Sheet:
    """One network's cells: mean, interval over the seeds, published value, difference."""
    columns = [
        Column(name="policy", title="Policy"),
        Column(name="flavor", title="Flavor"),
        Column(name="buffer_rtt", title="Buffer (RTT)"),
        Column(name="seeds", title="Seeds", form="d"),
        *chain.from_iterable(_cell_columns(response) for response in RESPONSES),
    ]
    by_response = [
        {(cell.policy, cell.flavor, cell.buffer): cell for cell in results.of(network, response)}
        for response in RESPONSES
    ]
    keys = sorted(
        dict.fromkeys(chain.from_iterable(by_response)), key=lambda key: _place(results, key)
    )
    rows: Rows = []
    for key in keys:
        found = [group.get(key) for group in by_response]
        seeds = max(cell.estimate.n for cell in found if cell is not None)
        rows.append([*key, seeds, *chain.from_iterable(map(_cell_values, found))])
    return Sheet(
        name=f"cells-{network.lower()}",
        caption=f"{network}: measured mean, half-width of its 95 % interval over the seeds, "
        "published value, difference",
        columns=columns,
        rows=rows,
        heads=3,
    )


def all_cells(campaign: Campaign) -> Sheet:
    """The cells of any design: mean and interval of the responses for each set of levels."""
    groups: dict[tuple[str | None, ...], list[Trial]] = {}
    for trial in campaign.trials:
        key = tuple(trial.factors.get(name) for name in campaign.factors)
        groups.setdefault(key, []).append(trial)
    rows: Rows = []
    for key, group in groups.items():
        row: Row = [*key, len(group)]
        for response in RESPONSES:
            row += _group_values(group, response)
        rows.append(row)
    columns = [Column(name=name, title=name.capitalize()) for name in campaign.factors]
    columns.append(Column(name="seeds", title="Seeds", form="d"))
    columns += chain.from_iterable(_cell_columns(response) for response in RESPONSES)
    return Sheet(
        name="cells",
        caption="Measured mean, half-width of its 95 % interval over the seeds, published value, "
        "difference",
        columns=columns,
        rows=rows,
        heads=len(campaign.factors),
    )


def _group_values(group: Sequence[Trial], response: str) -> Row:
    values = [value for t in group if (value := t.metrics.get(response)) is not None]
    if not values:
        return [None] * 4
    found = estimate(values)
    published = (group[0].document.get("paper") or {}).get(response)
    difference = None if published is None else found.mean - published
    return [found.mean, found.half_width, published, difference]


def _cell_columns(response: str) -> Columns:
    title = response.capitalize()
    return [
        Column(name=response, title=title, form=".4f"),
        Column(name=f"{response}_half_width", title="±", form=".4f"),
        Column(name=f"{response}_paper", title="Paper", form=".4f"),
        Column(name=f"{response}_difference", title="Difference", form="+.4f"),
    ]


def _cell_values(cell: CellComparison | None) -> Row:
    if cell is None:
        return [None] * 4
    return [cell.estimate.mean, cell.estimate.half_width, cell.paper, cell.difference]


def _place(results: Results, key: tuple[str, str, str]) -> tuple[int, ...]:
    factors = results.campaign.factors
    return tuple(
        factors[factor].index(level)
        for factor, level in zip(("policy", "flavor", "buffer"), key, strict=True)
    )


def allocation(results: Results, network: str) -> Sheet | None:
    """One network's allocation of variation beside the published; None without an ANOVA."""
    found = [_allocation_of(results, network, response) for response in RESPONSES]
    rows = [row for part in found for row in part]
    if not rows:
        return None
    columns = [
        Column(name="response", title="Response"),
        Column(name="component", title="Component"),
        Column(name="sum_of_squares", title="Sum of squares", form=".4f"),
        Column(name="percent", title="% of variation", form=".2f"),
        Column(name="paper_percent", title="Paper %", form=".2f"),
        Column(name="degrees_of_freedom", title="df", form="d"),
        Column(name="f", title="F", form=".2f"),
        Column(name="p", title="p", form=".2g"),
    ]
    return Sheet(
        name=f"anova-{network.lower()}",
        caption=f"{network}: allocation of variation "
        f"(error from {results.methods[-1].value}; paper: recomputed from its table of results)",
        columns=columns,
        rows=rows,
        heads=2,
    )


def _allocation_of(results: Results, network: str, response: str) -> Rows:
    anova = results.anova(network, response)
    if anova is None:
        return []
    published = results.published_anova(network, response)
    rows: Rows = [[response, "total", anova.total_variation, 100.0, 100.0, None, None, None]]
    if published is None:
        rows[0][4] = None
    for component in (*anova.components, anova.error):
        name = " × ".join(component.factors) or "error"
        rows.append(
            [
                response,
                name,
                component.sum_of_squares,
                component.percent,
                _published_percent(published, component),
                component.degrees_of_freedom,
                component.f,
                component.p,
            ]
        )
    return rows


def _published_percent(published: Anova | None, component: Component) -> float | None:
    if published is None:
        return None
    if not component.factors:
        return published.error.percent
    try:
        return published.component(*component.factors).percent
    except KeyError:  # an interaction that the paper's model leaves in the error
        return None


def effects(results: Results, network: str) -> Sheet | None:
    """One network's main effects and intervals beside the published; None without an ANOVA."""
    rows: Rows = []
    for response in RESPONSES:
        anova = results.anova(network, response)
        published = results.published_anova(network, response)
        for effect in anova.effects if anova else ():
            figures = [effect.effect, effect.low, effect.high]
            rows.append([response, *_names(effect), *figures, *_same_effect(published, effect)])
    if not rows:
        return None
    columns = [
        Column(name="response", title="Response"),
        Column(name="factor", title="Factor"),
        Column(name="level", title="Level"),
        Column(name="effect", title="Effect", form="+.4f"),
        Column(name="ci90_low", title="From", form="+.4f"),
        Column(name="ci90_high", title="To", form="+.4f"),
        Column(name="paper_effect", title="Paper", form="+.4f"),
        Column(name="paper_ci90_low", title="From", form="+.4f"),
        Column(name="paper_ci90_high", title="To", form="+.4f"),
    ]
    return Sheet(
        name=f"effects-{network.lower()}",
        caption=f"{network}: main effects with 90 % confidence intervals "
        "(paper: recomputed from its table of results)",
        columns=columns,
        rows=rows,
        heads=3,
    )


def _names(effect: Effect) -> Row:
    return [effect.factors[0], effect.levels[0]]


def _same_effect(published: Anova | None, effect: Effect) -> Row:
    if published is None:
        return [None] * 3
    try:
        found = published.effect(effect.factors[0], effect.levels[0])
    except KeyError:
        return [None] * 3
    return [found.effect, found.low, found.high]


def conclusions(results: Results) -> Sheet:
    """Every conclusion and its verdicts, for the CSV."""
    columns = [
        Column(name=name, title=name.capitalize())
        for name in ("id", "source", "sentence", "reading")
    ]
    for method in results.judgements:
        short = method.name.lower()
        columns += [
            Column(name=f"verdict_{short}", title=f"Verdict ({method.value})"),
            Column(name=f"evidence_{short}", title="Evidence"),
        ]
    rows: Rows = []
    for same in zip(*results.judgements.values(), strict=True):
        about = same[0].conclusion
        rows.append([about.id, about.source, about.sentence, about.reading])
        for judgement in same:
            rows[-1] += [judgement.finding.verdict.value, judgement.finding.evidence]
    return Sheet(name="conclusions", caption="Conclusions", columns=columns, rows=rows)


def variants(results: Results) -> Sheet:
    """Every variant: means by network, effect against the first, distance to the paper."""
    columns = [
        Column(name="variant", title="Variant"),
        Column(name="network", title="Network"),
        Column(name="cells", title="Cells", form="d"),
    ]
    for response in RESPONSES:
        columns += [
            Column(name=f"{response}_mean", title=f"{response.capitalize()}, mean", form=".4f"),
            Column(name=f"{response}_effect", title="Effect", form="+.4f"),
            Column(name=f"{response}_mad", title="From the paper", form=".4f"),
        ]
    first = next(iter(results.variants.values()))
    rows: Rows = []
    for name, trials in results.variants.items():
        for network in results.campaign.levels("network"):
            row = _variant_row(trials, first, network)
            if row is not None:
                rows.append([name, network, *row])
    return Sheet(
        name="variants",
        caption="Mean over the cells of each network that have a value; effect: less the first "
        "variant, over the cells that both have; from the paper: mean absolute difference",
        columns=columns,
        rows=rows,
        heads=2,
    )


def _variant_row(trials: Sequence[Trial], first: Sequence[Trial], network: str) -> Row | None:
    """A variant's figures in a network, over the cells that have each; None without any cell."""
    own = [_means(trials, network, response) for response in RESPONSES]
    cells = set(chain.from_iterable(own))
    if not cells:
        return None
    row: Row = [len(cells)]
    for response, means in zip(RESPONSES, own, strict=True):
        base = _means(first, network, response)
        shared = [means[key] - base[key] for key in means if key in base]
        near = summarise([cell for cell in compare(trials, response) if cell.network == network])
        row += [
            fmean(means.values()) if means else None,
            fmean(shared) if shared else None,
            near[0].mean_absolute_difference if near else None,
        ]
    return row


def _means(
    trials: Sequence[Trial], network: str, response: str
) -> dict[tuple[str, str, str], float]:
    return {
        (cell.flavor, cell.policy, cell.buffer): cell.estimate.mean
        for cell in compare(trials, response)
        if cell.network == network
    }


def trials(campaign: Campaign) -> Sheet:
    """Every trial that counts: its levels, seed, metrics and cost."""
    metrics = dict.fromkeys(chain.from_iterable(trial.metrics for trial in campaign.trials))
    columns = [
        Column(name="trial", title="Trial"),
        *(Column(name=name, title=name.capitalize()) for name in campaign.factors),
        Column(name="seed", title="Seed", form="d"),
        *(
            Column(
                name=name,
                title=metric_title(name),
                form=metric_form(trial.metrics.get(name) for trial in campaign.trials),
            )
            for name in metrics
        ),
        Column(name="virtual_s", title="Virtual s", form=".1f"),
        Column(name="wall_s", title="Wall s", form=".1f"),
        Column(name="cpu_s", title="CPU s", form=".1f"),
    ]
    rows: Rows = [
        [
            trial.name,
            *(trial.factors.get(name) for name in campaign.factors),
            trial.seed,
            *(trial.metrics.get(name) for name in metrics),
            *(trial.document.get(name) for name in ("virtual_s", "wall_s", "cpu_s")),
        ]
        for trial in campaign.trials
    ]
    return Sheet(name="trials", caption="Trials that count", columns=columns, rows=rows)


def metric_form(values: Iterable[float | None]) -> str:
    """How a metric's numbers are written: counts and large values whole, others to 1e-4."""
    known = [value for value in values if value is not None]
    whole = all(value == round(value) or abs(value) >= LARGE for value in known)
    return ",.0f" if whole and any(abs(value) > 1 for value in known) else ".4f"


def metric_title(name: str) -> str:
    """A metric's name for a reader; its unit, when the name ends in one, in brackets."""
    for suffix, unit in (("_bit_per_s", "bit/s"), ("_bytes", "bytes"), ("_ns", "ns")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ').capitalize()} ({unit})"
    return name.replace("_", " ").capitalize()


def left_out(campaign: Campaign) -> Sheet | None:
    """Records that do not count, and why; None when there are none."""
    rows: Rows = []
    for trial in campaign.invalid:
        failed = ", ".join(
            f"{check.name}: {check.measured} {check.unit}, expected {check.expected}"
            + (f" ({check.why})" if check.why else "")
            for check in trial.checks
            if not check.ok
        )
        rows.append([trial.name, "invalid", failed or "marked invalid"])
    rows += [[trial.name, "superseded", "a newer record exists"] for trial in campaign.superseded]
    rows += [[name, "unreadable", reason] for name, reason in campaign.unreadable]
    if not rows:
        return None
    columns = [
        Column(name="trial", title="Trial"),
        Column(name="state", title="State"),
        Column(name="reason", title="Reason"),
    ]
    return Sheet(name="left-out", caption="Records that do not count", columns=columns, rows=rows)


def checks(trial: Trial) -> Sheet:
    """The fidelity checks of one trial."""
    columns = [
        Column(name="check", title="Check"),
        Column(name="verdict", title="Verdict"),
        Column(name="measured", title="Measured", form=",.9g"),
        Column(name="expected", title="Expected", form=",.9g"),
        Column(name="limit", title="Limit", form=",.9g"),
        Column(name="unit", title="Unit"),
    ]
    rows: Rows = [
        [
            check.name,
            "ok" if check.ok else "failed",
            *map(_plain, (check.measured, check.expected, check.limit)),
            check.unit,
        ]
        for check in trial.checks
    ]
    return Sheet(name=f"checks-{trial.name}", caption="Fidelity checks", columns=columns, rows=rows)


def counters(trial: Trial) -> Sheet | None:
    """What the queues counted, frames and cells, each way; None when not recorded."""
    ways = [
        way for way in ("down", "up") if "frames" in trial.document.get("queue", {}).get(way, {})
    ]
    columns = [
        Column(name="unit", title="Unit"),
        Column(name="counter", title="Counter"),
        *(Column(name=way, title=TITLES[way], form=",d") for way in ways),
    ]
    rows: Rows = []
    for unit in ("frames", "cells"):
        found = [trial.document["queue"][way].get(unit, {}) for way in ways]
        for name in dict.fromkeys(chain.from_iterable(found)):
            row: Row = [unit, name.replace("_", " "), *(counts.get(name) for counts in found)]
            rows.append(row)
    if not rows:
        return None
    return Sheet(
        name=f"queue-{trial.name}", caption="Queue counters", columns=columns, rows=rows, heads=2
    )


def _plain(value: object) -> Value:
    return value if value is None or isinstance(value, (int, float, str)) else str(value)
