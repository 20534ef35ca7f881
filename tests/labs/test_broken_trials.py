# SPDX-License-Identifier: GPL-2.0-only
"""Break one property of a trial in a real lab: the check that watches it fails, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.design.trials import PlannedTrial
from harness.judge import fidelity
from harness.labs import LabSpec, UmlLab, layers, shared
from plan.checks import CheckResult
from plan.facts import TrialFacts, read
from plan.plan import to_json
from tests.small import PROJECT, trials_of

pytestmark = pytest.mark.lab

MAIN = "cd /cellbed && exec python3 -B -m tests.labs.breaking"
TEXT = """
name = "broken"
title = "what checks are for"
[factors]
load = ["www", "iperf", "wrk", "far www", "web", "lossy", "mixed", "quic", "dash"]
[base]
topology = { pairs = 3, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1200 }
tcp = { flavor = "sack", window_bytes = 65_535, ssthresh_bytes = 12_500 }
record.pcap = ["down"]
[[rule]]
when = { load = ["www", "iperf", "wrk", "far www", "web", "lossy", "mixed", "dash"] }
set = { queue = { policy = "plain", buffer_cells = 2000 }, record.drops = true }
[[rule]]
when = { load = "www" }
[rule.set]
workload = { kind = "www", duration_s = 2.0, period_s = 1.0, gap_min_ms = 10, gap_max_ms = 60 }
[[rule]]
when = { load = ["iperf", "lossy", "mixed"] }
set = { workload = { kind = "iperf", duration_s = 2 } }
[[rule]]
when = { load = "quic" }
[rule.set]
queue = { kind = "drop-tail", limit_packets = 1000 }
workload = { kind = "quic", duration_s = 2.0, period_s = 1.0, gap_min_ms = 10, gap_max_ms = 60 }
[[rule]]
when = { load = "dash" }
[rule.set]
workload.kind = "dash"
workload.duration_s = 2
workload.segment_ms = 250
workload.buffer_ms = 1000
workload.cushion_share = 0.7
workload.play_from_ms = 250
workload.start_jitter_ms = 100
workload.ladder_bit_per_s = [100_000, 200_000, 400_000]
[[rule]]
when = { load = "wrk" }
set = { workload = { kind = "wrk", duration_s = 2 } }
[[rule]]
when = { load = "web" }
[rule.set]
topology.delay = "connection"
workload = { kind = "packmime", load_percent = 50, exchanges = 1000, duration_s = 60 }
[[rule]]
when = { load = "lossy" }
set = { topology.loss = { share = 0.05 } }
[[rule]]
when = { load = "mixed" }
set = { tcp.flavor = ["sack", "cubic"] }
[[rule]]
when = { load = "far www" }
set = { topology.delay_us = 6_000_000, workload = { kind = "www", duration_s = 20.0 } }
"""
# Load, what is broken, and what fails.
BROKEN = [
    ("www", "nothing", set()),
    ("iperf", "nothing", set()),
    ("wrk", "nothing", set()),
    # Longer than ping waits by itself, and than the end of a trial was waited for.
    ("far www", "nothing", set()),
    ("iperf", "departure times ignored", {"link rate"}),
    ("www", "a delay 1 % long", {"idle round trip"}),
    ("www", "a delay 1 % short", {"idle round trip"}),
    ("iperf", "an unmarked frame", {"queue faults"}),
    ("iperf", "a packet from nowhere", {"conservation down"}),
    ("iperf", "loss in a switch", {"drops elsewhere", "conservation down"}),
    ("iperf", "corruption that a host drops", {"drops elsewhere"}),
    ("iperf", "small receive buffer", {"drops elsewhere"}),
    ("www", "requests never sent", {"requests"}),
    ("www", "files cut short", {"requests"}),
    ("www", "a server that dies", {"requests", "receiver window"}),
    ("wrk", "files cut short", {"answers"}),
    ("iperf", "a slow source", {"idle sources"}),
    ("www", "a server that complains", {"server errors"}),
    ("www", "another receiver window", {"receiver window"}),
    ("iperf", "another receiver window", {"receiver window"}),
    ("wrk", "another receiver window", {"receiver window"}),
    ("www", "a client that sleeps", {"late requests"}),
    ("iperf", "a capture without pings", {"capture"}),
    ("lossy", "nothing", set()),
    ("lossy", "a path that loses nothing", {"path losses"}),
    ("iperf", "a path that loses packets", {"drops elsewhere", "conservation down"}),
    ("mixed", "nothing", set()),
    ("mixed", "another congestion control", {"flavors"}),
    ("web", "nothing", set()),
    ("web", "a server that sends too much", {"requests"}),
    ("web", "a server that sends too little", {"requests"}),
    ("web", "a server that ends early", {"requests"}),
    ("web", "another receiver window", {"receiver window"}),
    ("web", "servers that take their time", {"server delays"}),
    ("web", "one round trip a tenth of a millisecond long", {"round trips"}),
    ("web", "round trips a tenth of a millisecond off", {"handshakes", "round trips"}),
    ("web", "a connection without a round trip", {"conservation up", "delay faults"}),
    ("quic", "nothing", set()),
    ("quic", "files cut short", {"requests"}),
    ("quic", "a client that sleeps", {"late requests"}),
    ("quic", "a server that does not answer", {"connections"}),
    ("quic", "a datagram of another program", {"sent packets"}),
    ("quic", "an access link 2 ms long", {"sent moments"}),
    ("dash", "nothing", set()),
    ("dash", "segments cut short", {"requests"}),
    ("dash", "a server that dies", {"requests", "receiver window"}),
    ("dash", "a server that complains", {"server errors"}),
    ("dash", "another receiver window", {"receiver window"}),
    ("dash", "a client that sleeps", {"late requests"}),
    ("dash", "players with a larger buffer", {"buffers"}),
    ("dash", "players that stop after a second", {"buffers"}),
    ("dash", "players with another rule", {"levels"}),
]
# Load, what is broken, and the sentence of the trial that has no result then.
NO_RESULT = [
    ("iperf", "a recorder that is killed", "cellq record --name up .*: status -9: no word"),
    ("iperf", "a recorder without room", "--out /dev/full: No space left on device"),
    ("quic", "a server that dies", "a server ended during the trial, with status -9: Using doc"),
]
Case = tuple[str, str]
Judged = dict[Case, list[dict[str, Any]]]


def judge(
    folder: Path,
    trials: dict[str, PlannedTrial],
    todo: list[Case],
    kernel: Path | None = None,
) -> tuple[Judged, dict[Case, str]]:
    """Run broken trials one after the other in one lab: their checks; what failed, and why."""
    topology = next(iter(trials.values())).plan.topology
    names = {f"{number}": one for number, one in enumerate(todo)}
    needed = [layers.layer_of("uml", trial.plan) for trial in trials.values()]
    shares = {layer.name: layer.folder for layer in needed if layer is not None}
    spec = LabSpec(pairs=topology.pairs, main=MAIN, shares=shares, kernel=kernel)
    with UmlLab(spec, folder) as lab:
        lab.submit_network(topology)
        for name, (load, broken) in names.items():
            shared.prepare(trials[load].plan, folder)
            lab.submit({"kind": "trial", "trial": name, "plan": to_json(trials[load].plan),
                        "exact": lab.exact, "broken": broken})  # fmt: skip
        lab.submit({"kind": "end"})
        said = list(lab.events())
    assert "failed" not in {event["event"] for event in said}, (said, lab.console())
    failed = {
        names[event["trial"]]: event["error"] for event in said if event["event"] == "trial-failed"
    }
    judged = {
        (load, broken): checks_of(folder / "results" / name, trials[load])
        for name, (load, broken) in names.items()
        if (load, broken) not in failed
    }
    return judged, failed


def on_a_real_clock(folder: Path, trial: PlannedTrial) -> list[dict[str, Any]]:
    """One trial in which the wall clock is set."""
    spec = LabSpec(pairs=trial.plan.topology.pairs, main=MAIN, clock="real")
    with UmlLab(spec, folder) as lab:
        lab.submit_network(trial.plan.topology)
        lab.submit({"kind": "trial", "trial": "0", "plan": to_json(trial.plan),
                    "exact": lab.exact, "broken": "a clock that is set"})  # fmt: skip
        lab.submit({"kind": "end"})
        for event in lab.events():
            assert event["event"] not in ("failed", "trial-failed"), event
    return checks_of(folder / "results/0", trial)


def checks_of(left: Path, trial: PlannedTrial) -> list[CheckResult]:
    """By what a trial has left."""
    found = json.loads((left / "lab.json").read_text())
    return fidelity.checks_of(read(TrialFacts, found), trial.plan)


def trials_by_load(folder: Path) -> dict[str, PlannedTrial]:
    found = trials_of(folder, TEXT)
    return {str(trial.factors["load"]): trial for trial in found}


SHORT_BACKLOG = ("www", "backlog of one packet")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[Judged, dict[Case, str]]:
    folder = tmp_path_factory.mktemp("broken")
    todo = [(load, broken) for load, broken, _ in [*NO_RESULT, *BROKEN]]
    return judge(folder, trials_by_load(folder), [*todo, SHORT_BACKLOG])


@pytest.fixture(scope="module")
def judged(outcome: tuple[Judged, dict[Case, str]]) -> Judged:
    return outcome[0]


@pytest.mark.parametrize(("load", "broken", "sentence"), NO_RESULT)
def test_what_has_no_result(
    outcome: tuple[Judged, dict[Case, str]], load: str, broken: str, sentence: str
) -> None:
    failed = outcome[1]
    assert re.search(sentence, failed[load, broken])
    assert set(failed) == {(load, broken) for load, broken, _ in NO_RESULT}


@pytest.mark.parametrize(("load", "broken", "failing"), BROKEN)
def test_what_is_broken_fails(judged: Judged, load: str, broken: str, failing: set[str]) -> None:
    verdicts = judged[load, broken]
    assert {v["name"] for v in verdicts if not v["ok"]} == failing, verdicts


def test_the_documented_table_is_this_one() -> None:
    rows = [f"| {load} | {broken} | {', '.join(sorted(failing))} |"
            for load, broken, failing in BROKEN if failing]  # fmt: skip
    assert "\n".join(rows) + "\n\n" in (PROJECT / "docs" / "records.md").read_text()


def test_a_backlog_that_is_full_fails_wherever_the_packet_was(judged: Judged) -> None:
    """One backlog is every link's: what is lost may be on its way to the queue as well."""
    failed = {v["name"] for v in judged[SHORT_BACKLOG] if not v["ok"]}
    assert "drops elsewhere" in failed, judged[SHORT_BACKLOG]


