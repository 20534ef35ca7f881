# SPDX-License-Identifier: GPL-2.0-only
"""Captures: every frame that the queue let go is in the file, at the moment of its departure."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.captures import pcap
from harness.design import experiment
from harness.design.trials import planned
from harness.judge.checks.captures import capture
from plan import facts
from tests import made_plans
from tests.bpf import replay
from tests.small import SMALL, run_trials, write_small

NANOSECOND_PCAP = 0xA1B23C4D
ETHERNET = 1
HEADER_BYTES = 96
# The kernel reads its clock once more between fq and the capture.
CLOCK_NS = 2000


@dataclass(frozen=True, kw_only=True)
class Packet:
    """One packet of a capture file: when [ns], length on the wire, what was kept of it."""

    time_ns: int
    length: int
    data: bytes

    @property
    def downward(self) -> bool:
        """Is it from a server (10.2/16)?"""
        return self.data[26:28] == bytes([10, 2])


def read(path: Path) -> list[Packet]:
    data = path.read_bytes()
    magic, major, minor, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, link) == (NANOSECOND_PCAP, 2, 4, ETHERNET)
    found, at = [], 24
    while at < len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        at += 16
        packet = data[at : at + kept]
        found.append(Packet(time_ns=seconds * 10**9 + ns, length=length, data=packet))
        at += kept
    return found


@pytest.mark.lab
def test_a_capture_is_whole_and_its_times_are_the_departures(tmp_path: Path) -> None:
    path = write_small(tmp_path, SMALL + "[[rule]]\nwhen = {}\nset = { record.frames = true }\n")
    wanted = experiment.with_captures(experiment.load(path), ["down"])
    trial = planned(wanted, path, ["network=WAN", "flavor=SACK"])[0]
    document = run_trials(tmp_path / "out", [trial])[trial.name]
    assert document["valid"] and "capture" in {check["name"] for check in document["checks"]}

    folder = tmp_path / "out" / "trials" / trial.name
    packets = read(folder / "down.pcap")
    count = document["capture"]["ports"]["down"]["packets"]
    assert len(packets) == count == sum(document["links"]["sw2-sat"][:2]) > 1000
    assert all(len(p.data) == min(p.length, HEADER_BYTES) for p in packets)

    offset_ns = document["capture"]["clock_offset_ns"]
    due = [f.departure_ns for f in replay.read(folder / "down.cellq").frames if f.departure_ns]
    left = [p.time_ns - offset_ns for p in packets if p.downward]
    assert len(left) == len(due)
    assert max(abs(a - b) for a, b in zip(left, sorted(due), strict=True)) < CLOCK_NS


def test_a_capture_is_another_trial(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    plain = planned(experiment.load(path), path)
    captured = planned(experiment.with_captures(experiment.load(path), ["up"]), path)
    assert not {t.name for t in plain} & {t.name for t in captured}
    assert {t.plan.record.of(pcap.Wanted).pcap for t in captured} == {("up",)}


def test_a_packet_that_is_missing_in_the_file_fails_the_check() -> None:
    lab = {"links": {"sw2-sat": [60, 40, 0]}, "capture": {"ports": {"down": {"packets": 99}}}}
    verdict = capture("pcap")(facts.read(facts.TrialFacts, lab), made_plans.plan())
    assert verdict and verdict["ok"] is False and verdict["measured"] == 1
