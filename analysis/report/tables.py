# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a report, from computed results."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean

from analysis.anova import Anova, Component, Effect
from analysis.cells import Cell, Distance, variant_name
from analysis.omissions import NEWER
from analysis.records import CampaignRecords, FidelityCheck, Trial
from analysis.report import named as words
from analysis.report.model import Column, Sheet, Value
from analysis.report.results import Results
from analysis.statistics import estimate, quantiles
from analysis.study import NONE, Response, Study

COUNTS = {"timeouts", "retransmits", "peak_cells"}
"""Metrics that are whole numbers."""
LARGE = 1000
"""From here on a metric's decimals tell nothing."""
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Quantiles of a distribution that a table has."""
KIND_OF_ERROR = re.compile(r"^[A-Z]\w*(?:Error|Exception): ")
UNITS = ("frames", "cells")
DIRECTIONS = {"down": "To the clients", "up": "To the servers"}
DIFFERENCES = (
    Column(name="mean_absolute_difference", title="Mean absolute difference", form=".4f"),
    Column(name="mean_difference", title="Mean difference", form="+.4f"),
    Column(name="largest_difference", title="Largest difference", form="+.4f"),
)
"""Columns of what is measured less what was to be expected, over cells."""
Columns = list[Column]
Line = list[Value]
Lines = list[Line]


def distances(found: Sequence[Distance], study: Study) -> Sheet:
    """Distance to the source by response and level of `by`."""
    columns = [
        Column(name=study.by or "cells", title=(study.by or "combinations").capitalize()),
        Column(name="response", title="Response"),
        Column(name="cells", title="Combinations", form="d"),
        *DIFFERENCES,
        Column(name="rank_correlation", title="Rank correlation", form=".3f"),
    ]
    rows: Lines = [
        [one.group or "all", *(getattr(one, column.name) for column in columns[1:])]
        for one in found
    ]
    return Sheet(
        name="distances",
        caption="The measured value minus the published value, over the combinations",
        columns=columns,
        rows=rows,
        heads=2,
    )


def cells(results: Results, group: str) -> Sheet:
    """One level of `by`: each cell's means, intervals, published values, differences."""
    factors = [factor for factor in results.factors if factor != results.study.by]
    published = ", the published value, and the difference" if results.study.published else ""
    names = [one.name for one in results.study.means]
    found = [cell.estimate(name) for cell in results.every(group) for name in names]
    sure = any(one and one.half_width for one in found)
    interval = "± half of its 95 % interval" if sure else "without an interval"
    return Sheet(
        name=named("cells", group),
        caption=titled(group, f"the mean over the seeds, {interval}{published}"),
        columns=_cell_columns(results, factors),
        rows=[_cell_row(results, cell, factors) for cell in results.every(group)],
        heads=len(factors),
    )


def every_cell(results: Results) -> Sheet:
    """All cells of a campaign in one table, for the CSV, with all that was measured."""
    factors = results.factors
    columns, more = _cell_columns(results, factors), _further(results)
    columns += [Column(name=name, title=metric_title(name), form=".6g") for name in more]
    rows = [
        [*_cell_row(results, cell, factors), *map(cell.mean, more)] for cell in results.every_cell
    ]
    return Sheet(
        name="every-cell",
        caption="All combinations",
        columns=columns,
        rows=rows,
        heads=len(factors),
    )


def _further(results: Results) -> list[str]:
    """What was measured beside the responses."""
    measured = dict.fromkeys(chain.from_iterable(cell.metrics for cell in results.every_cell))
    return [name for name in measured if name not in {one.name for one in results.study.means}]


def _cell_columns(results: Results, factors: Sequence[str]) -> Columns:
    columns = [factor_column(results.study, factor, factors) for factor in factors]
    columns.append(Column(name="seeds", title="Seeds", form="d"))
    for response in results.study.means:
        columns += _measured_columns(response)
        columns += _published_columns(response) if results.study.published else []
    return columns


