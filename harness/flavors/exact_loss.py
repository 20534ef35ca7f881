# SPDX-License-Identifier: GPL-2.0-only
"""TCP connections with exact losses, in a lab of their own: the host's side.

tcp-configs/loss does the work: sender, router and receiver in three network namespaces,
an eBPF program that drops chosen segments at chosen sendings and keeps every segment and
ACK. In virtual time a connection takes some hundredths of a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import LabError
from harness.flavors.files import Flavor, needed_modules
from harness.labs.base import LabSpec
from harness.labs.session import lab_folder
from harness.labs.uml import UmlLab, wait_for_exit

MAIN = (
    "exec python3 -B /cellbed/tcp-configs/loss/run.py"
    " /run/cellbed/job.json /run/cellbed/result.jsonl --power-off"
)
MEMORY_MIB = 1024
BOOT_CPU_S = 30.0
CONNECTION_CPU_S = 4.0


@dataclass(frozen=True, kw_only=True)
class Link:
    """The bottleneck between sender and receiver; the way back is not shaped.

    Attributes:
        delay_ns: one way, the same in both directions.
    """

    rate_bit_per_s: int = 10_000_000
    delay_ns: int = 50_000_000
    mtu_bytes: int = 1040


@dataclass(frozen=True, kw_only=True)
class Connection:
    """One connection to be run.

    Attributes:
        payload_bytes: of a full segment; segments are counted in it, from 0.
        writes: (time since the start in ns, bytes) of the sender's application.
        initcwnd, ssthresh: initial, in segments; None: the kernel's own.
        drops: segment -> its sendings (from 0) that are lost.
        limit_ns: virtual time after which the connection counts as not finished.
    """

    id: str
    flavor: Flavor
    writes: Sequence[tuple[int, int]]
    payload_bytes: int = 1000
    initcwnd: int | None = None
    ssthresh: int | None = None
    drops: Mapping[int, Iterable[int]] = field(default_factory=dict)
    limit_ns: int = 300_000_000_000

    def as_job(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "flavor": self.flavor.as_dict(),
            "payload_bytes": self.payload_bytes,
            "writes": [list(write) for write in self.writes],
            "initcwnd": self.initcwnd,
            "ssthresh": self.ssthresh,
            "drops": {str(segment): sorted(n) for segment, n in self.drops.items()},
            "limit_ns": self.limit_ns,
        }


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


def run(connections: Sequence[Connection], link: Link) -> list[Outcome]:
    """Run the connections one after the other in a lab.

    Raises:
        LabError: the lab or the scenario failed; what went wrong in one line.
        MissingError: ./cellbed setup has not been run.
    """
    with lab_folder() as directory:
        job = {
            "modules": sorted({m for c in connections for m in needed_modules(c.flavor)}),
            "link": asdict(link),
            "runs": [c.as_job() for c in connections],
        }
        (directory / "job.json").write_text(json.dumps(job))
        spec = LabSpec(pairs=0, memory_mib=MEMORY_MIB, main=MAIN)
        with UmlLab(spec, directory) as lab:
            wait_for_exit(lab, BOOT_CPU_S + CONNECTION_CPU_S * len(connections))
            return _outcomes(directory / "result.jsonl", connections, lab.console())


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
