# SPDX-License-Identifier: GPL-2.0-only
"""The published ANOVA from the published results, statsmodels, and Jain's own example."""

import itertools
import random
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from analysis.anova import Anova, analyse
from analysis.errors import TableError
from analysis.table import Table, read_csv
from studies.ubrplus_1998.study import FOLDER

PUBLISHED = FOLDER / "published"
ALLOCATION = read_csv(PUBLISHED / "allocation_of_variation.csv")

FACTORS = ("tcp_flavor", "buffer_rtt", "drop_policy")
COMPONENTS = {
    "TCP Flavor": ("tcp_flavor",),
    "Buffer Size": ("buffer_rtt",),
    "Drop Policy": ("drop_policy",),
    "TCP Flavor-Buffer Size": ("tcp_flavor", "buffer_rtt"),
    "TCP Flavor-Drop Policy": ("tcp_flavor", "drop_policy"),
    "Buffer Size-Drop Policy": ("buffer_rtt", "drop_policy"),
}
RESPONSES = ("efficiency", "fairness")
NETWORKS = ("WAN", "MEO", "GEO")


def name_of(row: dict[str, str]) -> str:
    return f"{row['network']} {row.get('level') or row['component']}"


def published_anova(network: str, response: str) -> Anova:
    results = read_csv(PUBLISHED / "results.csv").where("network", network)
    return analyse(results, response, FACTORS)


def table_of(columns: tuple[str, ...], *rows: tuple[object, ...]) -> Table:
    texts = tuple(dict(zip(columns, map(str, row), strict=True)) for row in rows)
    return Table(source="t.csv", columns=columns, rows=texts)


CUT_OFF = {
    ("GEO", "efficiency", "Vanilla", "ci90_low"),
    ("GEO", "efficiency", "Reno", "ci90_low"),
}
"""Figures of which the paper's last digit is cut off, not rounded; in WAN fairness 18 are."""


def assert_printed(value: float, row: dict[str, str], response: str, column: str) -> None:
    """`value` is what the paper prints, to the last digit."""
    printed = Decimal(row[f"{response}_{column}"])
    name = row.get("level") or row["component"]
    last_digit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    exact = Decimal(f"{value:.10f}")  # without binary noise, so that a tie is a tie
    rounded = exact.quantize(last_digit, ROUND_HALF_UP)
    cut = exact.quantize(last_digit, ROUND_DOWN)
    if (row["network"], response, name, column) in CUT_OFF:
        assert printed == cut
    elif (row["network"], response) == ("WAN", "fairness"):
        assert printed in (rounded, cut)
    else:
        assert printed == rounded


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("row", ALLOCATION.rows, ids=name_of)
def test_published_allocation_of_variation(row: dict[str, str], response: str) -> None:
    result = published_anova(row["network"], response)
    totals = {
        "Individual Values": result.individual_values,
        "Overall Mean": result.mean_sum_of_squares,
        "Total Variation": result.total_variation,
        "Standard Error": result.standard_error,
    }
    name = row["component"]
    if name in totals:
        assert_printed(totals[name], row, response, "sum_of_squares")
    else:
        component = result.component(*COMPONENTS[name])
        assert_printed(component.sum_of_squares, row, response, "sum_of_squares")
        assert_printed(component.percent, row, response, "percent")


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("row", read_csv(PUBLISHED / "main_effects.csv").rows, ids=name_of)
def test_published_main_effects(row: dict[str, str], response: str) -> None:
    level = row["level"].removesuffix(" RTT")
    result = published_anova(row["network"], response)
    effect = next(effect for effect in result.effects if effect.levels == (level,))
    assert_printed(effect.effect, row, response, "effect")
    assert_printed(effect.low, row, response, "ci90_low")
    assert_printed(effect.high, row, response, "ci90_high")


def test_degrees_of_freedom_of_section_8_1() -> None:
    result = published_anova("WAN", "efficiency")
    assert sum(result.component(factor).degrees_of_freedom for factor in FACTORS) == 6
    assert sum(component.degrees_of_freedom for component in result.components) == 17
    assert result.error.degrees_of_freedom == 6


def noisy_design(replications: int) -> Table:
    rng = random.Random(7)
    levels = (("a", "b", "c"), ("p", "q"), ("1", "2", "4"))
    rows = [
        (*cell, repr(rng.gauss(ord(cell[0]) * float(cell[2]), 1.5)))
        for cell in itertools.product(*levels)
        for _ in range(replications)
    ]
    rng.shuffle(rows)
    return table_of(("x", "y", "z", "response"), *rows)


