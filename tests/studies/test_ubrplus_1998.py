# SPDX-License-Identifier: GPL-2.0-only
"""98-0876R1: its table; every claim holds on it, and can fail on another."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.anova import Effect
from analysis.cells import Cell, cells_of, published_cells
from analysis.claims import Evidence, Finding, Method, Verdict, claims_of
from analysis.claims.checks import CHECKS
from analysis.claims.reading import WIDER
from analysis.records import CampaignRecords, read_campaign
from studies.ubrplus_1998.checks import CHECKS as OWN
from studies.ubrplus_1998.study import STUDY, published, results
from tests import made_plans
from tests.analysis import synthetic
from tests.analysis.synthetic import RESPONSES, paper_cells

CLAIMS = claims_of(STUDY, OWN)
Table = dict[synthetic.Cell, tuple[float, float]]


def test_all_72_cells_are_there() -> None:
    assert len(results()) == 72
    assert {network for network, *_ in results()} == {"WAN", "MEO", "GEO"}


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (("WAN", "Vanilla", "EPD", "0.5"), (0.4245, 0.5993)),
        (("wan", "vanilla", "epd", "0.5"), (0.4245, 0.5993)),
        (("GEO", "SACK", "SD", "2"), (0.9207, 0.9365)),
        (("WAN", "Cubic", "EPD", "0.5"), None),
        (("WAN", "SACK", "EPD", "3"), None),
        (("WAN", "SACK", "EPD", "large"), None),
    ],
)
def test_lookup(cell: tuple[str, ...], values: tuple[float, float] | None) -> None:
    found = published(dict(zip(STUDY.cell, cell, strict=True)), made_plans.plan())
    assert found == (values and dict(zip(RESPONSES, values, strict=True)))


def cells_in(table: Table) -> list[Cell]:
    return [
        Cell(
            levels={"network": n, "flavor": f, "policy": p, "buffer": f"{b:g}"},
            metrics={name: {1: value} for name, value in zip(RESPONSES, values, strict=True)},
        )
        for (n, f, p, b), values in table.items()
    ]


def findings(cells: list[Cell], method: Method = Method.CELL_MEANS) -> Mapping[str, Finding]:
    evidence = Evidence(cells, STUDY, method)
    return {claim.id: claim.on(evidence) for claim in CLAIMS}


def verdicts(table: Table) -> dict[str, Verdict]:
    return {name: finding.verdict for name, finding in findings(cells_in(table)).items()}


def test_each_holds_on_the_published_table() -> None:
    found = findings(list(published_cells(STUDY)))
    assert len(found) == 107 and sum(name.endswith(WIDER) for name in found) == 30
    assert {f.evidence for f in found.values() if f.verdict is not Verdict.HOLDS} == set()


def test_figures_in_the_evidence_are_the_papers() -> None:
    found = {name: f.evidence for name, f in findings(cells_in(paper_cells())).items()}
    assert found["wan-efficiency-flavor-largest"].startswith("flavor 57.50 %, buffer 30.24 %")
    assert "SACK +0.0642 (+0.0517, +0.0768)" in found["geo-efficiency-sack-best"]
    assert "4 of 9 intervals" not in found["geo-fairness-alike"]
    assert "8 of 9 intervals enclose 0" in found["geo-fairness-alike"]


BOUNDS = {
    # word: key, its bound in the file of claims, and one under which a claim no longer holds
    "substantial": ("at_least", 0.0537, 0.0540),
    "not much": ("at_most", 0.0261, 0.0259),
    "similar": ("within", 0.0255, 0.0253),
    "negligible": ("percent", 0.342, 0.341),
    "not any significant difference": ("percent", 0.81, 0.79),
    "a little better": ("at_most", 0.0208, 0.0206),
    "about 5 %": ("at_most", 0.0586, 0.0584),
    "very small": ("limit", 0.0099, 0.0097),
    "not very large": ("limit", 0.0471, 0.0469),
    "only slightly": ("limit", 0.0253, 0.0252),
    "not have much effect": ("limit", 0.0047, 0.0045),
    "marginal": ("at_most", 0.0336, 0.0334),
    "negligible effect": ("limit", 0.012, 0.0118),
}


@pytest.mark.parametrize("word", BOUNDS)
def test_a_bound_is_the_largest_that_the_paper_calls_so(word: str) -> None:
    """On the published table: a bound a little narrower fails."""
    key, bound, narrower = BOUNDS[word]
    claims = [claim for claim in CLAIMS if claim.parameters.get(key) == bound]
    evidence = Evidence(list(published_cells(STUDY)), STUDY, Method.CELL_MEANS)
    found = {
        replace(claim, parameters={**claim.parameters, key: narrower}).on(evidence).verdict
        for claim in claims
    }
    assert Verdict.FAILS in found, claims


def random_table(seed: int) -> Table:
    """Each cell around a random effect of each of its levels: no order is the paper's."""
    rng = random.Random(seed)
    effects = {(n, level): rng.gauss(0, 0.1) for n in NETWORKS for level in LEVELS}
    return {
        (n, f, p, b): tuple(
            0.5 + effects[n, f] + effects[n, p] + effects[n, b] + rng.gauss(0, 0.01)
            for _ in RESPONSES
        )
        for n, f, p, b in paper_cells()
    }  # type: ignore[misc]  # two responses make a pair