def factor_column(study: Study, factor: str, factors: Collection[str] = ()) -> Column:
    """The column of a factor's levels; factors: all of the table, so that no two look alike."""
    return Column(name=factor, title=heading(study, factor, factors))


def heading(study: Study, factor: str, factors: Collection[str] = ()) -> str:
    """One of several factors as the heading of a column."""
    return words.heading(factor, factors) if "." in factor else study.heading(factor)


def along(study: Study, factor: str, factors: Collection[str] = ()) -> str:
    """One of several factors as the label of an axis."""
    text = heading(study, factor, factors)
    return text if text == factor else text[:1].lower() + text[1:]


def _measured_columns(response: Response) -> Columns:
    name, form = response.name, response.form
    return [
        Column(name=name, title=response.title, form=form),
        Column(name=f"{name}_half_width", title="±", form=form),
    ]


def _published_columns(response: Response) -> Columns:
    name, form = response.name, response.form
    return [
        Column(name=f"{name}_published", title="Published", form=response.published),
        Column(name=f"{name}_difference", title="Difference", form=f"+{form}"),
    ]


def _cell_row(results: Results, cell: Cell, factors: Sequence[str]) -> Line:
    row: Line = [*(cell.levels.get(factor) for factor in factors), len(cell.trials)]
    for response in results.study.means:
        found, published = cell.estimate(response.name), cell.published.get(response.name)
        row += [found.mean, found.half_width] if found else [None, None]
        row += [published, cell.difference(response.name)] if results.study.published else []
    return row


def allocation(results: Results, group: str) -> Sheet | None:
    """Allocation of variation beside the published; None without an ANOVA."""
    rows = [row for one in results.study.means for row in _allocation_of(results, group, one.name)]
    if not rows:
        return None
    columns = [
        Column(name="response", title="Response"),
        Column(name="component", title="Component"),
        Column(name="sum_of_squares", title="Sum of squares", form=".4f"),
        Column(name="percent", title="% of variation", form=".2f"),
        Column(name="published_percent", title="Published %", form=".2f"),
        Column(name="degrees_of_freedom", title="Degrees of freedom", form="d"),
        Column(name="f", title="F", form=".2f"),
        Column(name="p", title="p", form=".2g"),
    ]
    return Sheet(
        name=named("anova", group),
        caption=titled(
            group,
            "the share of the variation that each factor explains (source of the error: "
            f"{results.methods[-1].value}; we computed the published shares from the source's "
            "table of results)",
        ),
        columns=columns,
        rows=rows,
        heads=2,
    )


def named(kind: str, group: str) -> str:
    """The name of a table or plot of one level of `by`."""
    return f"{kind}-{group.lower()}" if group else kind


def titled(group: str, text: str) -> str:
    """A caption that begins with the level of `by`, or else with a capital letter."""
    return f"{group}: {text}" if group else f"{text[:1].upper()}{text[1:]}"


def _allocation_of(results: Results, group: str, response: str) -> Lines:
    anova = results.anova(group, response)
    if anova is None:
        return []
    published = results.published_anova(group, response)
    whole = None if published is None else 100.0
    rows: Lines = [[response, "total", anova.total_variation, 100.0, whole, None, None, None]]
    rows += [
        [
            response,
            " × ".join(component.factors) or "error",
            component.sum_of_squares,
            component.percent,
            _published_percent(published, component),
            component.degrees_of_freedom,
            component.f,
            component.p,
        ]
        for component in (*anova.components, *([anova.block] if anova.block else []), anova.error)
    ]
    return rows


def _published_percent(published: Anova | None, component: Component) -> float | None:
    if published is None:
        return None
    if not component.factors:
        return published.error.percent
    try:
        return published.component(*component.factors).percent
    except KeyError:  # an interaction that the source's model leaves in the error
        return None


