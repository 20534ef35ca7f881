# SPDX-License-Identifier: GPL-2.0-only
"""The table of variants: each set of levels of some factors."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.cells import Cell, variant_name
from analysis.report.headings import Line, Lines, factor_column
from analysis.report.model import Column, Sheet
from analysis.report.results import Results
from analysis.statistics import estimate

ByCell = dict[tuple[str | None, ...], Cell]


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