def test_a_kernel_that_warns_ends_the_trial_and_its_lab(tmp_path: Path) -> None:
    plan = trials_by_load(tmp_path)["iperf"].plan
    with UmlLab(LabSpec(pairs=plan.topology.pairs, main=MAIN), tmp_path) as lab:
        lab.submit_network(plan.topology)
        for name, broken in (("0", "nothing"), ("1", "a kernel that warns"), ("2", "nothing")):
            lab.submit({"kind": "trial", "trial": name, "plan": to_json(plan),
                        "exact": lab.exact, "broken": broken})  # fmt: skip
        said = list(lab.events())
    ended = [event["trial"] for event in said if event["event"] == "trial-end"]
    assert ended == ["0"]
    *_, last_second, failed = said
    why = "the lab's kernel complained: WARNING: CPU: 0 PID: 0 at net/nowhere.c:1"
    assert failed["event"] == "failed" and failed["error"] == why
    assert (last_second["trial"], last_second["event"]) != ("2", "trial-begin")


def test_on_a_real_clock(tmp_path: Path) -> None:
    """What the clock may do to a trial; a busy machine may do more of it."""
    verdicts = on_a_real_clock(tmp_path, trials_by_load(tmp_path)["iperf"])
    failed = {v["name"] for v in verdicts if not v["ok"]}
    assert "clock step" in failed, verdicts
    assert {v["name"] for v in verdicts} >= {"late departures", "stalls", "clock step"}