def effects(results: Results, group: str) -> Sheet | None:
    """Main effects and intervals beside the published; None without an ANOVA."""
    rows: Lines = []
    for response in results.study.means:
        anova = results.anova(group, response.name)
        published = results.published_anova(group, response.name)
        for effect in anova.effects if anova else ():
            figures = [effect.effect, effect.low, effect.high]
            names = [response.name, effect.factors[0], effect.levels[0]]
            rows.append([*names, *figures, *_same_effect(published, effect)])
    if not rows:
        return None
    columns = [
        Column(name="response", title="Response"),
        Column(name="factor", title="Factor"),
        Column(name="level", title="Level"),
        Column(name="effect", title="Effect", form="+.4f"),
        Column(name="ci90_low", title="From", form="+.4f"),
        Column(name="ci90_high", title="To", form="+.4f"),
        Column(name="published_effect", title="Published", form="+.4f"),
        Column(name="published_ci90_low", title="From", form="+.4f"),
        Column(name="published_ci90_high", title="To", form="+.4f"),
    ]
    return Sheet(
        name=named("effects", group),
        caption=titled(
            group,
            "the main effects with 90 % confidence intervals "
            "(we computed the published effects from the source's table of results)",
        ),
        columns=columns,
        rows=rows,
        heads=3,
    )


def _same_effect(published: Anova | None, effect: Effect) -> Line:
    try:
        found = published.effect(effect.factors[0], effect.levels[0]) if published else None
    except KeyError:
        found = None
    return [found.effect, found.low, found.high] if found else [None] * 3


def variants(results: Results, factors: Sequence[str], name: str = "variants") -> Sheet:
    """Each set of levels of some factors: means, effect, distance.

    The effect is against the first set of levels; where they are a path, against the one before.
    """
    study = results.study
    columns = [
        Column(name="variant", title="Variant"),
        *([factor_column(study, study.by)] if study.by else []),
        Column(name="cells", title="Combinations", form="d"),
        Column(name="shared_cells", title="Combinations of both", form="d"),
    ]
    for one in study.means:
        columns += [
            Column(name=f"{one.name}_mean", title=f"{one.title}, mean", form=one.form),
            Column(name=f"{one.name}_effect", title="Effect", form=f"+{one.form}"),
            Column(name=f"{one.name}_half_width", title="±", form=one.form),
            Column(name=f"{one.name}_distance", title="Distance from published", form=one.form),
        ]
    groups, stepwise = _by_variant(results, factors), [study.path] == list(factors)
    names = list(groups)
    bases = [names[0], *names[:-1]] if stepwise else [names[0]] * len(names)
    rows: Lines = [
        [variant, *([group] if study.by else []), *row]
        for variant, base in zip(names, bases, strict=True)
        for group in results.groups
        if (row := _variant_row(results, groups, variant, base, group)) is not None
    ]
    against = "the step before" if stepwise else "the first variant"
    return Sheet(
        name=name,
        caption="The mean is over the combinations that have a value. The effect is the difference "
        f"from {against}, over the combinations that both have, with its 95 % interval over these. "
        "The distance from the published values is the mean absolute difference.",
        columns=columns,
        rows=rows,
        heads=2 if study.by else 1,
    )


ByCell = dict[tuple[str | None, ...], Cell]


def _by_variant(results: Results, factors: Sequence[str]) -> dict[str, ByCell]:
    """Cells by their levels of some factors, then by those of all others."""
    known = {factor: results.campaign.levels(factor) for factor in factors}
    ordered = sorted(
        results.every_cell,
        key=lambda cell: [known[f].index(cell.levels[f]) for f in factors if f in cell.levels],
    )
    found: dict[str, ByCell] = {}
    for cell in ordered:
        others = tuple(cell.levels.get(f) for f in results.factors if f not in factors)
        found.setdefault(variant_name(cell.levels, factors), {})[others] = cell
    return found


