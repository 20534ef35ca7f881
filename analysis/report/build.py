# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's report: which sections it has, and what stands in each."""

import json
from collections.abc import Callable, Sequence

from analysis.comparison import RESPONSES
from analysis.conclusions import Judgement
from analysis.persistent import is_persistent
from analysis.records import Campaign, Trial
from analysis.report import persistent, plots, sheets, trial_plots
from analysis.report.model import Claim, Claims, Gallery, Report, Section, Sheet, Source
from analysis.report.results import Results, results_of
from analysis.verdicts import Verdict

Listener = Callable[[str], None]

GROUPS = {"wan": "WAN", "meo": "MEO", "geo": "GEO", "overall": "Over the networks"}
"""Heading of the conclusions whose id begins so."""
MOST_TRIALS = 100
"""Above this many trials only the first seed of each cell is plotted."""


def build(campaign: Campaign, listener: Listener = lambda _: None) -> Report:
    """The whole report; `listener` is told what is being made."""
    listener("tables")
    sections, files = _of_design(campaign)
    return Report(
        title=str(campaign.document.get("title") or campaign.name),
        subtitle=_subtitle(campaign),
        sections=[*sections, _trials(campaign, listener), _making(campaign)],
        files=files,
    )


def _of_design(campaign: Campaign) -> tuple[list[Section], list[Sheet]]:
    """What the campaign's design says: sections, and the tables that go to CSV only."""
    if is_persistent(campaign):
        found = persistent.persistent_of(campaign)
        return persistent.sections(found), persistent.files(found)
    results = results_of(campaign)
    sections = [
        _summary(results),
        *([_results(results), _anova(results)] if results.cells else [_all_cells(campaign)]),
        *([_conclusions(results)] if results.judgements else []),
        *([_variants(results)] if len(results.variants) > 1 else []),
    ]
    return sections, [sheets.conclusions(results)] if results.judgements else []


