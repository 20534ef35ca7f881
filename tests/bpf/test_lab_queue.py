# SPDX-License-Identifier: GPL-2.0-only
"""The queue in the lab's kernel: real packets, netem access links, fq.

100 hosts send through one port, UDP bursts under every policy and TCP under three;
the kernel's account of every frame is compared with the reference's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from plan.path import Way
from tests.bpf import replay
from tests.small import PROJECT, TINY, trials_of
from topology.libcellq import POLICIES
from topology.moving.table import packed

HOSTS, SECONDS = 100, 2
TCP_POLICIES = ("epd", "sd", "plain")
DONE = "; exec python3 -B -m harness.agent.power_off"
pytestmark = pytest.mark.lab


def run_lab(script: str, policies: Sequence[str], run: Path) -> Path:
    """Boot a lab, run one of the scripts beside this file in it, wait for its end."""
    words = f"/opt/cellbed/cellq /run/cellbed {','.join(policies)} {HOSTS} {SECONDS}"
    main = f"cd /cellbed; python3 -B tests/bpf/{script} {words} > /run/cellbed/said 2>&1"
    with UmlLab(LabSpec(pairs=HOSTS, main=main + DONE, memory_mib=2048), run) as lab:
        wait_for_exit(lab, 300)
    said = (run / "said").read_text()
    assert said.split()[-1:] == [policies[-1]], said
    return run


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What UDP bursts under every policy left."""
    return run_lab("lab_traffic.py", POLICIES, tmp_path_factory.mktemp("udp"))


@pytest.fixture(scope="module")
def tcp_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What TCP under three policies left."""
    return run_lab("lab_tcp.py", TCP_POLICIES, tmp_path_factory.mktemp("tcp"))


@pytest.mark.parametrize("policy", TCP_POLICIES)
def test_real_tcp_equals_the_reference(tcp_records: Path, policy: str) -> None:
    """100 pairs, 531 cells; the link is full and frames are lost."""
    recording = replay.read(tcp_records / f"{policy}.rec")
    said = read(tcp_records, policy)
    assert said["faults_total"] == 0
    assert said["peak_cells"] == 531 or policy == "epd"
    assert len(recording.frames) == said["frames_announced"] > 5000
    assert any(f.cause for f in recording.frames)
    assert list(replay.differences(recording, replay.simulate(recording))) == []


def read(records: Path, policy: str) -> dict[str, Any]:
    """What `cellq read --json` said at the end of a policy's trial."""
    said: dict[str, Any] = json.loads((records / f"{policy}.json").read_text())
    return said


@pytest.mark.parametrize("policy", POLICIES)
def test_every_frame_equals_the_reference(records: Path, policy: str) -> None:
    """Verdict, departure, X, X_i, N_a at every drop, and the time series."""
    recording = replay.read(records / f"{policy}.rec")
    assert len(recording.frames) > 1000
    assert any(f.cause for f in recording.frames)
    assert len(recording.samples) > 100
    assert list(replay.differences(recording, replay.simulate(recording))) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_no_fault_and_consistent_counters(records: Path, policy: str) -> None:
    said = read(records, policy)
    frames, cells = said["frames"], said["cells"]
    recording = replay.read(records / f"{policy}.rec")
    assert said["faults_total"] == 0
    assert said["frames_announced"] == said["frames_resolved"] == frames["in"]
    assert frames["in"] == len(recording.frames)
    assert frames["accepted"] == frames["delivered"] + frames["lost_mid"]
    assert cells["accepted"] == cells["delivered"] + cells["wasted"]
    assert cells["accepted"] == said["cells_sent"] + said["occupancy_cells"]
    for group in ("frames", "cells"):
        for name, total in said[group].items():
            assert total == sum(vc[group][name] for vc in said["per_vc"])


@pytest.mark.parametrize("policy", POLICIES)
def test_the_agent_reads_the_same_without_a_process(records: Path, policy: str) -> None:
    seen = json.loads((records / f"{policy}.agent.json").read_text())
    said = read(records, policy)
    waiting = said["frames_announced"] - said["frames_resolved"]
    assert seen["passed"] == [said["frames"]["delivered"], waiting]
    assert seen["programs"] == seen["bpftool"] != []


@pytest.mark.parametrize("policy", POLICIES)
def test_packets_leave_at_their_departure_times(records: Path, policy: str) -> None:
    """In virtual time fq is exact but for the kernel's own clock readings."""
    recording = replay.read(records / f"{policy}.rec")
    due = sorted((f.departure_ns, f.cells) for f in recording.frames if f.departure_ns)
    came = sorted(json.loads((records / f"{policy}.sink.json").read_text()))
    assert [cells for _, cells in due] == [(size - 14 + 16 + 47) // 48 for _, size in came]
    assert all(0 <= at - due_ns <= 2000 for (at, _), (due_ns, _) in zip(came, due, strict=True))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_busy_port_sends_45_mbit_per_s(records: Path, policy: str) -> None:
    """To 0.1 %."""
    said = read(records, policy)
    assert said["cells_sent"] * 424e9 / said["busy_ns"] == pytest.approx(45e6, rel=1e-3)


def test_the_page_has_what_the_verifier_looks_at(tmp_path: Path) -> None:
    """The largest count of a program, with and without a path, in thousands."""
    (tmp_path / "path.csv").write_text("time_s,rate_bit_per_s\n0,40000000\n1,20000000\n")
    text = TINY.replace("topology = {", 'topology = { path = "path.csv",')
    [trial] = trials_of(tmp_path, text)
    network, way = trial.plan.topology.layout(), trial.plan.topology.path
    assert way is not None
    run = tmp_path / "run"
    run.mkdir()
    lengths = {"short": 100, "long": 9_000}
    rows = {name: replace(way, down=longer(way.down, more)) for name, more in lengths.items()}
    rows["few"] = way
    for name, path in rows.items():
        (run / f"{name}.table").write_bytes(packed(path, "down", network, 0, 10**9))
    said = json.loads((run_lab("lab_verified.py", POLICIES, run) / "verified.json").read_text())
    assert all(len(found) >= 2 for of in said.values() for found in of.values())
    most = {name: max(map(max, of.values())) for name, of in said.items()}
    page = (PROJECT / "bpf" / "README.md").read_text(encoding="utf-8")
    largest = max(most[name] for name in rows)
    assert largest > most["few"] > most["still"] > 1000
    for count in (largest, most["still"]):
        assert f"{round(count, -3):,}" in page, most


def longer(way: Way, more: int) -> Way:
    """A path with so many more rows, which change nothing."""
    times = [*way.times_us, *(way.times_us[-1] + 1000 * n for n in range(1, more + 1))]
    rates = [*way.rates_bit_per_s, *[way.rates_bit_per_s[-1]] * more]
    return replace(way, times_us=times, rates_bit_per_s=rates)
