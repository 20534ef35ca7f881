# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's report: which sections it has, and what stands in each."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter

from analysis import omissions, replicates
from analysis.cells import Cell, variant_factors
from analysis.claims import Claim, Finding, Judged, Method, Verdict
from analysis.metrics import ABOVE_ONE
from analysis.records import CampaignRecords, Trial
from analysis.report import claim_tables, effects, plots, tables, trial_plots
from analysis.report.explore import explore
from analysis.report.glossary import glossary
from analysis.report.model import (
    Claims,
    ClaimText,
    Explore,
    Gallery,
    Part,
    Plot,
    Report,
    Section,
    Source,
)
from analysis.report.overview import overview
from analysis.report.pages import Pages, pages_of
from analysis.report.predictions import predictions
from analysis.report.results import Results, results_of
from analysis.study import Response, Study

Listener = Callable[[str], None]

NO_SERIES = (
    "This trial recorded no tables over time, so it has no pictures. The keys "
    "record.queue_sample_ms, record.cwnd_sample_ms and record.throughput_sample_ms record them."
)
MOST_TRIALS = 100
"""Above this many trials only the first seed of each cell is plotted."""


def build(
    campaign: CampaignRecords,
    study: Study,
    listener: Listener = lambda _: None,
    *,
    draw: bool = True,
) -> Report:
    """The whole report; `listener` is told what is being made. draw: the trials' plots, too."""
    listener("tables")
    results = results_of(campaign, study, pages_of(study).checks)
    pages = pages_of(results.study)
    own = [section for page in pages.sections if (section := page(results)) is not None]
    drawn = _drawn(campaign, listener) if draw else {}
    return Report(
        title=str(campaign.document.get("title") or campaign.name),
        subtitle=_subtitle(campaign),
        sections=[
            _summary(results, study),
            *([_explore(found)] if (found := explore(results, drawn)) else []),
            _results(results, pages),
            *([_anova(results)] if results.study.anova else []),
            *([_claims(results)] if results.findings else []),
            *([_variants(results)] if len(results.variants) > 1 else []),
            *([predicted] if (predicted := predictions(results)) else []),
            *own,
            _trials(campaign, drawn),
            _words(results),
            _making(campaign),
        ],
        files=[
            tables.every_cell(results),
            *([claim_tables.claims(results)] if results.findings else []),
            *([claim_tables.claims_by_variant(results)] if len(results.by_variant) > 1 else []),
            *(make(results) for make in pages.files),
        ],
    )