def _subtitle(campaign: Campaign) -> str:
    seeds = len({trial.seed for trial in campaign.trials})
    virtual_s = sum(trial.document.get("virtual_s") or 0 for trial in campaign.trials)
    wall_s = sum(trial.document.get("wall_s") or 0 for trial in campaign.trials)
    left_out = len(campaign.invalid) + len(campaign.superseded) + len(campaign.unreadable)
    return (
        f"Campaign {campaign.name}: {_count(len(campaign.trials), 'trial')} of "
        f"{_count(seeds, 'seed')}, {virtual_s:,.0f} virtual s in {wall_s:,.0f} s of labs' wall "
        f"time; {_count(left_out, 'record')} left out"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _summary(results: Results) -> Section:
    paragraphs = []
    if len(results.variants) > 1:
        name, trials = next(iter(results.variants.items()))
        paragraphs.append(
            f"All but the section on variants is about the variant {name} "
            f"({_count(len(trials), 'trial')})."
        )
    if not results.campaign.trials:
        paragraphs.append("No trial is valid: there is nothing to analyse yet.")
        return Section(id="summary", title="In short", paragraphs=paragraphs)
    if not results.compared:
        paragraphs.append(
            "This campaign is not of 98-0876R1's design, so its cells stand as they are: no "
            "analysis of variance, and none of that paper's conclusions."
            if not results.cells
            else "No trial of this campaign has a published value to compare with."
        )
        return Section(id="summary", title="In short", paragraphs=paragraphs)
    for method, judgements in results.judgements.items():
        counts = dict.fromkeys(Verdict, 0)
        for judgement in judgements:
            counts[judgement.finding.verdict] += 1
        told = ", ".join(f"{verdict.value} {number}" for verdict, number in counts.items())
        paragraphs.append(
            f"The paper's {len(judgements)} conclusions (error from {method.value}): {told}."
        )
    drawn = [plots.scatter(results.cells, results.summaries, name) for name in RESPONSES]
    return Section(
        id="summary",
        title="In short",
        paragraphs=paragraphs,
        parts=[
            sheets.summary(results.summaries),
            Gallery(plots=[plot for plot in drawn if plot is not None]),
        ],
    )


def _results(results: Results) -> Section:
    sections = []
    for network in results.networks:
        galleries = [
            Gallery(plots=plots.heat_maps(results, network, response))
            for response in RESPONSES
            if results.of(network, response)
        ]
        sections.append(
            Section(
                id=f"cells-{network.lower()}",
                title=network,
                parts=[sheets.cells(results, network), *galleries],
            )
        )
    text = (
        "Efficiency is the sum of the clients' throughputs over the link's maximum TCP "
        "throughput; fairness is Jain's index over throughput / max-min fair share "
        "(98-0876R1, section 7)."
    )
    return Section(id="cells", title="Results", paragraphs=[text], sections=sections)


def _all_cells(campaign: Campaign) -> Section:
    return Section(id="cells", title="Results", parts=[sheets.all_cells(campaign)])


def _anova(results: Results) -> Section:
    sections = [section for n in results.networks if (section := _anova_of(results, n))]
    text = (
        f"As in 98-0876R1, section 8.1 (Jain 1991). The error is taken from "
        f"{results.methods[-1].value}. Intervals of two levels that overlap do not tell them apart."
    )
    if not sections:
        text = "No network has every combination of its levels, so there is no analysis yet."
    return Section(id="anova", title="Analysis of variance", paragraphs=[text], sections=sections)


def _anova_of(results: Results, network: str) -> Section | None:
    tables = [sheets.allocation(results, network), sheets.effects(results, network)]
    if tables[0] is None:
        return None
    effect_plots = [plots.effects(results, network, response) for response in RESPONSES]
    interactions = [
        plot
        for response in RESPONSES
        if results.of(network, response)
        for plot in plots.interactions(results, network, response)
    ]
    return Section(
        id=f"anova-{network.lower()}",
        title=network,
        parts=[
            *(table for table in tables if table is not None),
            Gallery(plots=[plot for plot in effect_plots if plot is not None]),
            Gallery(plots=interactions),
        ],
    )


def _conclusions(results: Results) -> Section:
    sections = []
    together = list(zip(*results.judgements.values(), strict=True))
    for prefix, title in GROUPS.items():
        group = [same for same in together if same[0].conclusion.id.startswith(f"{prefix}-")]
        claims = Claims(claims=[_claim(same) for same in group])
        sections.append(Section(id=f"conclusions-{prefix}", title=title, parts=[claims]))
    return Section(
        id="conclusions",
        title="The paper's conclusions",
        paragraphs=[
            "Each published sentence with its section in 98-0876R1, and what the measured cells "
            "say of it. Undecided: not measured, or the intervals allow both."
        ],
        sections=sections,
    )


def _claim(same: Sequence[Judgement]) -> Claim:
    about = same[0].conclusion
    return Claim(
        sentence=about.sentence,
        source=about.source,
        reading=about.reading,
        verdicts=[(j.method.value, j.finding.verdict.value, j.finding.evidence) for j in same],
    )


def _variants(results: Results) -> Section:
    sheet = sheets.variants(results)
    drawn = [plots.variant_effects(results, sheet, response) for response in RESPONSES]
    gallery = Gallery(plots=[plot for plot in drawn if plot is not None])
    return Section(id="variants", title="Variants", parts=[sheet, gallery])


def _trials(campaign: Campaign, listener: Listener) -> Section:
    left_out = sheets.left_out(campaign)
    chosen = _plotted(campaign)
    sections = []
    for place, trial in enumerate(chosen, start=1):
        listener(f"trial {place} of {len(chosen)}")
        sections.append(_trial(trial))
    text = f"Each opens on demand: {len(chosen)} of {len(campaign.trials)} trials"
    text += "." if len(chosen) == len(campaign.trials) else ", the first seed of each cell."
    return Section(
        id="trials",
        title="Trials",
        paragraphs=[text],
        parts=[*([left_out] if left_out else []), sheets.trials(campaign)],
        sections=sections,
    )


def _plotted(campaign: Campaign) -> list[Trial]:
    if len(campaign.trials) <= MOST_TRIALS:
        return list(campaign.trials)
    first: dict[tuple[tuple[str, str], ...], Trial] = {}
    for trial in campaign.trials:
        first.setdefault(tuple(sorted(trial.factors.items())), trial)
    return list(first.values())


def _trial(trial: Trial) -> Section:
    told = ", ".join(
        f"{sheets.metric_title(name).lower()} {format(value, sheets.metric_form([value]))}"
        for name, value in trial.metrics.items()
        if value is not None
    )
    drawn = trial_plots.plots(trial)
    counters = sheets.counters(trial)
    missing = [] if drawn else ["It recorded no series to plot."]
    return Section(
        id=f"trial-{trial.name}",
        title=trial.name,
        paragraphs=[f"{told[:1].upper()}{told[1:]}.", *missing],
        parts=[
            *([Gallery(plots=drawn)] if drawn else []),
            *([counters] if counters else []),
            sheets.checks(trial),
        ],
        folded=True,
    )


def _making(campaign: Campaign) -> Section:
    """Versions, wherever the trials agree, and the experiment file."""
    found = {
        json.dumps(trial.document.get("versions"), sort_keys=True): None
        for trial in campaign.trials
    }
    paragraphs = []
    if len(found) > 1:
        paragraphs.append(
            f"The trials were run by {len(found)} sets of versions; they are not one experiment."
        )
    versions = "\n".join(_lines(json.loads(text)) for text in found)
    parts: list[Sheet | Gallery | Claims | Source] = [Source(text=versions)]
    if campaign.document.get("text"):
        parts.append(Source(text=str(campaign.document["text"])))
    return Section(id="making", title="How it was made", paragraphs=paragraphs, parts=parts)


def _lines(versions: object) -> str:
    if not isinstance(versions, dict):
        return "no versions recorded"
    return "\n".join(f"{name}: {value}" for name, value in versions.items())
