# SPDX-License-Identifier: GPL-2.0-only
"""`import cellbed`: its page and its notebook run as they stand, errors are the command line's."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from nbclient import NotebookClient

import cellbed
from harness.api.words import in_words
from harness.cli.group import cellbed as command_line
from harness.judge import judgement
from tests.analysis import synthetic
from tests.small import PROJECT, SMALL, TINY

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK = PROJECT / "docs" / "notebook.ipynb"
CELLS = {
    ("WAN", "SACK", policy, buffer): (0.8 + buffer / 100, 0.7)
    for policy in ("EPD", "SD") for buffer in (0.5, 1.0)
}  # fmt: skip


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cellbed.Campaign:
    """Nothing that was measured, and as it was judged when it was made."""
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    return cellbed.Campaign(
        synthetic.write_campaign(tmp_path, seeds=[1, 2], cells=CELLS, with_series=True)
    )


@pytest.mark.lab
def test_the_page_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCK.findall((PROJECT / "docs" / "api.md").read_text(encoding="utf-8")):
        exec(block, names)  # noqa: S102
    assert len(names["campaign"].trials()) == 4
    assert (tmp_path / "report" / "report.html").is_file()
    assert (tmp_path / "queue.png").stat().st_size > 5000
    said = (
        "only = queue.policy=fba: fba is no level of queue.policy; it must be one of plain, epd\n"
    )
    assert capsys.readouterr().out == said


@pytest.mark.lab
def test_the_notebook_gives_what_stands_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    found = nbformat.read(NOTEBOOK, as_version=4)
    shown = [texts(cell) for cell in found.cells]
    NotebookClient(found, timeout=500, resources={"metadata": {"path": tmp_path}}).execute()
    assert [texts(cell) for cell in found.cells] == shown
    pictures = [output for cell in found.cells for output in cell.get("outputs", [])
                if "image/png" in output.get("data", {})]  # fmt: skip
    assert len(found.cells) == 10 and len(pictures) == 3


def texts(cell: Any) -> list[str]:
    """What a cell printed or gave, as text."""
    return [
        "".join(output.get("text", "")) or output["data"]["text/plain"]
        for output in cell.get("outputs", [])
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"flavour": 1},
            "experiment, line 3: flavour: this key is unknown; it must be one of name",
        ),
        ({"title": None}, "experiment: title = None: must be a text, a number, true or false"),
        (
            {"factors": {"flavor": []}},
            "experiment, line 5: factors.flavor = []: a factor needs at least one level",
        ),
        ({"title": "a\nb"}, "experiment, line 2: title: 'a\\nb': a text has one line"),
        (
            {"extends": "nowhere.toml"},
            "experiment, line 3: extends = nowhere.toml: there is no such file",
        ),
    ],
)
def test_a_wrong_mapping_is_told_in_one_line(change: dict[str, Any], said: str) -> None:
    table = {"name": "x", "title": "x", "factors": {"flavor": ["SACK"]}, **change}
    with pytest.raises(cellbed.UsageError) as caught:
        cellbed.Experiment.from_mapping(table)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_file_text_and_mapping_are_one_experiment(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    made = [
        cellbed.Experiment.from_file(path),
        cellbed.Experiment.from_text(SMALL),
        cellbed.Experiment.from_mapping(tomllib.loads(SMALL)),
    ]
    names = [[trial.name for trial in one.trials(seeds=2)] for one in made]
    assert names[0] == names[1] == names[2] and len(names[0]) == 8
    assert made[0].cells[0] == {"network": "WAN", "flavor": "NewReno"}
    chosen = made[0].trials({"network": "GEO", "flavor": ["NewReno", "SACK"]})
    assert {trial.factors["network"] for trial in chosen} == {"GEO"} and len(chosen) == 2
    later = made[0].trials(seeds=2, first_seed=2)
    assert {trial.plan.seed for trial in later} == {2, 3} and later[0].name == names[0][4]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["run", "tiny.toml", "--only", "flavor=Reno"],
         lambda: cellbed.Experiment.from_file("tiny.toml").run(only={"flavor": "Reno"})),
        (["run", "nowhere.toml"], lambda: cellbed.Experiment.from_file("nowhere.toml")),
        (["run", "tiny.toml", "--out", "."],
         lambda: cellbed.Experiment.from_file("tiny.toml").run(".")),
        (["report", "nowhere"], lambda: cellbed.Campaign("nowhere")),
        (["judge", "nowhere"], lambda: cellbed.judge("nowhere")),
    ],
)  # fmt: skip
def test_errors_are_the_command_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], call: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    with pytest.raises(cellbed.CellbedError) as caught:
        call()
    error = CliRunner().invoke(command_line, arguments).exception
    assert (type(error), in_words(str(error))) == (type(caught.value), str(caught.value))


def test_frames_and_means(campaign: cellbed.Campaign) -> None:
    assert len(campaign.trials()) == 8 and set(campaign.cells().seeds) == {2}
    assert len(campaign.requests()) and campaign.checks().ok.all()
    figure = cellbed.plot.means(campaign, "efficiency", along="buffer", lines="policy")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.5", "1"]
    lines = [text.get_text() for text in axes.get_legend().get_texts()]
    assert lines == ["policy EPD", "policy SD"]
    drawn = axes.containers[0].lines[0].get_ydata()
    means = campaign.cells("efficiency").query("policy == 'EPD'")["mean"]
    assert drawn == pytest.approx(means.tolist())


def test_levels_that_are_numbers_stand_on_an_axis_of_numbers(campaign: cellbed.Campaign) -> None:
    assert campaign.factors["buffer"] == (0.5, 1) and campaign.factors["policy"] == ("EPD", "SD")
    axes = cellbed.plot.means(campaign, "efficiency", along="buffer", lines="policy").axes[0]
    assert axes.containers[0].lines[0].get_xdata().tolist() == [0.5, 1.0]
    assert axes.get_xticks().tolist() == [0.5, 1.0]
    words = cellbed.plot.means(campaign, "efficiency", along="policy", buffer=1).axes[0]
    assert words.containers[0].lines[0].get_xdata().tolist() == [0, 1]
    assert [label.get_text() for label in words.get_xticklabels()] == ["EPD", "SD"]


def test_an_axis_does_not_exaggerate(campaign: cellbed.Campaign) -> None:
    """All values are above 0.8 times the largest: the axis begins there and says so."""
    axes = cellbed.plot.means(campaign, "efficiency", along="buffer", lines="policy").axes[0]
    begin, ends = axes.get_ylim()[0], campaign.cells("efficiency")
    assert begin == pytest.approx(0.8 * (ends["mean"] + ends["half_width"]).max())
    assert axes.get_ylabel() == f"efficiency (axis begins at {begin:.3g})"


def test_an_axis_begins_at_0_if_values_differ_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    cells = {("WAN", "SACK", "EPD", buffer): (buffer / 2, 0.7) for buffer in (0.5, 1.0, 2.0)}
    found = cellbed.Campaign(synthetic.write_campaign(tmp_path, seeds=[1], cells=cells))
    axes = cellbed.plot.means(found, "efficiency", along="buffer").axes[0]
    assert axes.get_ylim()[0] == 0 and axes.get_ylabel() == "efficiency"


def test_goodput_of_answers_is_that_of_the_table(campaign: cellbed.Campaign) -> None:
    """Without a capture, the bytes of the complete answers; the table and the plot agree."""
    trial = campaign.trial({"policy": "EPD"}, seed=2, buffer=1)
    table = campaign.goodput(10)
    own = table[(table.trial == trial.name) & (table.pair == 3)]
    assert set(table.source) == {"answers"} and own["begin_s"].tolist() == [*range(0, 100, 10)]
    rows = campaign.requests().query("trial == @trial.name and pair == 3").dropna()
    bits = (own.goodput_bit_per_s * (own.end_s - own.begin_s)).sum()
    assert bits == pytest.approx(rows[rows.last_byte_ns <= 100e9].size_bytes.sum() * 8, rel=0.05)
    axes = cellbed.plot.goodput(trial, step_s=10, pairs=[3]).axes[0]
    [steps] = axes.patches
    assert steps.get_data().values == pytest.approx(own.goodput_bit_per_s / 1e6)


@pytest.mark.lab
def test_goodput_of_a_capture_is_what_the_receivers_counted(tmp_path: Path) -> None:
    """The kernel's count of received bytes at the end of the interval, found from ACKs alone."""
    found = cellbed.Experiment.from_text(TINY).run(tmp_path, pcap=["up"], progress=False)
    table, received = found.goodput(0.5), found.flows().set_index("pair").received_bytes
    assert set(table.source) == {"acks"} and set(table.pair) == set(received.index)
    seconds = table.end_s - table.begin_s
    total = (table.goodput_bit_per_s * seconds / 8).groupby(table.pair).sum()
    # A client may still hold back its last ACK; iperf3 has a second connection.
    assert (total - received).between(-3000, 1000).all() and received.min() > 100_000
    assert cellbed.plot.goodput(found.records.trials[0]).axes[0].get_ylabel() == "Mbit/s"