NETWORKS = ("WAN", "MEO", "GEO")
WAN = {"network": ["WAN"]}
LEVELS = ("Vanilla", "Reno", "NewReno", "SACK", "EPD", "SD", 0.5, 1.0, 2.0)


def test_each_conclusion_fails_on_some_table() -> None:
    tables = [verdicts(random_table(seed)) for seed in range(12)]
    failing = {name for table in tables for name in table if table[name] is Verdict.FAILS}
    rarely = {"overall-sd-not-always-fairer"}  # one pair of 36 is enough; test_can_fail has it
    assert failing | rarely == {claim.id for claim in CLAIMS}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        # each: efficiency and fairness of a cell -> new ones, so that the conclusion falls
        ("wan-efficiency-newreno-sack-alike", lambda c, e, f: (e - 0.2 * (c[1] == "NewReno"), f)),
        ("wan-efficiency-policy-negligible", lambda c, e, f: (e + 0.3 * (c[2] == "SD"), f)),
        ("wan-efficiency-sd-helps-vanilla-reno", lambda c, e, f: (e - 0.2 * (c[2] == "SD"), f)),
        ("wan-fairness-policy-negligible", lambda c, e, f: (e, f + 0.3 * (c[2] == "SD"))),
        ("wan-fairness-1-to-2-does-not", lambda c, e, f: (e, f + 0.3 * (c[3] == 2))),
        ("meo-fairness-alike", lambda c, e, f: (e, f - 0.2 * (c[1] == "SACK"))),
        ("meo-fairness-0.5-rtt-enough", lambda c, e, f: (e, f - 0.1 * (c[3] == 0.5))),
        ("meo-efficiency-flavors-near", lambda c, e, f: (e - 0.2 * (c[1] == "Reno"), f)),
        ("geo-efficiency-others-alike", lambda c, e, f: (e - 0.2 * (c[1] == "Reno"), f)),
        ("geo-efficiency-0.5-and-1-alike", lambda c, e, f: (e - 0.2 * (c[3] == 0.5), f)),
        ("overall-sd-not-always-fairer", lambda c, e, f: (e, f + 0.5 * (c[2] == "SD"))),
        ("geo-fairness-alike", lambda c, e, f: (e, f - 0.2 * (c[1] == "SACK"))),
        ("overall-policy-geo-fairness", lambda c, e, f: (e, f - 0.2 * (c[2] == "SD"))),
        ("overall-sack-newreno-geo-fairness", lambda c, e, f: (e, f - 0.2 * (c[1] == "SACK"))),
        ("overall-buffer-matters-in-wan", lambda c, e, f: (e + 0.2 * c[3] * (c[0] == "GEO"), f)),
        # far better than "a little", and far more than "about 5 %"
        ("wan-efficiency-sack-above-newreno", lambda c, e, f: (e + 0.1 * (c[1] == "SACK"), f)),
        ("overall-sack-above-newreno-in-meo", lambda c, e, f: (e + 0.1 * (c[1] == "SACK"), f)),
        ("meo-efficiency-vanilla-gain", lambda c, e, f: (e + 0.1 * (c[3] == 2), f)),
        ("overall-sack-gains-with-delay", lambda c, e, f: (e - (c[0] + c[1] == "GEOSACK"), f)),
    ],
)  # fmt: skip
def test_can_fail(name: str, change: Callable[..., tuple[float, float]]) -> None:
    table = {cell: change(cell, *values) for cell, values in paper_cells().items()}
    assert verdicts(table)[name] is Verdict.FAILS


def test_swapped_but_overlapping_levels_are_undecided() -> None:
    table = {cell: (e + 0.006 * (cell[1] == "Reno"), f) for cell, (e, f) in paper_cells().items()}
    assert verdicts(table)["meo-efficiency-order"] is Verdict.UNDECIDED


def separated_effects(apart: float, half: float) -> Verdict:
    """The check on two policies whose effects are `apart`, upper less lower, each +- `half`."""
    effects = [
        Effect(factors=("policy",), levels=(name,), effect=e, low=e - half, high=e + half)
        for name, e in (("SD", apart / 2), ("EPD", -apart / 2))
    ]
    anova = SimpleNamespace(
        source="WAN", levels={"policy": ("SD", "EPD")}, spread=None,
        effect=lambda _, level: next(e for e in effects if e.levels == (level,)),
    )  # fmt: skip
    evidence = SimpleNamespace(anova=lambda *_: anova, study=STUDY, difference=lambda *_: None)
    words = {"where": WAN, "response": "efficiency", "factor": "policy"}
    return CHECKS["separated"](evidence, **words, upper=["SD"], lower=["EPD"]).verdict


