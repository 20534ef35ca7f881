# SPDX-License-Identifier: GPL-2.0-only
"""Exports: opened by the programs that they are for, and compared with the record they are of."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket
from pyarrow import parquet

import cellbed
from analysis import exports
from analysis.records import Trial
from harness.api import tables
from harness.judge import judgement
from tests import made_plans
from tests.analysis import synthetic
from tests.small import PROJECT, SMALL

SECOND_NS = 1e9
FLENT = Path(sys.executable).with_name("flent")
EPD_CELL = {("WAN", "SACK", "EPD", 0.5): (0.8, 0.7)}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> cellbed.Campaign:
    """A trial that recorded all that there is."""
    return cellbed.Experiment.from_text(SMALL).run(
        tmp_path_factory.mktemp("export") / "out", progress=False, pcap=["down"],
        only={"network": "WAN", "flavor": "SACK"},
    )  # fmt: skip


@pytest.fixture
def trial(campaign: cellbed.Campaign) -> Trial:
    return campaign.trial(network="WAN", flavor="SACK")


def rows(trial: Trial, name: str) -> pd.DataFrame:
    return pd.read_csv(trial.folder / f"{name}.csv")


@pytest.mark.lab
def test_flent_draws_it(campaign: cellbed.Campaign, trial: Trial, tmp_path: Path) -> None:
    [path] = campaign.export("flent", tmp_path)
    for plot in ("download", "tcp_cwnd", "backlog"):
        picture = tmp_path / f"{plot}.png"
        done = subprocess.run([FLENT, "-i", path, "-p", plot, "-o", picture], cwd=tmp_path,
                              check=False, text=True, capture_output=True, timeout=300)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert picture.read_bytes()[1:4] == b"PNG", done.stderr
    document = json.loads(gzip.decompress(path.read_bytes()))
    bytes_left = sum(document["results"]["TCP download sum"]) * 0.2 / 8 * 1e6
    received = rows(trial, "flows")
    # What was sent again left the queue twice.
    again = received["retransmits"].sum() * 1024
    assert 0 <= bytes_left - received["received_bytes"].sum() <= again + 4 * 65_535
    windows = rows(trial, "cwnd").query("pair == 2")["cwnd_segments"].tolist()
    raw = document["raw_values"]["TCP download::2"]
    assert [one["tcp_cwnd"] for one in raw if "tcp_cwnd" in one] == windows
    queue = document["raw_values"]["qdisc_stats_switch"]
    drops = rows(trial, "drops").query("port == 'down'")
    last_ns = rows(trial, "queue").time_ns.max()
    assert sum(one["dropped"] for one in queue) == (drops.time_ns <= last_ns).sum() > 0


@pytest.mark.lab
def test_a_drop_stands_where_the_queue_was_full(
    campaign: cellbed.Campaign, trial: Trial, tmp_path: Path
) -> None:
    """A frame is dropped while others leave: the two clocks are put together rightly."""
    [path] = campaign.export("pcapng", tmp_path)
    with path.open("rb") as stream:
        found = [block for block in FileScanner(stream) if isinstance(block, EnhancedPacket)]
    times = [(block.timestamp_high << 32) + block.timestamp_low for block in found]
    assert times == sorted(times)
    drops = [(time, block) for time, block in zip(times, found, strict=True)
             if "opt_comment" in block.options]  # fmt: skip
    assert len(drops) == (rows(trial, "drops")["port"] == "down").sum() > 0
    left = [time for time, block in zip(times, found, strict=True)
            if block.packet_data[26:28] == bytes([10, 2])]  # fmt: skip
    frame_ns = 24 * 53 * 8 / 45e6 * SECOND_NS
    for time, block in drops:
        assert block.options["opt_comment"].encode() == block.packet_data[14:]
        assert 0 <= time - left[bisect_left(left, time) - 1] <= frame_ns
    assert all(b.captured_len <= 96 for b in found if b.packet_len > 1000)


@pytest.mark.lab
def test_qlog_has_a_connections_life(
    campaign: cellbed.Campaign, trial: Trial, tmp_path: Path
) -> None:
    [path] = campaign.export("qlog", tmp_path)
    document = json.loads(path.read_text())
    assert [trace["title"] for trace in document["traces"]] == ["pair 2", "pair 4"]
    events = document["traces"][0]["events"]
    counts = Counter(event["name"] for event in events)
    requests = rows(trial, "requests").query("pair == 2")
    assert counts["cellbed:response_complete"] == requests["last_byte_ns"].notna().sum() > 0
    drops = rows(trial, "drops").query("port == 'down' and vc == 2")
    assert counts["cellbed:frame_dropped"] == len(drops)
    windows = [event["data"]["congestion_window"] for event in events
               if "congestion_window" in event["data"]]  # fmt: skip
    assert max(windows) == rows(trial, "cwnd").query("pair == 2")["cwnd_segments"].max() * 1024
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)


@pytest.mark.lab
def test_parquet_has_the_tables(campaign: cellbed.Campaign, tmp_path: Path) -> None:
    names = {path.stem for path in campaign.export("parquet", tmp_path)}
    assert names == {
        *("checks", "cwnd", "drops", "flows", "queue", "requests", "throughput", "trials")
    }
    for name in names - {"checks", "trials"}:
        pd.testing.assert_frame_equal(
            parquet.read_table(tmp_path / f"{name}.parquet").to_pandas(), campaign.series(name)
        )


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cellbed.Campaign:
    """Nothing that was measured, and nothing over time."""
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    return cellbed.Campaign(synthetic.write_campaign(tmp_path / "c", seeds=[1], cells=EPD_CELL))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("flent", "has no data over time; record a capture, requests, windows or the queue"),
        ("pcapng", "has no captured packets; ./cellbed run --pcap records them"),
        ("qlog", "has no windows; set record.cwnd_sample_ms to record them"),
        ("excel", "excel is no format; the formats are csv, flent, parquet, pcapng, qlog"),
    ],
)
def test_what_is_not_there_is_said(bare: cellbed.Campaign, kind: str, said: str) -> None:
    with pytest.raises(cellbed.UsageError, match=said):
        bare.export(kind)


def test_qlog_says_which_trials_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    folder = synthetic.write_campaign(tmp_path / "c", seeds=[1, 2, 3], cells=EPD_CELL)
    found = cellbed.Campaign(folder)
    of_quic = found.records.trials[0].folder / "qlog.zip"
    of_quic.touch()
    own, without = exports.left_out(found.records, "qlog")
    assert own.startswith("no file for 1 trial with QUIC: ")
    assert own.endswith(f"for example {of_quic}")
    assert without.startswith("no file for 2 trials without windows, which record.cwnd_sample_ms")
    with pytest.raises(cellbed.UsageError, match=re.escape(own)):
        found.export("qlog")
    assert not exports.left_out(found.records, "csv")


def test_a_library_that_is_missing_is_said(
    bare: cellbed.Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, f"{exports.__name__}.parquet", raising=False)
    with pytest.raises(
        cellbed.MissingError, match="the export needs pyarrow; run ./cellbed setup --"
    ):
        bare.export("parquet")


def test_csv_has_the_tables(bare: cellbed.Campaign, tmp_path: Path) -> None:
    written = {path.name: path for path in bare.export("csv", tmp_path / "csv")}
    assert {"trials.csv", "checks.csv"} <= {*written}
    found = pd.read_csv(written["trials.csv"])
    assert found["efficiency"].tolist() == bare.trials()["efficiency"].tolist()


def test_an_export_has_levels_of_their_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CSV writes them as before: a whole number has no point."""
    monkeypatch.setattr(judgement, "bring_up_to_date", lambda _: judgement.Judged())
    made = synthetic.write_campaign(
        tmp_path / "c", seeds=[1], cells={**EPD_CELL, ("WAN", "SACK", "EPD", 1.0): (0.8, 0.7)},
        extra_factors=[{"cells": 1000, "idle": True}, {"cells": 250, "idle": False}],
    )  # fmt: skip
    found = cellbed.Campaign(made)
    found.export("csv", tmp_path / "csv")
    head, *lines = (tmp_path / "csv" / "trials.csv").read_text().splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    assert {row["buffer"] for row in rows} == {"0.5", "1"}
    assert {(row["cells"], row["idle"]) for row in rows} == {("1000", "true"), ("250", "false")}
    found.export("parquet", tmp_path / "parquet")
    table = parquet.read_table(tmp_path / "parquet" / "trials.parquet")
    types = {name: str(table.schema.field(name).type) for name in ("buffer", "cells", "idle")}
    assert types == {"buffer": "double", "cells": "int64", "idle": "bool"}


