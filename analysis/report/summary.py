# SPDX-License-Identifier: GPL-2.0-only
"""The first lines of a report: what became of the trials, and what they say in short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from analysis import omissions, replicates
from analysis.claims import Judged, Verdict
from analysis.records import CampaignRecords
from analysis.report import cell_tables, claim_tables, effects, full_queue, named, plots
from analysis.report.model import Gallery, Part, Plot, Section
from analysis.report.overview import overview
from analysis.report.results import Results
from analysis.report.standing import Standing, counted, how_to_run
from analysis.study import Study


def subtitle(campaign: CampaignRecords, standing: Standing) -> str:
    """The trials of a campaign in a few sentences, the last without its full stop."""
    seeds = len({trial.seed for trial in campaign.trials})
    virtual_s = sum(trial.document.get("virtual_s") or 0 for trial in campaign.trials)
    wall_s = sum(trial.document.get("wall_s") or 0 for trial in campaign.trials)
    left_out = len(list(omissions.left_out(campaign)))
    told = [
        f"Campaign {campaign.name}: {standing.sentence()}",
        f"This report is about {counted(len(campaign.trials), 'valid trial')} with "
        f"{counted(seeds, 'seed')}. Added up over the trials, they lasted {virtual_s:,.0f} s of "
        f"virtual time and took {wall_s:,.0f} s of real time"
        if campaign.trials
        else "No trial is valid",
        *([f"The report leaves out {counted(left_out, 'record')}"] if left_out else []),
    ]
    return ". ".join(told)


def without_record(campaign: CampaignRecords, standing: Standing) -> Section | None:
    """The trials that failed or are missing, and how to run them; None where there are none."""
    if standing.whole:
        return None
    return Section(
        id="without-record",
        title="Trials without a record",
        paragraphs=[how_to_run(campaign.folder, standing.under_way)],
        parts=[standing.sheet()],
    )


def summary(results: Results, study: Study) -> Section:
    """What the trials say in short, with its figures."""
    return Section(
        id="summary",
        title="Summary",
        paragraphs=in_short(results, study),
        parts=list(_figures(results)),
    )


def _figures(results: Results) -> Iterator[Part]:
    """How far the cells are from the source; of a part of a study its own figures come first."""
    compared = known(plots.scatter(results, one.name) for one in results.study.means)
    own = overview(results) if results.partial or not compared else []
    if own and results.partial:
        yield Gallery(plots=own)
    if results.distances:
        yield cell_tables.distances(results.distances, results.study)
    if sheet := claim_tables.one_draw(results):
        yield sheet
    if drawn := compared or (own if not results.partial else []):
        yield Gallery(plots=drawn)


def in_short(results: Results, study: Study) -> list[str]:
    """What the trials say, in sentences."""
    if not results.campaign.trials:
        return ["No trial is valid, so there is nothing to analyse yet."]
    told = [*_about(results, study), *([] if results.partial else _verdicts(results, study))]
    own = [*effects.sentences(results), *extremes(results), *full_queue.sentences(results)]
    own = [] if told and not results.partial else own
    same = sum(cell.one_record for cell in results.every_cell)
    no_replicates = [replicates.sentence(same, len(results.every_cell))] if same else []
    return [*told, *own, *no_replicates]


def _about(results: Results, study: Study) -> Iterator[str]:
    """Which trials the report is about, where it is not about all of them by the source."""
    if len(results.variants) > 1:
        name, cells = next(iter(results.variants.items()))
        yield (
            f"This report is about the variant {name} ({counted(len(cells), 'combination')} of "
            "levels). Only the tables of results and the section on variants have all variants."
        )
    if (study.claims or study.published) and study.cell and not results.study.cell:
        yield (
            f"This campaign does not have the design of {study.source}. Therefore the report has "
            "no analysis of variance and does not test the claims of that source."
        )
    elif study.published and not results.distances:
        yield "The source has no published value for any trial of this campaign."


def _verdicts(results: Results, study: Study) -> Iterator[str]:
    """How many claims of the source hold, have their direction, and have their size."""
    for method, findings in results.findings.items():
        counts = _counts(finding for _, finding in findings)
        yield (
            f"We tested {len(findings)} claims of {study.source} (source of the error: "
            f"{method.value}): {counts}."
        )
    sharpest = [found for _, found in [*results.findings.values()][-1]] if results.findings else []
    told = {
        "claims say in which direction figures differ": [
            one for found in sharpest if (one := found.direction)
        ],
        "claims have published figures, whose size was compared": [
            o for found in sharpest if (o := found.size)
        ],
    }
    yield from (f"{len(some)} {what}: {_counts(some)}." for what, some in told.items() if some)


def _counts(judged: Iterable[Judged]) -> str:
    counts = dict.fromkeys(Verdict, 0)
    for one in judged:
        counts[one.verdict] += 1
    return ", ".join(f"{verdict.value} {number}" for verdict, number in counts.items() if number)


def extremes(results: Results) -> list[str]:
    """Of each response the least and the greatest mean, and whose they are."""
    told = []
    several = any(len(cell.trials) > 1 for cell in results.cells)
    for response in results.study.means:
        means = ((cell.mean(response.name), cell) for cell in results.cells)
        known = [(mean, cell) for mean, cell in means if mean is not None]
        if not known:
            continue
        (least, first), (most, last) = (pick(known, key=itemgetter(0)) for pick in (min, max))
        low, high = (format(mean, response.form) for mean in (least, most))
        what = f"The mean {response.title.lower()}" if several else response.title
        if len(known) == 1:
            place = named.levels(first.levels)
            told.append(f"{what} is {low}{f' ({place})' if place else ''}.")
        elif low == high:
            told.append(f"{what} is {low} in all combinations of levels.")
        else:
            told.append(
                f"{what} lies between {low} ({named.levels(first.levels)}) and {high}"
                f" ({named.levels(last.levels)})."
            )
    return told


def known(drawn: Iterable[Plot | None]) -> Sequence[Plot]:
    """Those plots that could be drawn."""
    return [plot for plot in drawn if plot is not None]