@pytest.mark.parametrize(
    ("table", "formula", "factors", "response"),
    [
        (noisy_design(1), "(C(x)+C(y)+C(z))**2", ("x", "y", "z"), "response"),
        (noisy_design(3), "C(x)*C(y)*C(z)", ("x", "y", "z"), "response"),
        (
            read_csv(PUBLISHED / "results.csv").where("network", "GEO"),
            "(C(tcp_flavor)+C(buffer_rtt)+C(drop_policy))**2",
            FACTORS,
            "fairness",
        ),
    ],
    ids=["one row a cell", "three rows a cell", "paper"],
)
def test_agrees_with_statsmodels(
    table: Table, formula: str, factors: tuple[str, ...], response: str
) -> None:
    ours = analyse(table, response, factors)
    frame = pd.DataFrame(table.rows).assign(**{response: table.numbers(response)})
    theirs = anova_lm(ols(f"{response} ~ {formula}", frame).fit())
    assert len(theirs) == len(ours.components) + 1
    for component in ours.components:
        line = theirs.loc[":".join(f"C({factor})" for factor in component.factors)]
        assert component.sum_of_squares == pytest.approx(line["sum_sq"])
        assert component.degrees_of_freedom == line["df"]
        assert component.f == pytest.approx(line["F"])
        assert component.p == pytest.approx(line["PR(>F)"])
    assert ours.error.sum_of_squares == pytest.approx(theirs.loc["Residual", "sum_sq"])
    assert ours.error.degrees_of_freedom == theirs.loc["Residual", "df"]


def in_blocks(seeds: int, scatter: dict[str, float]) -> Table:
    """Two factors; each seed adds to all cells, by far more than the cells scatter."""
    rng = random.Random(5)
    added = {seed: rng.gauss(0, 3) for seed in range(seeds)}
    rows = [
        {"x": x, "y": y, "seed": str(seed),
         "response": repr((x == "b") + 2 * (y == "d") + added[seed] + rng.gauss(0, scatter[x]))}
        for x, y in itertools.product("ab", "cde")
        for seed in rng.sample(range(seeds), seeds)
    ]  # fmt: skip
    return Table(source="blocks", columns=("x", "y", "seed", "response"), rows=tuple(rows))


def test_blocks_agree_with_statsmodels() -> None:
    table = in_blocks(5, {"a": 0.3, "b": 0.3})
    ours = analyse(table, "response", ("x", "y"), block="seed")
    frame = pd.DataFrame(table.rows).assign(response=table.numbers("response"))
    theirs = anova_lm(ols("response ~ C(x)*C(y) + C(seed)", frame).fit())
    assert ours.block is not None
    for component, name in (
        (ours.block, "C(seed)"), (ours.component("x"), "C(x)"), (ours.component("y"), "C(y)"),
        (ours.component("x", "y"), "C(x):C(y)"),
    ):  # fmt: skip
        line = theirs.loc[name]
        assert component.sum_of_squares == pytest.approx(line["sum_sq"])
        assert component.degrees_of_freedom == line["df"]
        assert component.p == pytest.approx(line["PR(>F)"])
    assert ours.error.sum_of_squares == pytest.approx(theirs.loc["Residual", "sum_sq"])
    assert ours.error.degrees_of_freedom == theirs.loc["Residual", "df"]
    without = analyse(table, "response", ("x", "y"))
    assert without.block is None and without.standard_error > 3 * ours.standard_error


def test_cells_that_scatter_unlike_are_told() -> None:
    alike = analyse(in_blocks(8, {"a": 0.3, "b": 0.3}), "response", ("x", "y"), block="seed").spread
    table = in_blocks(8, {"a": 0.05, "b": 2.0})
    unlike = analyse(table, "response", ("x", "y")).spread
    cells = pd.DataFrame(table.rows).assign(response=table.numbers("response"))
    expected = stats.levene(*[c.response for _, c in cells.groupby(["x", "y"])], center="median")
    assert alike is not None and not alike.unlike and "are alike" in str(alike)
    assert unlike is not None and unlike.p == pytest.approx(expected.pvalue)
    blocked = analyse(table, "response", ("x", "y"), block="seed").spread
    assert blocked is not None and blocked.unlike and "differ too much to pool" in str(blocked)
    assert analyse(in_blocks(2, {"a": 1, "b": 1}), "response", ("x", "y")).spread is None


def test_blocks_have_every_cell_once() -> None:
    table = in_blocks(3, {"a": 0.3, "b": 0.3})
    rows = [{**row, "seed": "0"} if row["x"] == "a" else row for row in table.rows]
    twice = Table(source="t", columns=table.columns, rows=tuple(rows))
    with pytest.raises(TableError, match="column 'seed' cannot be a block"):
        analyse(twice, "response", ("x", "y"), block="seed")