def _subtitle(campaign: CampaignRecords) -> str:
    seeds = len({trial.seed for trial in campaign.trials})
    virtual_s = sum(trial.document.get("virtual_s") or 0 for trial in campaign.trials)
    wall_s = sum(trial.document.get("wall_s") or 0 for trial in campaign.trials)
    left_out = len(list(omissions.left_out(campaign)))
    return (
        f"The campaign {campaign.name} has {_count(len(campaign.trials), 'trial')} with "
        f"{_count(seeds, 'seed')}. The trials lasted {virtual_s:,.0f} s of virtual time and took "
        f"{wall_s:,.0f} s of real time. The report leaves out {_count(left_out, 'record')}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _summary(results: Results, study: Study) -> Section:
    drawn = _known(plots.scatter(results, one.name) for one in results.study.means)
    drawn = drawn or overview(results)
    return Section(
        id="summary",
        title="Summary",
        paragraphs=_in_short(results, study),
        parts=[
            *([tables.distances(results.distances, study)] if results.distances else []),
            *([sheet] if (sheet := claim_tables.one_draw(results)) else []),
            *([Gallery(plots=drawn)] if drawn else []),
        ],
    )


def _in_short(results: Results, study: Study) -> list[str]:
    if not results.campaign.trials:
        return ["No trial is valid, so there is nothing to analyse yet."]
    told = []
    if len(results.variants) > 1:
        name, cells = next(iter(results.variants.items()))
        told.append(
            f"This report is about the variant {name} ({_count(len(cells), 'cell')}). Only the "
            "tables of cells and the section on variants have all variants."
        )
    if study.cell and not results.study.cell:
        told.append(
            f"This campaign does not have the design of {study.source}. Therefore the report has "
            "no analysis of variance and does not test the claims of that source."
        )
    elif study.published and not results.distances:
        told.append("The source has no published value for any trial of this campaign.")
    for method, findings in results.findings.items():
        counts = _counts(finding for _, finding in findings)
        told.append(
            f"We tested {len(findings)} claims of {study.source} (source of the error: "
            f"{method.value}): {counts}."
        )
    told += _directions_and_sizes(results)
    same = sum(cell.one_record for cell in results.every_cell)
    no_replicates = [replicates.sentence(same, len(results.every_cell))] if same else []
    return [*(told or [*_extremes(results), *effects.sentences(results)]), *no_replicates]


def _directions_and_sizes(results: Results) -> list[str]:
    """How many claims have the direction that they say, and the size that is published."""
    sharpest = [found for _, found in [*results.findings.values()][-1]] if results.findings else []
    told = {
        "claims say in which direction figures differ": [
            one for found in sharpest if (one := found.direction)
        ],
        "claims have published figures, whose size was compared": [
            o for found in sharpest if (o := found.size)
        ],
    }
    return [f"{len(some)} {what}: {_counts(some)}." for what, some in told.items() if some]


def _counts(judged: Iterable[Judged]) -> str:
    counts = dict.fromkeys(Verdict, 0)
    for one in judged:
        counts[one.verdict] += 1
    return ", ".join(f"{verdict.value} {number}" for verdict, number in counts.items() if number)


def _extremes(results: Results) -> list[str]:
    """Of each response the least and the greatest mean, and whose they are."""
    told = []
    for response in results.study.means:
        means = ((cell.mean(response.name), cell) for cell in results.cells)
        known = [(mean, cell) for mean, cell in means if mean is not None]
        if not known:
            continue
        (least, first), (most, last) = (pick(known, key=itemgetter(0)) for pick in (min, max))
        low, high = (format(mean, response.form) for mean in (least, most))
        if len(known) == 1:
            told.append(f"{response.title} is {low} ({first.name}).")
        elif low == high:
            told.append(f"{response.title} is {low} in all cells.")
        else:
            told.append(
                f"{response.title} lies between {low} ({first.name}) and {high} ({last.name})."
            )
    return told


def _known(drawn: Iterable[Plot | None]) -> list[Plot]:
    return [plot for plot in drawn if plot is not None]


def _above_one(results: Results) -> bool:
    return any(value > 1 for cell in results.every_cell for value in cell.values("efficiency"))


def _results(results: Results, pages: Pages) -> Section:
    about = [results.study.about] if results.study.about else []
    about += [ABOVE_ONE] if _above_one(results) else []
    if not results.study.by:
        parts = _group(results, pages, "") if results.every_cell else []
        return Section(id="cells", title="Results", paragraphs=about, parts=parts)
    sections = [
        Section(id=tables.named("cells", group), title=group, parts=_group(results, pages, group))
        for group in results.groups
    ]
    return Section(id="cells", title="Results", paragraphs=about, sections=sections)


def _group(results: Results, pages: Pages, group: str) -> list[Part]:
    """What stands of one level of `by`."""
    parts: list[Part] = []
    if results.study.means:
        parts.append(tables.cells(results, group))
    for response in results.study.distributions:
        parts += _distribution(results, response, group)
    for panel in pages.panels:
        parts += panel(results, group)
    return parts


def _distribution(results: Results, response: Response, group: str) -> list[Part]:
    values = {cell.name: _values(cell, response) for cell in results.every(group)}
    together = {name: list(itertools.chain(*seeds)) for name, seeds in values.items()}
    drawn = plots.distributions(results, response, group, together)
    return [tables.quantiles_of(results, response, group, values), Gallery(plots=[drawn])]


def _values(cell: Cell, response: Response) -> list[Sequence[float]]:
    """All values of a distribution, a sequence a seed; none of a trial without its tables."""
    recorded = [trial for trial in cell.trials if trial.folder.is_dir()]
    found = [response.of(trial) for trial in recorded] if response.of else []
    return [values for values in found if isinstance(values, Sequence)]


def _anova(results: Results) -> Section:
    sections = [section for group in results.groups if (section := _anova_of(results, group))]
    text = (
        f"The analysis follows Jain 1991, chapters 20 to 23, and its intervals are 90 % intervals. "
        f"The source of the error is: {results.methods[-1].value}. If the intervals of two levels "
        "overlap, the analysis cannot tell these levels apart."
    )
    if not sections:
        text = "Some combinations of levels have no trial yet, so there is no analysis."
    return Section(id="anova", title="Analysis of variance", paragraphs=[text], sections=sections)


def _anova_of(results: Results, group: str) -> Section | None:
    found = [tables.allocation(results, group), tables.effects(results, group)]
    if found[0] is None:
        return None
    names = [one.name for one in results.study.means if results.anova(group, one.name)]
    effects = _known(plots.effects(results, group, name) for name in names)
    interactions = [plot for name in names for plot in plots.interactions(results, group, name)]
    return Section(
        id=tables.named("anova", group) if group else "anova-all",
        title=group or "All cells",
        paragraphs=_errors(results, group, names),
        parts=[
            *(sheet for sheet in found if sheet is not None),
            Gallery(plots=effects),
            Gallery(plots=interactions),
        ],
    )


def _errors(results: Results, group: str, responses: Sequence[str]) -> list[str]:
    """Where one error for all cells is wrong, and what seeds add to all of them."""
    found = {name: results.anova(group, name) for name in responses}
    told = [
        f"{name.capitalize()}: {anova.spread}. The intervals of the effects use one error for all "
        "cells. The intervals of differences that are paired by seed use an error of their own."
        for name, anova in found.items()
        if anova and anova.spread and anova.spread.unlike
    ]
    if any(anova and anova.block for anova in found.values()):
        told.insert(
            0,
            "Each seed is a block: an amount that a seed adds to all cells does not count as "
            "error.",
        )
    return told


def _claims(results: Results) -> Section:
    groups: dict[str, list[ClaimText]] = {}
    for same in zip(*results.findings.values(), strict=True):
        groups.setdefault(same[0][0].heading, []).append(_claim(same, list(results.findings)))
    return Section(
        id="claims",
        title=f"Claims of {results.study.source}",
        paragraphs=[
            f"The list has each sentence, its place in {results.study.source}, and our verdicts. A "
            "verdict is undecided if we did not measure the cells, or if the intervals allow both "
            "answers. The verdict on the direction asks whether each difference lies on the side "
            "of 0 that the sentence says, by intervals paired by seed. The verdict on the size "
            "asks whether one of our seeds could have given the published figures (by the 95 % "
            "prediction interval of one trial)."
        ],
        parts=[Claims(claims=groups.pop(""))] if "" in groups else [],
        sections=[
            Section(id=f"claims-{place}", title=heading, parts=[Claims(claims=some)])
            for place, (heading, some) in enumerate(groups.items(), 1)
        ],
    )


def _claim(same: Sequence[tuple[Claim, Finding]], methods: Sequence[Method]) -> ClaimText:
    about, sharpest = same[-1]
    both = (("direction", sharpest.direction), ("size", sharpest.size))
    return ClaimText(
        sentence=about.sentence,
        source=about.source,
        reading=about.reading,
        verdicts=[
            (method.value, finding.verdict.value, finding.evidence)
            for method, (_, finding) in zip(methods, same, strict=True)
        ]
        + [(kind, one.verdict.value, one.evidence) for kind, one in both if one],
    )


def _variants(results: Results) -> Section:
    factors = variant_factors(results.campaign, results.study)
    sheet = tables.variants(results, factors)
    drawn = _known(plots.variant_effects(results, sheet, one.name) for one in results.study.means)
    verdicts = [claim_tables.verdicts_by_variant(results)] if len(results.by_variant) > 1 else []
    return Section(
        id="variants",
        title="Variants",
        parts=[sheet, *([Gallery(plots=drawn)] if drawn else []), *verdicts],
    )


def _explore(part: Explore) -> Section:
    return Section(
        id="explore",
        title="Trial by trial",
        paragraphs=[
            "Each point is a trial. Point at a point to see its trial. Press a point, or a cell of "
            "the table below, to see the pictures of the trial."
        ],
        parts=[part],
    )


def _drawn(campaign: CampaignRecords, listener: Listener) -> dict[str, Sequence[Plot]]:
    """The plots of those trials that are drawn, by the trial's name."""
    chosen = _plotted(campaign)
    drawn: dict[str, Sequence[Plot]] = {}
    for place, trial in enumerate(chosen, start=1):
        listener(f"trial {place} of {len(chosen)}")
        drawn[trial.name] = trial_plots.plots(trial)
    return drawn


def _trials(campaign: CampaignRecords, drawn: Mapping[str, Sequence[Plot]]) -> Section:
    left_out = tables.left_out(campaign)
    shown = [one for one in campaign.trials if one.name in drawn]
    sections = [_trial(one, drawn[one.name], opened=one is shown[0]) for one in shown]
    text = "Press the name of a trial below the table to open or close its pictures and checks."
    if len(drawn) < len(campaign.trials):
        text += " Only the first seed of each cell has pictures."
    return Section(
        id="trials",
        title="Trials",
        paragraphs=[text],
        parts=[*([left_out] if left_out else []), tables.trials(campaign)],
        sections=sections,
    )


def _plotted(campaign: CampaignRecords) -> list[Trial]:
    if len(campaign.trials) <= MOST_TRIALS:
        return list(campaign.trials)
    first: dict[tuple[tuple[str, str], ...], Trial] = {}
    for trial in campaign.trials:
        first.setdefault(tuple(sorted(trial.factors.items())), trial)
    return list(first.values())


def _in_words(trial: Trial) -> str:
    """A trial by its levels and seed."""
    levels = (f"{factor} {level}" for factor, level in trial.factors.items())
    return ", ".join((*levels, f"seed {trial.seed}"))


def _trial(trial: Trial, drawn: Sequence[Plot], *, opened: bool = False) -> Section:
    told = ", ".join(
        f"{tables.metric_title(name).lower()} {format(value, tables.metric_form([value]))}"
        for name, value in trial.metrics.items()
        if value is not None
    )
    counters = tables.counters(trial)
    missing = [] if drawn else [NO_SERIES]
    return Section(
        id=f"trial-{trial.name}",
        title=_in_words(trial),
        paragraphs=[f"{trial.name}: {told}.", *missing],
        parts=[
            *([Gallery(plots=drawn)] if drawn else []),
            *([counters] if counters else []),
            tables.checks(trial),
        ],
        folded=True,
        opened=opened,
    )


def _words(results: Results) -> Section:
    measured = dict.fromkeys(itertools.chain.from_iterable(c.metrics for c in results.every_cell))
    return Section(id="words", title="What the columns mean", parts=[glossary(measured)])


def _making(campaign: CampaignRecords) -> Section:
    """Versions, wherever the trials agree, and the experiment file."""
    found = sets_of(trial.document.get("versions") for trial in campaign.trials)
    paragraphs = []
    if len(found) > 1:
        paragraphs.append(
            f"{len(found)} different sets of software versions ran these trials, so do not compare "
            "the trials as one experiment."
        )
    versions = "\n".join(map(_lines, found))
    parts: list[Part] = [Source(text=versions)]
    if campaign.document.get("text"):
        parts.append(Source(text=str(campaign.document["text"])))
    return Section(id="making", title="How it was made", paragraphs=paragraphs, parts=parts)


def sets_of(versions: Iterable[object]) -> list[dict[str, object]]:
    """Versions that contradict each other; what a trial had no use for, it says nothing of."""
    found: list[dict[str, object]] = []
    for one in versions:
        known = one if isinstance(one, dict) else {}
        like = next((x for x in found if all(x.get(n, v) == v for n, v in known.items())), None)
        if like is None:
            found.append(dict(known))
        else:
            like |= known
    return found


def _lines(versions: dict[str, object]) -> str:
    if not versions:
        return "The trials recorded no versions."
    return "\n".join(f"{name}: {value}" for name, value in versions.items())
