# SPDX-License-Identifier: GPL-2.0-only
"""A plan comes back from JSON as it was, and nothing else does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.design import experiment
from harness.design.trials import planned
from plan import plan
from plan.errors import UsageError
from plan.plan import DELAYS
from plan.schema import TypedError
from tests.small import PROJECT, TINY, small_trials, trials_of, write_tiny
from topology.delay import Delay

FILES = sorted((PROJECT / "studies").rglob("*.toml"))
EXPERIMENTS = [path for path in FILES if "\n[factors]" in path.read_text()]
KINDS = (
    "adaptive-red, adaptive-red-ns2, cake, cells, codel, drop-tail, dualpi2, fq-codel, fq-pie, pie"
)
CODEL = 'queue = { kind = "codel", limit_packets = 50, ecn = true }'


@pytest.mark.parametrize("path", EXPERIMENTS, ids=[path.stem for path in EXPERIMENTS])
def test_a_plan_comes_back_as_it_was(path: Path) -> None:
    for trial in planned(experiment.load(path), path, (), 1):
        text = json.dumps(plan.to_json(trial.plan))
        assert plan.from_json(json.loads(text)) == trial.plan


def codel(folder: Path, queue: str = CODEL) -> plan.Plan:
    path = write_tiny(folder)
    path.write_text(TINY.replace('queue = { policy = "plain", buffer_cells = 300 }', queue))
    return planned(experiment.load(path), path)[0].plan


def test_a_queue_of_packets_is_told_by_its_kind(tmp_path: Path) -> None:
    document = plan.to_json(codel(tmp_path))
    assert document["queue"]["down"] == {
        "kind": "codel", "limit_packets": 50, "target_us": 5000, "interval_us": 100_000, "ecn": True
    }  # fmt: skip
    assert plan.from_json(document).queue.up.kind == "codel"


def test_pairs_have_flavors_in_turn(tmp_path: Path) -> None:
    """And a plan of one flavor is as it was before there could be several."""
    [alone] = trials_of(tmp_path, TINY)
    assert "others" not in plan.to_json(alone.plan)["tcp"]
    text = TINY.replace("pairs = 2", "pairs = 5").replace('"sack"', '["sack", "CUBIC"]')
    [both] = trials_of(tmp_path, text)
    names = [both.plan.tcp.of_pair(pair).flavor.name for pair in range(1, 6)]
    assert names == ["sack", "cubic", "sack", "cubic", "sack"]
    assert plan.from_json(json.loads(json.dumps(plan.to_json(both.plan)))) == both.plan


MISTAKES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d.pop("seed"), "plan.seed: this key is missing"),
    (lambda d: d.update(sed=1), "plan.sed: this key is unknown"),
    (lambda d: d.update(format="cellbed-plan/0"), "plan.format must be cellbed-plan/1"),
    (lambda d: d["topology"].pop("pairs"), "plan.topology.pairs: this key is missing"),
    (lambda d: d["topology"].update(pairs="4"), 'plan.topology.pairs = "4": must be a whole'),
    (lambda d: d["topology"].update(pairs=True), "plan.topology.pairs = true: must be a whole"),
    (
        lambda d: d["queue"]["down"].update(kind="red"),
        "plan.queue.down.kind = red: it must be one",
    ),
    (lambda d: d["queue"]["down"].update(limit=1), "plan.queue.down.limit: this key is unknown"),
    (lambda d: d["workload"].pop("kind"), "plan.workload.kind = None: it must be one of dash, "),
    (
        lambda d: d["tcp"]["flavor"].update(sysctl=[]),
        "plan.tcp.flavor.sysctl = []: must be a table",
    ),
    (
        lambda d: d["record"].update(pcap=["left"]),
        "plan.record.pcap.0 = left: it must be one of do",
    ),
    (lambda d: d["record"].pop("cwnd_pairs"), "plan.record.cwnd_pairs: this key is missing"),
    (
        lambda d: d["record"].update(pcaps=[]),
        "plan.record.pcaps: this key is unknown; it must be one",
    ),
    (lambda d: d["factors"].update(network=None), "plan.factors.network = null: must be a text or"),
]


@pytest.mark.parametrize(("change", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_another_document_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    document = copy.deepcopy(plan.to_json(small_trials(tmp_path)[0].plan))
    change(document)
    with pytest.raises(TypedError) as caught:
        plan.from_json(document)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ('queue.kind = "fifo"', f"queue.kind = fifo: it must be one of {KINDS}"),
        ("queue.kind = 5", f"queue.kind = 5: it must be one of {KINDS}"),
        ('queue = { kind = "codel", limit_packets = 0 }', "queue.limit_packets = 0: allowed are 1"),
        ('queue = { kind = "cake", memory_bytes = 1500 }', "queue.memory_bytes = 1500: allowed"),
        ('queue = { kind = "drop-tail", limit_packets = 0 }', "queue.limit_packets = 0: allowed"),
        ('queue = { kind = "adaptive-red", limit_packets = 0.5 }', "limit_packets = 0.5: "),
        ('queue = { kind = "codel", ecn = 1 }', "queue.ecn = 1: must be true or false"),
        (
            'queue = { kind = "codel", policy = "epd" }',
            "queue.policy: this key is unknown; a queue has this key only with kind = cells",
        ),
        ('queue.kind = "codel"\nrecord.drops = true', "record.drops: not with queue.kind = codel"),
    ],
)
def test_a_wrong_queue_is_told_in_one_line(tmp_path: Path, queue: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        codel(tmp_path, queue)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("record = 1", "record = 1: must be a table"),
        (
            "record.pcaps = []",
            "record.pcaps: this key is unknown; it must be one of cwnd_sample_ms, cwnd_pairs",
        ),
        ("record.pcap = 'down'", 'record.pcap = "down": must be a list'),
        ("record.frames = 1", "record.frames = 1: must be true or false"),
        (
            "record.queue_sample_ms = -1",
            "record.queue_sample_ms = -1: allowed are 0, or 0.01 to 100_000",
        ),
        ("record.cwnd_sample_ms = 1e6", "record.cwnd_sample_ms = 1000000.0: allowed are 0, or 0.1"),
        ("record.cwnd_pairs = [0]", "record.cwnd_pairs, value 1 = 0: must be at least 1"),
        ("record = { cwnd_sample_ms = 1, cwnd_pairs = [9] }", "record.cwnd_pairs: none of them is"),
    ],
)
def test_a_wrong_record_is_told_in_one_line(tmp_path: Path, record: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        codel(tmp_path, f"{CODEL}\n{record}")
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        ("none", "topology.delay = none: it must be one of connection, constant"),
        ("connection", "with workload.kind = iperf it must be constant"),
    ],
)
def test_a_wrong_delay_is_told_in_one_line(tmp_path: Path, delay: str, said: str) -> None:
    path = write_tiny(tmp_path)
    path.write_text(TINY.replace("delay_us", f'delay = "{delay}", delay_us'))
    with pytest.raises(UsageError, match=said):
        planned(experiment.load(path), path)


def test_any_workload_goes_with_a_delay_that_is_none_of_its_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_tiny(tmp_path)
    path.write_text(TINY.replace("delay_us", 'delay = "one-way", delay_us'))
    monkeypatch.setitem(DELAYS.kinds, "one-way", SimpleNamespace(Delay=Delay))
    assert {trial.plan.topology.delay for trial in planned(experiment.load(path), path)} == {
        "one-way"
    }
    path.write_text(TINY.replace("delay_us", 'delay = "connection", delay_us'))
    with pytest.raises(UsageError, match="it must be constant or one-way"):
        planned(experiment.load(path), path)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ("0.1", 'topology.loss = 0.1: must be a table or "none"'),
        ("{}", "topology.loss.share: this key is missing"),
        (
            "{ share = '0.1' }",
            'topology.loss.share = "0.1": must be a number; write 0.1, without quotes',
        ),
        ("{ share = 0.6 }", "topology.loss.share = 0.6: allowed are 1e-06 to 0.5"),
        (
            "{ share = 0.1, burst = 3 }",
            "topology.loss.burst: this key is unknown; it must be one of share, burst",
        ),
        (
            "{ share = 0.1, direction = 'left' }",
            "direction = left: it must be one of down, up, both",
        ),
    ],
)
def test_a_wrong_loss_is_told_in_one_line(tmp_path: Path, loss: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        trials_of(tmp_path, TINY.replace("delay_us", f"loss = {loss}, delay_us"))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_losses_of_the_path_come_back_and_none_leaves_the_plan_as_it_was(tmp_path: Path) -> None:
    lossy = TINY.replace("delay_us", "loss = { share = 0.01, burst_packets = 4 }, delay_us")
    [trial] = trials_of(tmp_path, lossy)
    document = json.loads(json.dumps(plan.to_json(trial.plan)))
    assert document["topology"]["loss"] == {
        "share": 0.01, "burst_packets": 4, "burst_share": 1.0, "direction": "down"
    }  # fmt: skip
    assert plan.from_json(document) == trial.plan
    [none] = trials_of(tmp_path, TINY.replace("delay_us", 'loss = "none", delay_us'))
    assert "loss" not in plan.to_json(none.plan)["topology"]


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        ("load_percent = 0", "workload.load_percent = 0: allowed are 1 to 200"),
        ("load_percent = 300", "workload.load_percent = 300: allowed are 1 to 200"),
        ("exchanges = 9", "workload.exchanges = 9: allowed are 10"),
        ('http = "2"', "workload.http = 2: it must be one of 1.0, 1.1"),
    ],
)
def test_a_wrong_web_load_is_told_in_one_line(tmp_path: Path, workload: str, said: str) -> None:
    path = tmp_path / "web.toml"
    extended = PROJECT / "studies/web_2003/web-small.toml"
    path.write_text(f'extends = "{extended}"\nname = "web"\n[base]\nworkload.{workload}\n')
    with pytest.raises(UsageError) as caught:
        planned(experiment.load(path), path)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_plan_from_before_there_were_kinds_of_queues_is_read() -> None:
    data = json.loads((Path(__file__).parent / "kept" / "before-kinds.json").read_text())
    assert "kind" not in data["queue"]["down"]
    del data["topology"]["delay"], data["record"]["throughput_sample_ns"], data["study"]
    read = plan.from_json(data)
    assert plan.QUEUES.name_of(read.queue.down) == "cells"
    assert (read.queue.up.room_cells, read.topology.loss, read.tcp.others) == (531, None, ())
    assert (read.topology.delay, read.record.value("throughput_sample_ns")) == ("constant", 0)
    with pytest.raises(AttributeError, match="no capture has the key throughputs"):
        read.record.value("throughputs")