def test_interval_of_a_main_effect_is_that_of_a_sum_contrast() -> None:
    """With sum coding, the regression's coefficients and intervals are the effects'."""
    table = noisy_design(3)
    frame = pd.DataFrame(table.rows).assign(response=table.numbers("response"))
    fit = ols("response ~ C(x, Sum)*C(y, Sum)*C(z, Sum)", frame).fit()
    bounds = fit.conf_int(alpha=0.10)
    ours = analyse(table, "response", ("x", "y", "z"))
    for level in ("a", "b"):
        name = f"C(x, Sum)[S.{level}]"
        effect = ours.effect("x", level)
        assert effect.effect == pytest.approx(fit.params[name])
        assert (effect.low, effect.high) == pytest.approx(tuple(bounds.loc[name]))


def test_jains_code_size_example() -> None:
    """Jain 1991, example 20.1: code sizes on three processors, five replications."""
    sizes = {
        "R": (144, 120, 176, 288, 144),
        "V": (101, 144, 211, 288, 72),
        "Z": (130, 180, 141, 374, 302),
    }
    rows = [(name, size) for name, values in sizes.items() for size in values]
    result = analyse(table_of(("processor", "bytes"), *rows), "bytes", ("processor",))
    assert round(result.overall_mean, 1) == 187.7
    assert [round(effect.effect, 1) for effect in result.effects] == [-13.3, -24.5, 37.7]
    assert round(result.component("processor").percent, 1) == 10.4
    assert round(result.standard_error, 1) == 88.7
    assert not any(effect.significant for effect in result.effects)


def test_effects_sum_to_zero_and_shares_to_one_hundred() -> None:
    result = analyse(noisy_design(2), "response", ("x", "y", "z"))
    assert len(result.components) == 7
    shares = sum(component.percent for component in (*result.components, result.error))
    assert shares == pytest.approx(100)
    for factor in ("x", "y", "z"):
        total = sum(effect.effect for effect in result.effects if effect.factors == (factor,))
        assert total == pytest.approx(0, abs=1e-9)


def test_lower_order_pools_the_rest_into_the_error() -> None:
    full = analyse(noisy_design(2), "response", ("x", "y", "z"))
    pooled = analyse(noisy_design(2), "response", ("x", "y", "z"), order=1)
    rest = sum(part.sum_of_squares for part in full.components if len(part.factors) > 1)
    assert pooled.error.sum_of_squares == pytest.approx(full.error.sum_of_squares + rest)


def test_error_free_data_has_no_f() -> None:
    rows = [(a, b, 10 * a + b) for a in (1, 2) for b in (1, 2) for _ in range(2)]
    result = analyse(table_of(("a", "b", "y"), *rows), "y", ("a", "b"))
    assert result.standard_error == 0
    assert result.component("a").f is None


GOOD = [(a, b, 10.0 * ord(a) + ord(b) ** 2) for a in "uv" for b in "xyz"]


@pytest.mark.parametrize(
    ("rows", "response", "factors", "message"),
    [
        (GOOD, "speed", ("a", "b"), "t.csv: the table has no column 'speed' .it has: a, b, y"),
        (GOOD, "y", ("a", "c"), "t.csv: the table has no column 'c'"),
        (GOOD, "y", (), "t.csv: name at least one factor"),
        (GOOD, "y", ("a", "a"), "t.csv: column 'a' is named twice"),
        (GOOD, "y", ("a", "y"), "t.csv: column 'y' is named twice"),
        (GOOD[:3], "y", ("a", "b"), "t.csv: column 'a' has one level only .'u'"),
        (GOOD[:-1], "y", ("a", "b"), "unbalanced design in column 'y': 0 row.s. for a=v, b=z, 1"),
        ([*GOOD, GOOD[0]], "y", ("a", "b"), "t.csv: unbalanced design in column 'y'"),
        ([*GOOD[:-1], ("v", "z", "n/a")], "y", ("a", "b"), "column 'y', data row 6: 'n/a' is not"),
        ([*GOOD[:-1], ("v", "z", "nan")], "y", ("a", "b"), "data row 6: 'nan' is not a number"),
        ([*GOOD[:-1], ("v", "z", "")], "y", ("a", "b"), "data row 6: '' is not a number"),
        ([("u", "x", 1), ("v", "x", 2)], "y", ("a",), "the error cannot be estimated"),
        ([(a, b, 5) for a, b, _ in GOOD], "y", ("a", "b"), "all values of column 'y' are equal"),
    ],
)
def test_bad_input_is_one_line(
    rows: list[tuple[object, ...]], response: str, factors: tuple[str, ...], message: str
) -> None:
    with pytest.raises(TableError, match=message) as caught:
        analyse(table_of(("a", "b", "y"), *rows), response, factors)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("order", "confidence"), [(0, 0.9), (2, 0.9), (3, 0.9), (1, 1.0), (1, 90)])
def test_impossible_options(order: int, confidence: float) -> None:
    with pytest.raises(TableError):
        analyse(
            table_of(("a", "b", "y"), *GOOD), "y", ("a", "b"), order=order, confidence=confidence
        )
