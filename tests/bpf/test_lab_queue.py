# SPDX-License-Identifier: GPL-2.0-only
"""The queue in the lab's kernel: real packets, netem access links, fq.

One lab, every policy: 100 hosts send UDP bursts through one port, and the kernel's
account of every frame is compared with the reference's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import replay
from libcellq import POLICIES

from harness.errors import MissingError
from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from harness.paths import image, kernel, programs

HOSTS, SECONDS = 100, 2
DONE = "; exec python3 -B -m harness.agent.power_off"
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that the trials in the lab left."""
    try:
        kernel(), image(), programs()
    except MissingError as error:
        pytest.skip(str(error))
    run = tmp_path_factory.mktemp("lab")
    script = "python3 -B tests/bpf/lab_traffic.py /opt/cellbed/cellq /run/cellbed"
    main = f"cd /cellbed; {script} {','.join(POLICIES)} {HOSTS} {SECONDS} > /run/cellbed/said 2>&1"
    with UmlLab(LabSpec(pairs=HOSTS, main=main + DONE, memory_mib=2048), run) as lab:
        wait_for_exit(lab, 300)
    said = (run / "said").read_text()
    assert said.split()[-1:] == [POLICIES[-1]], said
    yield run


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
def test_packets_leave_at_their_departure_times(records: Path, policy: str) -> None:
    """In virtual time fq is exact but for the kernel's own clock readings."""
    recording = replay.read(records / f"{policy}.rec")
    due = sorted((f.departure_ns, f.cells) for f in recording.frames if f.departure_ns)
    came = sorted(json.loads((records / f"{policy}.sink.json").read_text()))
    assert [cells for _, cells in due] == [(size - 14 + 16 + 47) // 48 for _, size in came]
    assert all(0 <= at - due_ns <= 2000 for (at, _), (due_ns, _) in zip(came, due, strict=True))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_busy_port_sends_45_mbit_per_s(records: Path, policy: str) -> None:
    """Issue 3, Show 3: to 0.1 %."""
    said = read(records, policy)
    assert said["cells_sent"] * 424e9 / said["busy_ns"] == pytest.approx(45e6, rel=1e-3)