def _variant_row(
    results: Results, groups: Mapping[str, ByCell], variant: str, first: str, group: str
) -> Line | None:
    """A variant's figures in a level of `by`; None without any cell that has one."""
    by, responses = results.study.by, [one.name for one in results.study.means]
    own, base = (
        {key: cell for key, cell in groups[name].items() if not by or cell.levels[by] == group}
        for name in (variant, first)
    )
    measured = [key for key, cell in own.items() if any(map(cell.values, responses))]
    if not measured:
        return None
    shared = [key for key in measured if key in base] if variant != first else []
    row: Line = [len(measured), len(shared) or None]
    for response in responses:
        means = [mean for key in measured if (mean := own[key].mean(response)) is not None]
        gains = [
            mean - less
            for key in shared
            if (mean := own[key].mean(response)) is not None
            and (less := base[key].mean(response)) is not None
        ]
        effect = estimate(gains) if gains else None
        away = [abs(d) for k in measured if (d := own[k].difference(response)) is not None]
        row += [
            _mean(means),
            effect.mean if effect else None,
            effect.half_width if effect else None,
            _mean(away),
        ]
    return row


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def quantiles_of(
    results: Results,
    response: Response,
    group: str,
    values: Mapping[str, Sequence[Sequence[float]]],
) -> Sheet:
    """Quantiles of a distribution in each cell (name -> its values, a sequence a seed)."""
    factors = [factor for factor in results.factors if factor != results.study.by]
    columns = [factor_column(results.study, factor, factors) for factor in factors]
    columns.append(Column(name="values", title="Values", form=",d"))
    for share in SHARES:
        name = f"q{100 * share:g}"
        columns += [
            Column(name=name, title=f"{100 * share:g} %", form=".4g"),
            Column(name=f"{name}_half_width", title="±", form=".2g"),
        ]
    rows: Lines = []
    for cell in results.every(group):
        seeds = values[cell.name]
        row: Line = [*(cell.levels.get(f) for f in factors), sum(map(len, seeds))]
        for one in quantiles(seeds, SHARES):
            row += [one.mean, one.half_width] if one else [None, None]
        rows.append(row)
    return Sheet(
        name=named(f"quantiles-{response.name}", group),
        caption=titled(
            group,
            f"the quantiles of {response.title.lower()}: the mean over the seeds with the "
            "half-width of its 95 % interval",
        ),
        columns=columns,
        rows=rows,
        heads=len(factors),
    )


def trials(campaign: CampaignRecords) -> Sheet:
    """Every trial that counts: its levels, seed, metrics that some trial has, and cost."""
    metrics = dict.fromkeys(
        name for trial in campaign.trials for name, value in trial.metrics.items()
        if value is not None
    )  # fmt: skip
    columns = [
        Column(name="trial", title="Trial"),
        *(factor_column(NONE, name, campaign.factors) for name in campaign.factors),
        Column(name="seed", title="Seed", form="d"),
        *(
            Column(
                name=name,
                title=metric_title(name),
                form=metric_form(name, (trial.metrics.get(name) for trial in campaign.trials)),
            )
            for name in metrics
        ),
        Column(name="virtual_s", title="Virtual s", form=".1f"),
        Column(name="wall_s", title="Wall s", form=".1f"),
        Column(name="cpu_s", title="CPU s", form=".1f"),
    ]
    rows: Lines = [
        [
            trial.name,
            *(trial.factors.get(name) for name in campaign.factors),
            trial.seed,
            *(trial.metrics.get(name) for name in metrics),
            *(trial.document.get(name) for name in ("virtual_s", "wall_s", "cpu_s")),
        ]
        for trial in campaign.trials
    ]
    return Sheet(name="trials", caption="The valid trials", columns=columns, rows=rows)


