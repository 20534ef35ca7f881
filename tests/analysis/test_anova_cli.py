# SPDX-License-Identifier: GPL-2.0-only
"""What `cellbed anova` prints, and its one-line errors."""

import json
from pathlib import Path

import pytest

from analysis import anova_cli
from analysis.errors import TableError
from studies.ubrplus_1998.study import FOLDER

PUBLISHED = FOLDER / "published"
RESULTS = str(PUBLISHED / "results.csv")
FACTORS = ("tcp_flavor", "buffer_rtt", "drop_policy")


def test_text_has_the_published_figures_in_80_columns() -> None:
    text = anova_cli.run(RESULTS, response="efficiency", factors=FACTORS, where=["network=WAN"])
    assert max(map(len, text.splitlines())) <= 80 + len(str(PUBLISHED))
    tables = text[text.index("Allocation") :]
    assert max(map(len, tables.splitlines())) <= 80
    words = [line.split() for line in tables.splitlines()]
    assert ["tcp_flavor", "0.2625", "57.50", "3"] in [line[:4] for line in words]
    assert ["tcp_flavor", "Vanilla", "-0.1627", "-0.1734", "-0.1520", "*"] in words


def test_json_has_every_field() -> None:
    text = anova_cli.run(
        RESULTS, response="fairness", factors=FACTORS, where=["network=GEO"], as_json=True
    )
    document = json.loads(text)
    assert document["format"] == "cellbed-anova/1"
    assert document["replications"] == 1
    assert document["components"][0]["factors"] == ["tcp_flavor"]
    assert round(document["components"][0]["percent"], 2) == 14.47
    assert round(document["standard_error"], 4) == 0.0139
    assert len(document["effects"]) == 9


def test_a_forgotten_factor_is_named() -> None:
    text = anova_cli.run(RESULTS, response="efficiency", factors=FACTORS[::2])
    assert "but they differ in: network, rtt_ms" in text
    text = anova_cli.run(RESULTS, response="efficiency", factors=FACTORS, where=["network=WAN"])
    assert "differ in" not in text


def test_condition_compares_numbers_as_numbers() -> None:
    text = anova_cli.run(
        RESULTS,
        response="efficiency",
        factors=["tcp_flavor", "drop_policy"],
        where=["network=WAN", "buffer_rtt=2.0"],
    )
    assert "8 values (4 x 2, 1 of each)" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the table is empty"),
        ("a,y\n", "column names but no rows"),
        ("a,a,y\n1,2,3\n", "two columns have the name 'a'"),
        ("a,y\n1,2,3\n", "data row 1 has 3 fields, but the table has 2 columns"),
        ("a\n1,2\n", "data row 1 has 2 fields, but the table has 1 column"),
        ("a,y\nu,1\nu,2\nv,3\nv,x\n", "column 'y', data row 4: 'x' is not a number"),
        ("b,y\n1,2\n", "has no column 'a'"),
        ("a,y\nu,1\nu,2\nv,3\n", "unbalanced design in column 'y'"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(content)
    with pytest.raises(TableError, match=message) as caught:
        anova_cli.run(str(file), response="y", factors=["a"])
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"the table .*none\.csv cannot be read: No such file"):
        anova_cli.run(str(tmp_path / "none.csv"), response="y", factors=["a"])
    with pytest.raises(TableError, match="is a folder; name a CSV file"):
        anova_cli.run(str(tmp_path), response="y", factors=["a"])
    (tmp_path / "image.csv").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(TableError, match="is no CSV table in UTF-8: write a line for each row"):
        anova_cli.run(str(tmp_path / "image.csv"), response="y", factors=["a"])


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("network", "write COLUMN=VALUE"),
        ("link=WAN", "has no column 'link'"),
        ("network=LEO", "never has the value 'LEO' .it has: WAN, MEO, GEO"),
    ],
)
def test_bad_conditions(condition: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        anova_cli.run(RESULTS, response="efficiency", factors=FACTORS, where=[condition])