def test_an_empty_table_tells_its_key(
    bare: cellbed.Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bare.series("queue").empty
    said = capsys.readouterr().err
    assert "set record.queue_sample_ms = 100 in the experiment to record it" in said


def test_of_persistent_sources_it_says_what_records_answers_and_goodput(
    bare: cellbed.Campaign, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """plot.throughput draws answers, and these have none; plot.pairs draws such a trial."""
    trial = replace(bare.records.trials[0], plan=made_plans.plan(workload="iperf"))
    monkeypatch.setattr(bare, "records", replace(bare.records, trials=(trial,)))
    only = (
        "there is no requests.csv: only workload.kind = quic, quic-bulk or www writes it, and here"
        " the"
    )
    with pytest.raises(cellbed.UsageError) as caught:
        cellbed.plot.throughput(trial)
    assert f"{only} workload is iperf; plot.pairs(trial) draws the" in str(caught.value)
    assert bare.requests().empty and only in capsys.readouterr().err
    assert bare.goodput().empty
    assert 'set record.pcap = ["up"] in the experiment, or run' in capsys.readouterr().err
    with pytest.raises(cellbed.UsageError, match="nothing in the record tells the goodput"):
        cellbed.plot.goodput(trial)
    with pytest.raises(cellbed.UsageError, match="set record.queue_sample_ms = 100 in the exp"):
        cellbed.plot.queue(trial)


def test_each_table_of_the_page_has_its_key_or_workload() -> None:
    """docs/records.md lists the tables; series() knows each of them."""
    page = (PROJECT / "docs" / "records.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| (\w+)\.csv \|", page, re.MULTILINE))
    known = {"flows", tables.NAMED_LINKS, *tables.RECORDED_BY, *tables.of_workloads()}
    assert listed == known and len(listed) > 10


def test_windows_of_a_pair_that_was_not_followed(bare: cellbed.Campaign) -> None:
    [trial] = bare.records.trials
    with pytest.raises(cellbed.UsageError, match="the window of pair 9 was not recorded"):
        cellbed.plot.windows(trial, pairs=[9])
