# SPDX-License-Identifier: GPL-2.0-only
"""Every published conclusion holds on the published table, and can fail on another."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.anova import Effect
from analysis.comparison import RESPONSES, CellComparison, compare, published_cells
from analysis.conclusions import CONCLUSIONS, judge, load
from analysis.errors import TableError
from analysis.evidence import FACTORS, Method
from analysis.published import Cell, paper_cells
from analysis.records import Campaign, read_campaign
from analysis.verdicts import CHECKS, Finding, Verdict
from analysis.vocabulary import Vocabulary
from tests.analysis import synthetic

Table = dict[Cell, tuple[float, float]]


def cells_of(table: Table) -> list[CellComparison]:
    return [cell for response in RESPONSES for cell in published_cells(table, response)]


def verdicts(table: Table) -> dict[str, Verdict]:
    return {j.conclusion.id: j.finding.verdict for j in judge(cells_of(table))}


@pytest.mark.parametrize(
    "judgement", judge(cells_of(paper_cells())), ids=lambda judgement: judgement.conclusion.id
)
def test_holds_on_the_published_table(judgement) -> None:  # type: ignore[no-untyped-def]
    assert judgement.finding.verdict is Verdict.HOLDS, judgement.finding.evidence


def test_figures_in_the_evidence_are_the_papers() -> None:
    found = {j.conclusion.id: j.finding.evidence for j in judge(cells_of(paper_cells()))}
    assert found["wan-efficiency-flavor-largest"].startswith("flavor 57.50 %, buffer 30.24 %")
    assert "SACK +0.0642 (+0.0517, +0.0768)" in found["geo-efficiency-sack-best"]
    assert "4 of 9 intervals" not in found["geo-fairness-alike"]
    assert "8 of 9 intervals enclose 0" in found["geo-fairness-alike"]


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
LEVELS = ("Vanilla", "Reno", "NewReno", "SACK", "EPD", "SD", 0.5, 1.0, 2.0)


def test_each_conclusion_fails_on_some_table() -> None:
    tables = [verdicts(random_table(seed)) for seed in range(12)]
    failing = {name for table in tables for name in table if table[name] is Verdict.FAILS}
    assert failing == {conclusion.id for conclusion in load()}


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
        ("geo-fairness-alike", lambda c, e, f: (e, f - 0.2 * (c[1] == "SACK"))),
        ("overall-policy-geo-fairness", lambda c, e, f: (e, f - 0.2 * (c[2] == "SD"))),
        ("overall-sack-newreno-geo-fairness", lambda c, e, f: (e, f - 0.2 * (c[1] == "SACK"))),
        ("overall-buffer-matters-in-wan", lambda c, e, f: (e + 0.2 * c[3] * (c[0] == "GEO"), f)),
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
        source="WAN", levels={"policy": ("SD", "EPD")},
        effect=lambda _, level: next(e for e in effects if e.levels == (level,)),
    )  # fmt: skip
    evidence = SimpleNamespace(anova=lambda *_: anova)
    words = {"network": "WAN", "response": "efficiency", "factor": "policy"}
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
    found = {f: SimpleNamespace(percent=p) for f, p in zip(FACTORS, shares, strict=True)}
    evidence = SimpleNamespace(anova=lambda *_: SimpleNamespace(component=found.__getitem__))
    words = {"network": "WAN", "response": "efficiency", "factor": "buffer"}
    assert CHECKS["factor_rank"](evidence, **words, rank=2).verdict is verdict


def test_a_rank_that_no_neighbour_can_give_fails() -> None:
    """Third, near to the second: the first it is not."""
    found = {f: SimpleNamespace(percent=p) for f, p in zip(FACTORS, (50, 10, 10.5), strict=True)}
    evidence = SimpleNamespace(anova=lambda *_: SimpleNamespace(component=found.__getitem__))
    words = {"network": "WAN", "response": "efficiency", "factor": "buffer"}
    assert CHECKS["factor_rank"](evidence, **words, rank=1).verdict is Verdict.FAILS


def test_what_was_not_measured_is_undecided() -> None:
    table = {cell: values for cell, values in paper_cells().items() if cell[0] == "GEO"}
    found = {j.conclusion.id: j.finding for j in judge(cells_of(table))}
    assert found["wan-fairness-sack-worst"].verdict is Verdict.UNDECIDED
    assert found["wan-fairness-sack-worst"].evidence == "not measured: WAN"
    assert found["wan-efficiency-sack-above-newreno"].verdict is Verdict.UNDECIDED
    assert found["geo-efficiency-sack-best"].verdict is Verdict.HOLDS
    without_sack = {cell: values for cell, values in paper_cells().items() if cell[1] != "SACK"}
    found = {j.conclusion.id: j.finding for j in judge(cells_of(without_sack))}
    assert found["wan-efficiency-newreno-sack-alike"].verdict is Verdict.UNDECIDED
    assert found["wan-efficiency-newreno-sack-alike"].evidence == "not measured: WAN SACK"
    assert found["geo-efficiency-sack-0.5-rtt-optimal"].verdict is Verdict.UNDECIDED


def test_replications_make_differences_visible(campaign: Campaign) -> None:
    cells = [cell for response in RESPONSES for cell in compare(campaign.trials, response)]
    found = {j.conclusion.id: j.finding for j in judge(cells, Method.REPLICATIONS)}
    assert found["geo-efficiency-sack-best"].verdict is Verdict.HOLDS
    assert "±" in found["wan-efficiency-vanilla-reno-gain"].evidence


def test_an_interval_across_the_limit_is_undecided(tmp_path: Path) -> None:
    folder = synthetic.write_campaign(tmp_path, seeds=(1, 2), noise=0.05)
    cells = compare(read_campaign(folder).trials, "efficiency")
    found = {j.conclusion.id: j.finding for j in judge(cells, Method.REPLICATIONS)}
    assert found["geo-efficiency-vanilla-reno-gain-at-2"].verdict is Verdict.UNDECIDED


def test_a_failed_trial_leaves_the_rest_balanced(campaign: Campaign) -> None:
    cells = compare(campaign.trials[1:], "efficiency")
    assert len(cells[0].values) == 2
    [judgement] = judge(
        cells,
        Method.REPLICATIONS,
        [c for c in load() if c.id == "wan-efficiency-flavor-largest"],
    )
    assert judgement.finding.verdict is Verdict.HOLDS


def test_every_check_is_used_and_every_conclusion_quotes_its_section() -> None:
    conclusions = load()
    assert {conclusion.check for conclusion in conclusions} == set(CHECKS)
    assert all(conclusion.source and conclusion.sentence for conclusion in conclusions)


WORDS = "network = 'WAN'\nresponse = 'fairness'\n"
LESS = f"{WORDS}check = 'difference'\nminus = {{}}\n"
SHARE = f"{WORDS}check = 'share_at_most'\nfactor = 'policy'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not TOML"),
        ("title = 'x'", "unknown key 'title'"),
        ("[[conclusion]]\nid = 'a'", "conclusion 'a': the key 'sentence' is missing"),
        ("check = 'guess'", "unknown check 'guess'"),
        ("conclusion = 1", "'conclusion' is no list of tables"),
        ("conclusion = [1]", "'conclusion' is no list of tables"),
        ("check = 'overlap'\nnetwork = 'WAN'", "conclusion 'a': the key 'response' is missing"),
        ("check = 'gap_grows'\ncolour = 1", r"unknown key 'colour' \(allowed: response, factor"),
        (f"{SHARE}percent = 'five'", "the key 'percent': Input should be a valid number"),
        (f"{SHARE}percent = true", "the key 'percent': Input should be a valid number"),
        (
            f"{SHARE.replace('WAN', 'LAN')}percent = 5",
            r"the key 'network': unknown network 'LAN' \(known: WAN, MEO, GEO\)",
        ),
        (f"{SHARE.replace('policy', 'drops')}percent = 5", "unknown factor 'drops'"),
        (f"{SHARE.replace('fairness', 'speed')}percent = 5", "unknown metric 'speed'"),
        (
            f"{WORDS}check = 'overlap'\nfactor = 'policy'\nlevels = ['EPD']",
            "the key 'levels': lists 1, needs 2 or more",
        ),
        (
            f"{WORDS}check = 'separated'\nfactor = 'policy'\nupper = []\nlower = ['EPD']",
            "the key 'upper': lists 0, needs 1 or more",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{}}\nfor_each = {{ flavor = [] }}\n",
            "the key 'for_each': lists 0, needs 1 or more",
        ),
        (
            f"{WORDS}check = 'overlap'\nfactor = 'policy'\nlevels = ['EPD', 'RED']",
            r"the key 'levels': unknown level of policy 'RED' \(known: EPD, SD\)",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{ flavour = ['SACK'] }}\n",
            "the key 'of': unknown factor 'flavour'",
        ),
        (
            f"{LESS}at_least = 0.0\nof = {{ buffer = ['4'] }}\n",
            "the key 'of': unknown level of buffer '4'",
        ),
        (
            f"{LESS}of = {{}}\n",
            "needs one of the keys at_least, at_most, within",
        ),
    ],
)
def test_bad_conclusions_file(tmp_path: Path, text: str, message: str) -> None:
    if "check = " in text:
        text = "[[conclusion]]\nid = 'a'\nsentence = 's'\nsource = '1'\n" + text
    path = tmp_path / "conclusions.toml"
    path.write_text(text)
    with pytest.raises(TableError, match=message):
        load(path)


def ours(path: Path, rule: Callable[..., Finding]) -> None:
    """Judge, on nothing, one conclusion whose check is `rule`, known to no table of checks."""
    path.write_text("[[conclusion]]\nid = 'a'\nsentence = 's'\nsource = '1'\ncheck = 'mine'\n")
    [judgement] = judge([], conclusions=load(path, {"mine": rule}, NO_WORDS))
    assert judgement.finding.evidence == "mine"


NO_WORDS = Vocabulary(levels={}, networks=(), metrics=())


def test_the_checks_that_a_file_is_read_with_judge_it(tmp_path: Path) -> None:
    ours(tmp_path / "mine.toml", lambda _: Finding(verdict=Verdict.HOLDS, evidence="mine"))


def test_a_mistake_in_a_check_is_not_taken_for_want_of_evidence(tmp_path: Path) -> None:
    def mistaken(_: object) -> Finding:
        return {}["no such key"]

    with pytest.raises(KeyError):
        ours(tmp_path / "mine.toml", mistaken)


def test_two_conclusions_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "conclusions.toml"
    text = CONCLUSIONS.read_text()
    path.write_text(text + text[text.index("[[conclusion]]") :])
    with pytest.raises(TableError, match="two conclusions have the id 'wan-efficiency-flavor"):
        load(path)
