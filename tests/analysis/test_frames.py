# SPDX-License-Identifier: GPL-2.0-only
"""A campaign as data frames, without the harness."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import frames, read_campaign
from analysis.cells import cells_of
from analysis.typed import levels_of
from tests.analysis import synthetic
from tests.small import PROJECT

CELL = ("WAN", "SACK", "EPD", 0.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    synthetic.write_campaign(tmp_path, seeds=[1, 2], cells={CELL: (0.8, 0.7)}, with_series=True)
    return tmp_path


def test_a_line_a_trial(folder: Path) -> None:
    found = frames.trials(read_campaign(folder))
    assert found["seed"].tolist() == [1, 2]
    assert found["network"].tolist() == ["WAN", "WAN"]
    assert found["efficiency_published"].tolist() == [0.8144, 0.8144]
    assert found["efficiency"].mean() == pytest.approx(0.8, abs=0.05)


def test_a_line_a_cell_and_metric(folder: Path) -> None:
    campaign = read_campaign(folder)
    [line] = frames.cells(campaign, "fairness").to_dict("records")
    [cell] = cells_of(campaign.trials)
    assert (line["metric"], line["seeds"], line["mean"]) == ("fairness", 2, cell.mean("fairness"))


def test_series_have_their_trial(folder: Path) -> None:
    campaign = read_campaign(folder)
    flows = frames.flows(campaign)
    assert len(flows) == 2 * 100 and set(flows["seed"]) == {1, 2}
    requests = frames.requests(campaign)
    assert requests["last_byte_ns"].isna().any() and requests["size_bytes"].min() > 0
    assert frames.series(campaign, "nothing").empty


def test_levels_keep_their_type(tmp_path: Path) -> None:
    """As texts, 1000 would sort before 250, and nothing would equal 250."""
    synthetic.write_campaign(
        tmp_path, seeds=[1], with_series=True,
        cells={("WAN", "SACK", "EPD", buffer): (0.8, 0.7) for buffer in (0.5, 1.0)},
        extra_factors=[
            {"cells": cells, "idle": idle, "mixed": mixed}
            for cells, idle, mixed in ((1000, True, "a"), (250, False, 7))
        ],
    )  # fmt: skip
    campaign = read_campaign(tmp_path)
    tables = [frames.trials(campaign), frames.flows(campaign), frames.checks(campaign)]
    for table in (*tables, frames.cells(campaign, "efficiency")):
        assert sorted(set(table["cells"])) == [250, 1000] and table["cells"].dtype == "int64"
        assert sorted(set(table["buffer"])) == [0.5, 1] and table["buffer"].dtype == "float64"
        assert table["idle"].dtype == "bool" and table["network"].tolist()[0] == "WAN"
        assert set(table["mixed"]) == {"a", "7"}
    assert len(tables[0][tables[0]["cells"] == 250]) == 2
    assert {type(level) for level in levels_of(campaign)["cells"].values()} == {int}


def test_of_the_harness_it_needs_the_kinds_of_captures_alone(folder: Path) -> None:
    """A plan's parts are found by listing; nothing that runs a lab is loaded."""
    code = (
        "import sys; from analysis import read_campaign, frames\n"
        f"frames.trials(read_campaign({str(folder)!r}))\n"
        "rooms = {'.'.join(name.split('.')[:2]) for name in sys.modules}\n"
        "print(*sorted(room for room in rooms if room.startswith(('harness', 'studies'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["harness", "harness.capture", "harness.captures"]


def test_without_pandas_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(sys.modules, "analysis.frames", raising=False)
    with pytest.raises(
        ImportError, match="pandas, which is missing; run ./cellbed setup --library"
    ):
        importlib.import_module("analysis.frames")
