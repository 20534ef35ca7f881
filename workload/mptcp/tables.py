# SPDX-License-Identifier: GPL-2.0-only
"""The state of connections at some moments, and what a record says of it. Pure but for write().

A pair is a path: an address of a client, and its server. A connection has one pair, or with MPTCP
one for each path.
"""

from __future__ import annotations

import csv
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any

from workload.mptcp.info import IPPROTO_MPTCP
from workload.source import Subflow

FILE = "connections.csv"
COLUMNS = "pairs,kind,subflows,resets,received_bytes,whole_bytes,reinjected_bytes".split(",")
RESPONSES = {
    "goodput_mbit_per_s": "goodput",
    "single_mbit_per_s": "single",
    "subflows": "subflows",
    "pause_ms": "pause ms",
}
CLIENT = "client"  # of topology.pairs; the other kinds have one link
BITS_PER_MBIT = 1e6


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A connection: its kind (Layout.bundles), and the pair of each of its paths."""

    kind: str
    pairs: tuple[int, ...]

    @property
    def protocol(self) -> int:
        return IPPROTO_MPTCP if len(self.pairs) > 1 else socket.IPPROTO_TCP


@dataclass(frozen=True, kw_only=True)
class Path:
    """A path of a connection: the subflow at both ends; None: there is none at the moment.

    left: the client has left this path; the subflow is then as it was at this moment.
    still: and yet there is a subflow.
    """

    pair: int
    receiver: Subflow | None
    sender: Subflow | None
    left: bool = False
    still: bool = False

    @property
    def received_bytes(self) -> int:
        return self.receiver.received_bytes if self.receiver else 0


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A connection at a moment; counted: what MPTCP counts at the client (info.read())."""

    at_ns: int
    paths: Sequence[Path]
    counted: Mapping[str, int] | None

    @property
    def received_bytes(self) -> int:
        """Bytes of the connection in their order: of MPTCP those of its own sequence space."""
        if self.counted is not None:
            return self.counted["received_bytes"]
        return sum(path.received_bytes for path in self.paths)


def with_left(now: Sequence[Mark], leave: Sequence[Mark] | None) -> Sequence[Mark]:
    """Return marks in which the first path of several is as when its client left it.

    leave: the state then; None: no client has left a path.
    """
    if leave is None:
        return now
    return [
        replace(mark, paths=[left(*both) for both in zip(mark.paths, before.paths, strict=True)])
        if len(mark.paths) > 1
        else mark
        for mark, before in zip(now, leave, strict=True)
    ]


def left(now: Path, before: Path) -> Path:
    """Return a path now, given its state when the clients left their first paths."""
    return replace(before, still=now.receiver is not None) if before.left else now


def leaving(marks: Sequence[Mark]) -> Sequence[Mark]:
    """Return the marks of the moment at which each client with several paths leaves the first."""
    return [
        replace(mark, paths=[replace(mark.paths[0], left=True), *mark.paths[1:]])
        if len(mark.paths) > 1
        else mark
        for mark in marks
    ]


def flows(
    connections: Sequence[Connection], begin: Sequence[Mark], end: Sequence[Mark]
) -> Iterator[dict[str, object]]:
    """Yield the rows of flows.csv: of each path, in the order of the pairs."""
    rows = [
        flow(before, after)
        for first, last in zip(begin, end, strict=True)
        for before, after in zip(first.paths, last.paths, strict=True)
    ]
    yield from sorted(rows, key=lambda row: int(str(row["pair"])))


def flow(before: Path, after: Path) -> dict[str, object]:
    """Return the interval's changes of a path, and its sender's state at the end."""
    sender = after.sender
    row: dict[str, object] = {
        "pair": after.pair,
        "received_bytes": max(0, after.received_bytes - before.received_bytes),
    }
    if sender is None:
        return row
    first = before.sender
    again = first.retransmits if first else 0
    expired = first.timeouts if first else 0
    if sender.timeouts is not None and expired is not None:
        row["timeouts"] = sender.timeouts - expired
    return row | {
        "retransmits": sender.retransmits - again,
        "cwnd_segments": sender.cwnd_segments,
        "ssthresh_segments": sender.ssthresh_segments,
        "srtt_us": sender.srtt_us,
    }


