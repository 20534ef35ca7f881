# SPDX-License-Identifier: GPL-2.0-only
"""Goodput over time: each byte that a client acknowledged counts once, at its moment."""

from pathlib import Path

import numpy as np
import pytest

from analysis import pcap
from analysis.goodput import edges_of, of_capture

BEGIN_NS = 1_577_836_800_000_000_000  # 2020, when a virtual lab's clock begins
SERVER, CLIENT = (2, 5201), (1, 40_000)
FIN, SYN, ACK = 1, 2, 16
WHOLE = 1 << 32


def frame(
    end: tuple[int, int], pair: int, flags: int, sequence: int = 0, acknowledged: int = 0,
    payload_bytes: int = 0,
) -> bytes:  # fmt: skip
    """The headers of a packet from a pair's server or client to the other."""
    other = CLIENT if end == SERVER else SERVER
    here, there = ([10, side, 0, pair + 1] for side, _ in (end, other))
    total = (20 + 20 + payload_bytes).to_bytes(2, "big")
    ip = b"\x45\x00" + total + b"\x00\x00\x40\x00\x40\x06\x00\x00" + bytes(here) + bytes(there)
    ports = end[1].to_bytes(2, "big") + other[1].to_bytes(2, "big")
    numbers = (sequence % WHOLE).to_bytes(4, "big") + (acknowledged % WHOLE).to_bytes(4, "big")
    return bytes(12) + b"\x08\x00" + ip + ports + numbers + bytes([0x50, flags]) + bytes(6)


def written(path: Path, *frames: tuple[float, bytes]) -> Path:
    """A pcap file of frames at moments of the trial [s]."""
    parts = [pcap.FILE.pack(pcap.MAGIC_NS, 2, 4, 0, 0, 96, pcap.ETHERNET)]
    for moment_s, data in frames:
        seconds, ns = divmod(BEGIN_NS + round(moment_s * 1e9), pcap.NS_PER_S)
        parts += [pcap.HEADER.pack(seconds, ns, len(data), len(data)), data]
    path.write_bytes(b"".join(parts))
    return path


def test_each_acknowledged_byte_counts_once_at_its_moment(tmp_path: Path) -> None:
    """Also over the end of the sequence numbers, and without SYN and FIN."""
    first = WHOLE - 500
    path = written(
        tmp_path / "up.pcap",
        (0.1, frame(SERVER, 1, SYN, first - 1)),
        (0.2, frame(CLIENT, 1, SYN | ACK, 7, first)),
        (0.3, frame(SERVER, 1, ACK, first, payload_bytes=1000)),
        (0.4, frame(SERVER, 1, ACK, first, payload_bytes=1000)),  # sent again
        (1.5, frame(CLIENT, 1, ACK, 8, first + 1000)),
        (1.6, frame(CLIENT, 1, ACK, 8, first + 1000)),  # a duplicate ACK
        (1.7, frame(CLIENT, 1, ACK, 8, first + 400)),  # one that was overtaken
        (2.1, frame(SERVER, 1, ACK | FIN, first + 1000, payload_bytes=300)),
        (2.2, frame(CLIENT, 1, ACK, 8, first + 1301)),
    )
    assert of_capture(path, BEGIN_NS, np.arange(0, 4.0))[1].tolist() == [0, 1000, 300]


def test_connections_and_pairs_are_told_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path / "down.pcap",
        *((0.1, frame(SERVER, pair, SYN | ACK, 99 * pair)) for pair in (1, 2)),
        (0.2, frame(CLIENT, 2, ACK, 1, 99 * 2 + 1 + 600)),
        (0.3, frame(CLIENT, 1, ACK, 1, 99 + 1 + 50)),
    )
    found = of_capture(path, BEGIN_NS, np.array([0.0, 1.0]))
    assert {pair: of.tolist() for pair, of in found.items()} == {1: [50], 2: [600]}


def test_without_its_syn_a_connection_counts_from_the_first_ack(tmp_path: Path) -> None:
    path = written(
        tmp_path / "up.pcap",
        (0.1, frame(CLIENT, 1, ACK, 1, 5000)),
        (0.2, frame(CLIENT, 1, ACK, 1, 5400)),
    )
    assert of_capture(path, BEGIN_NS, np.array([0.0, 1.0]))[1].tolist() == [400]


@pytest.mark.parametrize(
    ("duration_s", "step_s", "edges"),
    [
        (3, 1.0, [0, 1, 2, 3]),
        (2.5, 1.0, [0, 1, 2, 2.5]),
        (1, 5.0, [0, 1]),
        (0.3, 0.1, [0, 0.1, 0.2, 0.3]),
    ],
)
def test_the_last_interval_ends_with_the_workload(
    duration_s: float, step_s: float, edges: list[float]
) -> None:
    assert edges_of(duration_s, step_s).tolist() == pytest.approx(edges)
