# SPDX-License-Identifier: GPL-2.0-only
"""What the gallery says of pages over a delay of minutes (tests/gallery.py)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from analysis.records import Trial

PORTS = {"www": (6, 80), "quic": (17, 443)}  # protocol of IP, port of the servers
HEAD, RECORD = 24, struct.Struct("<4I")


def figures(trials: Sequence[Trial]) -> str:
    """The figures of all trials in sentences, level by level, as ranges over the seeds."""
    levels: dict[str, list[Trial]] = {}
    for trial in trials:
        levels.setdefault(" ".join(trial.factors.values()), []).append(trial)
    told = " ".join(sentences(level, found) for level, found in levels.items())
    assert not any(n for one in trials for n in one.document["losses"]["at_port"].values())
    [seeds] = {tuple(trial.seed for trial in found) for found in levels.values()}
    return (
        f"{told} The path lost no packet. The ranges are over seeds {seeds[0]} to {seeds[-1]}. All"
        f" checks of each trial passed. The pictures show seed {seeds[0]}."
    )


def sentences(level: str, trials: Sequence[Trial]) -> str:
    """What the clients waited for, and what was sent for nothing."""
    again = [trial.metrics["retransmits"] for trial in trials]
    told = (
        f"With `{level}`, the client sent {over([opening_packets(one) for one in trials])} packets"
        " before the first packet of the server arrived. The first file was there"
        f" {over([min(ends_s(one)) for one in trials])} s after the start, and the last file"
        f" {over([max(ends_s(one)) for one in trials])} s after the start."
    )
    if None in again:
        lost = [sum(one.document["source"]["lost_packets"]) for one in trials]
        return f"{told} The server took {counted(lost, 'packet')} for lost."
    return f"{told} The server sent {counted(again, 'segment')} again."


def counted(values: Sequence[float | None], what: str) -> str:
    """The range of a count over the seeds with its noun: "no packet", "2 to 3 packets"."""
    known = over(values)
    return {"0": f"no {what}", "1": f"1 {what}"}.get(known, f"{known} {what}s")


def over(values: Sequence[float | None]) -> str:
    """The range of values over the seeds, or the only value."""
    known = [value for value in values if value is not None]
    low, high = (f"{one(known):,.0f}" for one in (min, max))
    return low if low == high else f"{low} to {high}"


def ends_s(trial: Trial) -> list[float]:
    """When the last byte of each request came [s]; all requests must have been answered."""
    rows = trial.series("requests")
    assert rows and all(row["last_byte_ns"] is not None for row in rows), trial.name
    return [float(row["last_byte_ns"]) / 1e9 for row in rows]  # type: ignore[arg-type]


def opening_packets(trial: Trial) -> int:
    """Packets of the client until the first packet of the server comes, by up.pcap."""
    protocol, port = PORTS[trial.factors["workload.kind"]]
    count = 0
    for source, target in ports((trial.folder / "up.pcap").read_bytes(), protocol):
        if source == port:
            return count
        count += target == port
    raise AssertionError(f"{trial.name}: the server has sent nothing")


def ports(data: bytes, protocol: int) -> Iterator[tuple[int, int]]:
    """The ports of all packets of a protocol over IPv4 and Ethernet, in a pcap file."""
    place = HEAD
    while place < len(data):
        _, _, kept, _ = RECORD.unpack_from(data, place)
        packet = data[place + RECORD.size : place + RECORD.size + kept]
        place += RECORD.size + kept
        if packet[23] == protocol:
            yield struct.unpack_from("!HH", packet, 34)