def facts(
    connections: Sequence[Connection],
    marks: Mapping[str, Sequence[Mark]],
    told: Sequence[Mapping[str, int]],
    senders: Sequence[Mapping[str, int] | None],
    counters: Sequence[Mapping[str, int]],
) -> list[dict[str, Any]]:
    """Return what the record has of each connection.

    Args:
        marks: "begin", "end" and "last" -> each connection; "last" is after all data. "leave" is
            when the clients leave link1, if they do.
        told: the bytes that each receiver's program has read, and its longest pause.
        senders: what MPTCP has counted at each sender (info.read()).
        counters: "client NAME" or "server NAME" -> by how much this counter of MPTCP
            (/proc/net/netstat) has grown at this end of each connection.
    """
    several = zip(connections, *(marks[at] for at in ("begin", "end", "last")), strict=True)
    left = marks.get("leave")
    return [
        {
            "pairs": list(one.pairs),
            "kind": one.kind,
            "subflows": sum(path.received_bytes > 0 and not path.left for path in end.paths),
            "resets": counted.get("client MPRstTx", 0) + counted.get("client MPRstRx", 0),
            "received_bytes": end.received_bytes - begin.received_bytes,
            "whole_bytes": last.received_bytes,
            "read_bytes": read["bytes"],
            **({"pause_ns": read["pause_ns"]} if left and len(one.pairs) > 1 else {}),
            "fallback": len(one.pairs) > 1 and (last.counted is None or sender is None),
            "reinjected_bytes": sender["reinjected_bytes"] if sender else None,
            "paths": [on_path(path) for path in last.paths],
            "counters": dict(counted),
        }
        for (one, begin, end, last), read, sender, counted in zip(
            several, told, senders, counters, strict=True
        )
    ]


def on_path(path: Path) -> dict[str, Any]:
    """Return what a subflow has carried in all."""
    return {
        "pair": path.pair,
        "open": path.receiver is not None,
        **(left_so(path) if path.left else {}),
        "received_bytes": path.received_bytes,
        "segments_in": path.receiver.segments_in if path.receiver else 0,
        "retransmitted_bytes": path.sender.retransmitted_bytes if path.sender else 0,
    }


def left_so(path: Path) -> dict[str, Any]:
    """Return how a client has left a path: what its sender had then still to send."""
    queued_bytes = path.sender.queued_bytes if path.sender else 0
    return {"left": path.left, "still": path.still, "queued_bytes": queued_bytes}


def write(folder: File, found: Sequence[Mapping[str, Any]]) -> None:
    """Write connections.csv; a value that is None becomes an empty cell."""
    with (folder / FILE).open("w", newline="", encoding="ascii") as stream:
        table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        table.writeheader()
        for one in found:
            table.writerow({**one, "pairs": " ".join(map(str, one["pairs"]))})


def windows(connections: Sequence[Connection], end: Sequence[Mark]) -> list[int | None]:
    """Return the last window that the sender of each pair got, in the order of the pairs."""
    found = {
        path.pair: path.sender.peer_window_bytes if path.sender else None
        for mark in end
        for path in mark.paths
    }
    return [found[pair] for pair in sorted(found)]


def figures(found: Sequence[Mapping[str, Any]], duration_s: float) -> dict[str, float | None]:
    """Return the mean goodput of the clients with two links and of all others [Mbit/s].

    Also, of the clients with two links, the mean number of subflows with data at the interval's
    end; and, if they left a link, the mean of the longest time without data since then [ms].
    """
    rates: dict[bool, list[float]] = {}
    for one in found:
        rate = 8 * one["received_bytes"] / duration_s / BITS_PER_MBIT
        rates.setdefault(one["kind"] == CLIENT, []).append(rate)
    means = {which: sum(of) / len(of) for which, of in rates.items()}
    counts = [one["subflows"] for one in found if one["kind"] == CLIENT]
    subflows = sum(counts) / len(counts)
    pauses = [one["pause_ns"] / 1e6 for one in found if "pause_ns" in one]
    pause = sum(pauses) / len(pauses) if pauses else None
    values = (means.get(True), means.get(False), subflows, pause)
    return dict(zip(RESPONSES, values, strict=True))


def mean_s(begin: Sequence[Mark], end: Sequence[Mark]) -> float:
    """Return the mean of the measured intervals [s], rounded to microseconds (workload/iperf)."""
    spans = [last.at_ns - first.at_ns for first, last in zip(begin, end, strict=True)]
    return round(sum(spans) / len(spans) / 1e3) / 1e6


def less(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """Return the counters that have grown, by how much."""
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: value for name, value in sorted(grown.items()) if value}