def metric_form(name: str, values: Iterable[float | None]) -> str:
    """How a metric's numbers are written: counts and large values whole, others to 1e-4."""
    if name in COUNTS:
        return ",.0f"
    known = [value for value in values if value is not None]
    whole = all(value == round(value) or abs(value) >= LARGE for value in known)
    return ",.0f" if whole and any(abs(value) > 1 for value in known) else ".4f"


def metric_forms(campaign: CampaignRecords) -> dict[str, str]:
    """How each metric is written: alike in the table of all trials and in the line of one."""
    names = {name for trial in campaign.trials for name in trial.metrics}
    return {
        name: metric_form(name, (trial.metrics.get(name) for trial in campaign.trials))
        for name in names
    }


def metric_title(name: str) -> str:
    """A metric's name for a reader; its unit, when the name ends in one, in brackets."""
    for suffix, unit in (("_bit_per_s", "bit/s"), ("_bytes", "bytes"), ("_ns", "ns")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ').capitalize()} ({unit})"
    return name.replace("_", " ").capitalize()


def left_out(campaign: CampaignRecords) -> Sheet | None:
    """Records that do not count, and why; None when there are none."""
    rows: Lines = []
    for trial in campaign.invalid:
        failed = ", ".join(_failure(check) for check in trial.checks if not check.ok)
        rows.append([trial.name, "invalid", failed or "marked invalid"])
    rows += [[trial.name, "superseded", NEWER] for trial in campaign.superseded]
    rows += [[name, "unreadable", reason] for name, reason in campaign.unreadable]
    rows += [[name, "other", reason] for name, reason in campaign.others]
    if not rows:
        return None
    columns = [
        Column(name="trial", title="Trial"),
        Column(name="state", title="State"),
        Column(name="reason", title="Reason"),
    ]
    return Sheet(
        name="left-out", caption="Records that the report leaves out", columns=columns, rows=rows
    )


def _failure(check: FidelityCheck) -> str:
    """What a failed check found, without Python's name for the kind of an error."""
    why = KIND_OF_ERROR.sub("", check.why)
    if check.measured is None:
        return f"{check.name}: could not be measured" + (f", because {why}" if why else "")
    found = f"{check.name}: {check.measured} {check.unit}, but {check.expected} was expected"
    return found + (f" ({why})" if why else "")


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
    rows: Lines = [
        [
            check.name,
            "ok" if check.ok else "failed",
            *map(_plain, (check.measured, check.expected, check.limit)),
            check.unit,
        ]
        for check in trial.checks
    ]
    return Sheet(
        name=f"checks-{trial.name}",
        caption="Checks of the trial; a check is ok if measured and expected differ by at most "
        "the limit",
        columns=columns,
        rows=rows,
    )


def counters(trial: Trial) -> Sheet | None:
    """What the queues counted, frames and cells, each way; None when not recorded."""
    ways = [
        way for way in ("down", "up") if "frames" in trial.document.get("queue", {}).get(way, {})
    ]
    columns = [
        Column(name="unit", title="Unit"),
        Column(name="counter", title="Counter"),
        *(Column(name=way, title=DIRECTIONS[way], form=",d") for way in ways),
    ]
    rows: Lines = []
    for unit in UNITS:
        found = [trial.document["queue"][way].get(unit, {}) for way in ways]
        for name in dict.fromkeys(chain.from_iterable(found)):
            row: Line = [unit, name.replace("_", " "), *(counts.get(name) for counts in found)]
            rows.append(row)
    if not rows:
        return None
    return Sheet(
        name=f"queue-{trial.name}",
        caption="Counters of the queues",
        columns=columns,
        rows=rows,
        heads=2,
    )


def counted(trial: Trial) -> Iterable[str]:
    """The names of what the queues of a trial counted."""
    ways = [of for way in DIRECTIONS if (of := trial.document.get("queue", {}).get(way))]
    return chain.from_iterable(of.get(unit, {}) for of in ways for unit in UNITS)


def _plain(value: object) -> Value:
    return value if value is None or isinstance(value, (int, float, str)) else str(value)
