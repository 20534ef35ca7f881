# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's report: which sections it has, and what stands in each."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from analysis.cells import Cell, variant_factors
from analysis.metrics import ABOVE_ONE
from analysis.records import CampaignRecords, Trial
from analysis.report import (
    anova_tables,
    answers,
    cell_tables,
    claim_tables,
    headings,
    link_tables,
    meanings,
    metric_words,
    named,
    plots,
    trial_plots,
    trial_tables,
    variant_tables,
)
from analysis.report.explore import explore
from analysis.report.glossary import QUIC, glossary
from analysis.report.model import (
    Explore,
    Gallery,
    Part,
    Plot,
    Report,
    Section,
    Source,
)
from analysis.report.pages import Pages, pages_of
from analysis.report.predictions import predictions
from analysis.report.results import Results, results_of
from analysis.report.standing import standing
from analysis.report.summary import known, subtitle, summary, without_record
from analysis.report.verdicts import verdicts
from analysis.study import Response, Study
from plan.plan import WORKLOADS

Listener = Callable[[str], None]

NO_SERIES = (
    "This trial recorded no tables over time, so it has no pictures. The keys "
    "record.queue_sample_ms, record.cwnd_sample_ms and record.throughput_sample_ms record them."
)
MOST_LINES = 10
"""More distribution functions than that have no look of their own (colour and style)."""
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
    stands = standing(campaign)
    claims = verdicts(results)
    return Report(
        title=str(campaign.document.get("title") or campaign.name),
        subtitle=subtitle(campaign, stands),
        sections=[
            *([missing] if (missing := without_record(campaign, stands)) else []),
            summary(results, study),
            *([_explore(found)] if (found := explore(results, drawn)) else []),
            *([_results(results, pages)] if campaign.trials else []),
            *([_anova(results)] if results.study.anova else []),
            *([claims] if claims and not results.partial else []),
            *([_variants(results)] if len(results.variants) > 1 else []),
            *([predicted] if (predicted := predictions(results)) else []),
            *own,
            _trials(campaign, drawn),
            *([claims] if claims and results.partial else []),
            *([words] if (words := _words(results)) else []),
            _making(campaign),
        ],
        files=[
            cell_tables.every_cell(results),
            *([claim_tables.claims(results)] if results.findings else []),
            *([claim_tables.claims_by_variant(results)] if len(results.by_variant) > 1 else []),
            *(make(results) for make in pages.files),
        ],
    )


def _above_one(results: Results) -> bool:
    return any(value > 1 for cell in results.every_cell for value in cell.values("efficiency"))


def _results(results: Results, pages: Pages) -> Section:
    about = [results.study.about] if results.study.about else []
    about += [ABOVE_ONE] if _above_one(results) else []
    about += [answers.ABOUT] if answers.distributions(results) else []
    if not results.study.by:
        parts = _group(results, pages, "") if results.every_cell else []
        return Section(id="cells", title="Results", paragraphs=about, parts=parts)
    sections = [
        Section(id=headings.named("cells", group), title=group, parts=_group(results, pages, group))
        for group in results.groups
    ]
    return Section(id="cells", title="Results", paragraphs=about, sections=sections)


def _group(results: Results, pages: Pages, group: str) -> list[Part]:
    """What stands of one level of `by`."""
    parts: list[Part] = []
    if results.study.means:
        parts.append(cell_tables.cells(results, group))
    if (links := link_tables.cells(results, group)) is not None:
        parts.append(links)
    for response in (*results.study.distributions, *answers.distributions(results)):
        parts += _distribution(results, response, group)
    for panel in pages.panels:
        parts += panel(results, group)
    return parts


def _distribution(results: Results, response: Response, group: str) -> list[Part]:
    values = {cell.name: _values(cell, response) for cell in results.every(group)}
    together = {name: list(itertools.chain(*seeds)) for name, seeds in values.items()}
    sheet = cell_tables.quantiles_of(results, response, group, values)
    if len(together) > MOST_LINES:
        return [sheet]
    return [sheet, Gallery(plots=[plots.distributions(results, response, group, together)])]


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
    found = [anova_tables.allocation(results, group), anova_tables.effects(results, group)]
    if found[0] is None:
        return None
    names = [one.name for one in results.study.means if results.anova(group, one.name)]
    effects = known(plots.effects(results, group, name) for name in names)
    interactions = [plot for name in names for plot in plots.interactions(results, group, name)]
    return Section(
        id=headings.named("anova", group) if group else "anova-all",
        title=group or "All combinations",
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
        "combinations of levels. The intervals of differences that are paired by seed use an error "
        "of their own."
        for name, anova in found.items()
        if anova and anova.spread and anova.spread.unlike
    ]
    if any(anova and anova.block for anova in found.values()):
        told.insert(
            0,
            "Each seed is a block: an amount that a seed adds to all combinations of levels does "
            "not count as error.",
        )
    return told


