# SPDX-License-Identifier: GPL-2.0-only
"""The section of a report that sets the measured cells against models of the same trials."""

from analysis.cells import group_of
from analysis.predictions import Against, against, mean_absolute_difference
from analysis.report.headings import DIFFERENCES, factor_column, named
from analysis.report.model import Column, Part, Section, Sheet, Value
from analysis.report.results import Results
from analysis.study import Prediction, Response


def predictions(results: Results) -> Section | None:
    """Each model by response and level of `by`, then cell by cell; None without any."""
    found = {
        (prediction.name, variant, group, response.name): against(
            [cell for cell in cells if group_of(cell, results.study) == group],
            prediction,
            response.name,
        )
        for prediction in results.study.predictions
        for variant, cells in results.variants.items()
        for group in results.groups
        for response in results.study.means
    }
    found = {key: of for key, of in found.items() if of}
    if not found:
        return None
    parts: list[Part] = [_summary(results, found)]
    parts += [
        sheet
        for prediction in results.study.predictions
        for group in results.groups
        if (sheet := _cells(results, prediction, group)) is not None
    ]
    text = (
        "A difference is the measured value minus the value that a model predicts, seed by seed, "
        "with the 95 % interval of the mean over the seeds. A model is no authority: if the "
        "interval of a combination of levels leaves out 0, the measurement or the model is wrong."
    )
    return Section(id="predictions", title="Predictions", paragraphs=[text], parts=parts)


Found = dict[tuple[str, str, str, str], tuple[Against, ...]]


def _summary(results: Results, found: Found) -> Sheet:
    several = len(results.variants) > 1
    columns = [
        Column(name="prediction", title="Prediction"),
        *([Column(name="variant", title="Variant")] if several else []),
        Column(name="group", title=(results.study.by or "combinations").capitalize()),
        Column(name="response", title="Response"),
        Column(name="cells", title="Combinations", form="d"),
        *DIFFERENCES,
        Column(name="apart", title="Combinations apart", form="d"),
    ]
    rows: list[list[Value]] = []
    for (name, variant, group, response), of in found.items():
        means = [one.difference.mean for one in of]
        apart = [one.apart for one in of if one.apart is not None]
        figures = [mean_absolute_difference(of), sum(means) / len(of), max(means, key=abs)]
        counted = sum(apart) if apart else None
        heads = [name, *([variant] if several else []), group or "all", response]
        rows.append([*heads, len(of), *figures, counted])
    return Sheet(
        name="predictions",
        caption="Differences over the combinations of levels; in a combination that is apart, the "
        "interval over the seeds leaves out 0",
        columns=columns,
        rows=rows,
        heads=4 if several else 3,
    )


def _cells(results: Results, prediction: Prediction, group: str) -> Sheet | None:
    factors = [factor for factor in results.factors if factor != results.study.by]
    columns = [factor_column(results.study, factor) for factor in factors]
    lines: dict[str, list[Value]] = {}
    for place, response in enumerate(results.study.means):
        columns += _columns(response)
        for one in against(results.every(group), prediction, response.name):
            heads = [one.cell.levels.get(factor) for factor in factors]
            line = lines.setdefault(one.cell.name, [*heads, *[None] * 3 * len(results.study.means)])
            begin = len(factors) + 3 * place
            figures = (one.predicted, one.difference.mean, one.difference.half_width)
            line[begin : begin + 3] = figures
    if not lines:
        return None
    return Sheet(
        name=named(f"predicted-{prediction.name}", group),
        caption=f"{group}{': ' if group else ''}{prediction.name}: the predicted mean, the "
        "measured value minus the predicted value, and the half-width of its 95 % interval",
        columns=columns,
        rows=list(lines.values()),
        heads=len(factors),
    )


def _columns(response: Response) -> list[Column]:
    name, form = response.name, response.form
    return [
        Column(name=f"{name}_predicted", title=response.title, form=form),
        Column(name=f"{name}_difference", title="Difference", form=f"+{form}"),
        Column(name=f"{name}_half_width", title="±", form=form),
    ]
