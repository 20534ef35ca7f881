# SPDX-License-Identifier: GPL-2.0-only
"""The tables of an analysis of variance, beside the published one."""

from analysis.anova import Anova, Component, Effect
from analysis.report.headings import Line, Lines, named, titled
from analysis.report.model import Column, Sheet
from analysis.report.results import Results


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
