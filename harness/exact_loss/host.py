# SPDX-License-Identifier: GPL-2.0-only
"""Boots a lab for connections with exact losses, and says what each of them did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.exact_loss.job import Connection, Link, LossJob
from harness.labs.base import LabSpec
from harness.labs.session import session
from harness.labs.supervised import wait_for_exit
from harness.waiting import Told, silent
from plan import schema
from plan.errors import LabError

MAIN = (
    "cd /cellbed && exec python3 -B -m harness.exact_loss.lab"
    " /run/cellbed/job.json /run/cellbed/result.jsonl"
)
MEMORY_MIB = 1024
BOOT_CPU_S = {"uml": 30.0, "vm": 300.0}
LABS = tuple(BOOT_CPU_S)
CONNECTION_CPU_S = 4.0


@dataclass(frozen=True, kw_only=True)
class Sending:
    """A data segment as it left the sender.

    Attributes:
        byte, length: its place in the stream.
        segment: byte / payload_bytes, rounded down.
        sending: which sending of this segment, from 0.
    """

    time_s: float
    byte: int
    length: int
    segment: int
    sending: int
    dropped: bool


@dataclass(frozen=True, kw_only=True)
class Ack:
    """An ACK as it left the receiver; bytes acknowledged, and in SACK blocks."""

    time_s: float
    acked_bytes: int
    sacked_bytes: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a connection did.

    Attributes:
        finished: everything was acknowledged within the limit.
        refused_retransmissions: the kernel found the segment still in its own queues.
        info: rto_us, rtt_us, cwnd, ssthresh, total_retrans of TCP_INFO at the end, and
            window_bytes, the module's congestion window (0 of another sender).
    """

    id: str
    finished: bool
    sent: tuple[Sending, ...]
    acks: tuple[Ack, ...]
    timeouts: int
    recoveries: int
    refused_retransmissions: int
    info: Mapping[str, int]

    @property
    def retransmitted(self) -> tuple[int, ...]:
        """Segments sent again, in order."""
        return tuple(s.segment for s in self.sent if s.sending > 0)


def run_connections(
    connections: Sequence[Connection], link: Link, told: Told = silent, lab: str = LABS[0]
) -> list[Outcome]:
    """Run the connections one after the other in a lab; `told` hears how many have ended.

    Args:
        lab: one of LABS.

    Raises:
        LabError: the lab or the scenario failed; what went wrong in one line.
        MissingError: ./cellbed setup has not been run.
    """
    job = json.dumps(schema.to_json(LossJob(link=link, connections=connections)))
    spec = LabSpec(pairs=0, memory_mib=MEMORY_MIB, main=MAIN)
    with session(lab, spec, {"job.json": job}) as booted:
        results = booted.run_directory / "result.jsonl"

        def tell() -> None:
            told(results.read_bytes().count(b"\n") if results.exists() else 0, len(connections))

        wait_for_exit(booted, BOOT_CPU_S[lab] + CONNECTION_CPU_S * len(connections), tell)
        return _outcomes(results, connections, booted.console())


def _outcomes(path: Path, connections: Sequence[Connection], console: str) -> list[Outcome]:
    lines = path.read_text().splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    for record in records:
        if "error" in record:
            raise LabError(f"exact losses: {record['error']}", console)
    if [r["id"] for r in records] != [c.id for c in connections]:
        raise LabError(
            f"exact losses: {len(records)} of {len(connections)} connections came back", console
        )
    return [_outcome(r, c) for r, c in zip(records, connections, strict=True)]


def _outcome(record: Mapping[str, Any], connection: Connection) -> Outcome:
    start_ns = record["start_ns"]
    counters = record["counters"]
    return Outcome(
        id=record["id"],
        finished=record["finished"],
        sent=tuple(
            Sending(
                time_s=(time_ns - start_ns) / 1e9,
                byte=byte,
                length=length,
                segment=byte // connection.payload_bytes,
                sending=sending,
                dropped=dropped,
            )
            for time_ns, byte, length, sending, dropped in record["data"]
        ),
        acks=tuple(
            Ack(time_s=(time_ns - start_ns) / 1e9, acked_bytes=acked, sacked_bytes=sacked)
            for time_ns, acked, sacked in record["acks"]
        ),
        timeouts=counters["timeouts"],
        recoveries=counters["reno_recoveries"] + counters["sack_recoveries"],
        refused_retransmissions=counters["refused_retransmissions"],
        info=record["info"],
    )