@pytest.mark.parametrize(
    ("apart", "verdict"),
    [
        (0.3, Verdict.HOLDS),
        (0.1, Verdict.UNDECIDED),
        (-0.1, Verdict.UNDECIDED),  # swapped, and their intervals overlap
        (-0.3, Verdict.FAILS),
    ],
)
def test_separated_needs_intervals_apart_either_way(apart: float, verdict: Verdict) -> None:
    assert separated_effects(apart, half=0.1) is verdict


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((50, 30, 10), Verdict.HOLDS),
        ((50, 10, 30), Verdict.FAILS),  # third
        ((50, 30, 29.5), Verdict.UNDECIDED),  # the third is near enough to be second
        ((50, 29.5, 30), Verdict.UNDECIDED),
        ((50.4, 51, 50), Verdict.UNDECIDED),  # first, and both others near
        ((30, 50, 29.5), Verdict.FAILS),  # first by far, whatever the others do
    ],
)
def test_a_rank_is_undecided_only_where_near_shares_decide_it(
    shares: tuple[float, ...], verdict: Verdict
) -> None:
    """Shares of flavor, buffer, policy [%]; is buffer the second?"""
    found = {f: SimpleNamespace(percent=p) for f, p in zip(STUDY.anova, shares, strict=True)}
    anova = SimpleNamespace(component=found.__getitem__)
    evidence = SimpleNamespace(anova=lambda *_: anova, study=STUDY, statistic=lambda *_: None)
    words = {"where": WAN, "response": "efficiency", "factor": "buffer"}
    assert CHECKS["factor_rank"](evidence, **words, rank=2).verdict is verdict


def test_a_rank_that_no_neighbour_can_give_fails() -> None:
    """Third, near to the second: the first it is not."""
    shares = zip(STUDY.anova, (50, 10, 10.5), strict=True)
    found = {factor: SimpleNamespace(percent=share) for factor, share in shares}
    anova = SimpleNamespace(component=found.__getitem__)
    evidence = SimpleNamespace(anova=lambda *_: anova, study=STUDY, statistic=lambda *_: None)
    words = {"where": WAN, "response": "efficiency", "factor": "buffer"}
    assert CHECKS["factor_rank"](evidence, **words, rank=1).verdict is Verdict.FAILS


def test_what_was_not_measured_is_undecided() -> None:
    table = {cell: values for cell, values in paper_cells().items() if cell[0] == "GEO"}
    found = findings(cells_in(table))
    assert found["wan-fairness-sack-worst"].verdict is Verdict.UNDECIDED
    assert found["wan-fairness-sack-worst"].evidence == "not measured: WAN"
    assert found["wan-efficiency-sack-above-newreno"].verdict is Verdict.UNDECIDED
    assert found["geo-efficiency-sack-best"].verdict is Verdict.HOLDS
    without_sack = {cell: values for cell, values in paper_cells().items() if cell[1] != "SACK"}
    found = findings(cells_in(without_sack))
    assert found["wan-efficiency-newreno-sack-alike"].verdict is Verdict.UNDECIDED
    assert found["wan-efficiency-newreno-sack-alike"].evidence == "not measured: WAN SACK"
    assert found["geo-efficiency-sack-0.5-rtt-optimal"].verdict is Verdict.UNDECIDED


def test_replications_make_differences_visible(campaign: CampaignRecords) -> None:
    found = findings(list(cells_of(campaign.trials)), Method.REPLICATIONS)
    assert found["geo-efficiency-sack-best"].verdict is Verdict.HOLDS
    assert "±" in found["wan-efficiency-vanilla-reno-gain"].evidence


def test_an_interval_across_the_limit_is_undecided(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(tmp_path, seeds=(1, 2, 3), noise=0.05)
    found = findings(list(cells_of(read_campaign(folder).trials)), Method.REPLICATIONS)
    gains = found["geo-efficiency-vanilla-reno-gain-at-2"]
    assert gains.verdict is Verdict.UNDECIDED
    assert "paired by seed; Holm over these 2" in gains.evidence


def test_a_failed_trial_leaves_the_rest_balanced(campaign: CampaignRecords) -> None:
    cells = list(cells_of(campaign.trials[1:]))
    assert len(cells[0].values("efficiency")) == 2
    found = findings(cells, Method.REPLICATIONS)
    assert found["wan-efficiency-flavor-largest"].verdict is Verdict.HOLDS


def test_every_claim_quotes_its_section() -> None:
    assert all(claim.source and claim.sentence and claim.heading for claim in CLAIMS)