def test_plots_of_a_trial_are_figures_to_go_on_with(campaign: cellbed.Campaign) -> None:
    trial = campaign.trial({"policy": "EPD"}, seed=2, buffer=1)
    assert (trial.seed, trial.factors["buffer"]) == (2, "1")
    axes = Figure().subplots()
    assert cellbed.plot.queue(trial, axes) is axes.figure and axes.lines
    assert cellbed.plot.completion(trial).axes[0].get_xlabel() == "completion time (s)"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c: cellbed.plot.means(c, "speed", along="buffer", lines="policy"),
         "no combination has the metric speed; it must be one of efficiency, fairness"),
        (lambda c: cellbed.plot.means(c, "efficiency", along="size"), "size is no factor"),
        (lambda c: cellbed.plot.means(c, "efficiency", along="buffer"),
         "several combinations have the same place in the figure; draw a line for each level"),
        (lambda c: c.series("thruput"),
         "'thruput' is no table of a trial; it must be one of connections, cwnd, drops, "),
        (lambda c: c.series("thruput"), "; did you mean throughput?"),
        (lambda c: c.series("goodput"), "(campaign.goodput() has the goodput)"),
        (lambda c: c.goodput(0), "step_s = 0: must be a number of seconds, at least 0.001"),
        (lambda c: cellbed.plot.goodput(c.records.trials[0], pairs=[101]), "pair 101 has no"),
        (lambda c: c.trial(policy="EPD"), "2 valid trials with policy=EPD and seed 1"),
        (lambda c: cellbed.plot.windows(c.trial(policy="EPD", buffer=1, seed=9)), "0 valid trials"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(campaign: cellbed.Campaign, call: Any, said: str) -> None:
    with pytest.raises(cellbed.UsageError, match=re.escape(said)):
        call(campaign)