def _variants(results: Results) -> Section:
    factors = variant_factors(results.campaign, results.study)
    sheet = variant_tables.variants(results, factors)
    drawn = known(plots.variant_effects(results, sheet, one.name) for one in results.study.means)
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
            "Each point is a trial. Point at a point to see its trial. Press a point, or a "
            "number in the table below, to see the pictures of the trial."
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
    left_out = trial_tables.left_out(campaign)
    shown = [one for one in campaign.trials if one.name in drawn]
    forms = metric_words.metric_forms(campaign)
    sections = [_trial(one, drawn[one.name], forms, opened=one is shown[0]) for one in shown]
    text = "No trial is valid. The table says for each record why the report leaves it out."
    if shown:
        line = named.trial(shown[0].factors, shown[0].seed)
        text = (
            f"In report.html, each trial has a line below the table, such as “{line}”. Press a line"
            " to open or close the pictures and checks of this trial."
        )
    if len(drawn) < len(campaign.trials):
        text += " Only the first seed of each combination of levels has pictures."
    return Section(
        id="trials",
        title="Trials",
        paragraphs=[text],
        parts=[
            *([left_out] if left_out else []),
            *([trial_tables.trials(campaign)] if campaign.trials else []),
        ],
        sections=sections,
    )


def _plotted(campaign: CampaignRecords) -> list[Trial]:
    if len(campaign.trials) <= MOST_TRIALS:
        return list(campaign.trials)
    first: dict[tuple[tuple[str, str], ...], Trial] = {}
    for trial in campaign.trials:
        first.setdefault(tuple(sorted(trial.factors.items())), trial)
    return list(first.values())


def _trial(
    trial: Trial, drawn: Sequence[Plot], forms: Mapping[str, str], *, opened: bool = False
) -> Section:
    told = ", ".join(
        f"{metric_words.metric_title(name).lower()} {format(value, forms[name])}"
        for name, value in trial.metrics.items()
        if value is not None
    )
    counters, links = trial_tables.counters(trial), link_tables.links(trial)
    missing = [] if drawn else [NO_SERIES]
    return Section(
        id=f"trial-{trial.name}",
        title=named.trial(trial.factors, trial.seed),
        paragraphs=[f"{trial.name}: {told}.", *missing],
        parts=[
            *([Gallery(plots=drawn)] if drawn else []),
            *([links] if links else []),
            *([counters] if counters else []),
            trial_tables.checks(trial),
        ],
        folded=True,
        opened=opened,
    )


def _words(results: Results) -> Section | None:
    measured = dict.fromkeys(itertools.chain.from_iterable(c.metrics for c in results.every_cell))
    counted = dict.fromkeys(
        itertools.chain.from_iterable(map(trial_tables.counted, results.trials))
    )
    factors = [*meanings.factors(results.factors)]
    quic = any(WORKLOADS.name_of(one.plan.workload) in QUIC for one in results.trials)
    words = glossary(measured, counted, results.study.meanings, factors, quic=quic)
    checks = meanings.checks([*results.trials, *results.campaign.invalid])
    parts = [*([words] if results.campaign.trials else []), *([checks] if checks else [])]
    return Section(id="words", title="What the columns mean", parts=parts) if parts else None


def _making(campaign: CampaignRecords) -> Section:
    """Versions, wherever the trials agree, and the experiment file."""
    found = sets_of(trial.document.get("versions") for trial in campaign.trials)
    paragraphs = []
    if len(found) > 1:
        paragraphs.append(
            f"{len(found)} different sets of software versions ran these trials, so do not compare "
            "the trials as one experiment."
        )
    versions = [*map(_lines, found), *map(_of_receivers, receivers_of(campaign.trials))]
    parts: list[Part] = [Source(text="\n".join(versions))] if versions else []
    if campaign.document.get("text"):
        parts.append(Source(text=str(campaign.document["text"])))
    return Section(id="making", title="How it was made", paragraphs=paragraphs, parts=parts)


def receivers_of(trials: Iterable[Trial]) -> list[dict[str, object]]:
    """As sets_of(), of the receivers' lab in trials with lab.receiver_kernel."""
    labs = [trial.document.get("receivers") for trial in trials]
    return sets_of(lab.get("versions") for lab in labs if isinstance(lab, dict))


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


def _of_receivers(versions: dict[str, object]) -> str:
    return f"The receivers' lab (lab.receiver_kernel):\n{_lines(versions)}"
