# SPDX-License-Identifier: GPL-2.0-only
"""What two labs left of a trial becomes what one lab would have left."""

from __future__ import annotations

import csv
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from harness.linked.merge import merge

REPORT = json.dumps({
    "start": {"version": "iperf 3.18", "test_start": {"reverse": 0}},
    "end": {
        "streams": [{"sender": {"max_snd_cwnd": 1, "mean_rtt": 1}}],
        "sum_sent": {"bytes": 1, "seconds": 1.0, "retransmits": 0},
        "sum_received": {"bytes": 1, "seconds": 1.0},
    },
})  # fmt: skip


def half(*, sends: bool) -> dict[str, Any]:
    """What a lab tells of one pair, whose own half works and whose other half is idle."""

    def mark(time_ns: int, received: int) -> dict[str, Any]:
        return {
            "1": {
                "at_ns": time_ns + (0 if sends else 5),
                "received_bytes": 0 if sends else received,
                "timeouts": 0,
                "retransmits": received // 1000 if sends else 0,
                "sender": {"delivered": str(received // 1000), "mss": "1000"} if sends else {},
                "cwnd_segments": 4 if sends else None,
            }
        }

    queue = {"down": {"sent": 7 if sends else 0}, "up": {"sent": 0 if sends else 3}}
    counters = {"sw2-s1": [7, 3, 0], "sw1-c1": [0, 0, 0]}
    idle = {"sw2-s1": [0, 0, 0], "sw1-c1": [3, 7, 0]}
    return {
        "virtual_s": 3.5,
        "drained_s": 1.0,
        "idle_round_trip_ns": [] if sends else [10.0],
        "expected_idle_round_trip_ns": 10.0,
        "probed_rate_bit_per_s": {"up": 1.0} if sends else {"down": 2.0},
        "queue": queue,
        "marks": {"end": queue},
        "links": counters if sends else idle,
        "losses": {
            "namespaces": 4,
            "elsewhere": {"s1 x": 2} if sends else {"c1 y": 1},
            "at_port": {"down": 5, "up": 0} if sends else {"down": 0, "up": 6},
        },
        "congestion": {},
        "capture": {"clock_offset_ns": 9, "ports": {"down": {"packets": 1 if sends else 2}}},
        "system": {},
        "versions": {"kernel": "a" if sends else "b"},
        "unknown_sysctls": [],
        "source": {
            "t0_ns": 100,
            "marks": {"begin": mark(100, 1000), "end": mark(2_000_000_100, 9000)},
            "said": {"1": REPORT if sends else ""},
        },
    }


def write(folder: Path, document: dict[str, Any]) -> Path:
    """A lab's folder of results, with the tables of both directions."""
    folder.mkdir()
    (folder / "lab.json").write_text(json.dumps(document))
    for name in ("down.pcap", "up.pcap", "cwnd.csv", "throughput.csv"):
        (folder / name).write_text(folder.name)
    return folder


def merged(folder: Path, **of_receivers: Any) -> tuple[dict[str, Any], Path]:
    senders, receivers = half(sends=True), deepcopy(half(sends=False)) | of_receivers
    place = folder / "raw"
    merge(write(folder / "senders", senders), write(folder / "receivers", receivers), place)
    return json.loads((place / "lab.json").read_text()), place


def test_each_part_is_that_of_the_lab_in_which_it_works(tmp_path: Path) -> None:
    found, place = merged(tmp_path)
    assert found["queue"] == {"down": {"sent": 7}, "up": {"sent": 3}} == found["marks"]["end"]
    assert found["links"] == {"sw2-s1": [7, 3, 0], "sw1-c1": [3, 7, 0]}
    assert found["losses"]["elsewhere"] == {"c1 y": 1, "s1 x": 2}
    assert found["losses"]["at_port"] == {"down": 5, "up": 6}
    assert found["idle_round_trip_ns"] == [10.0]
    assert found["probed_rate_bit_per_s"] == {"down": 2.0, "up": 1.0}
    assert found["capture"]["ports"] == {"down": {"packets": 1}}
    assert (found["versions"], found["receivers"]["versions"]) == ({"kernel": "a"}, {"kernel": "b"})
    assert "congestion" not in found
    files = {path.name: path.read_text() for path in place.iterdir() if path.suffix != ".json"}
    del files["flows.csv"]
    assert files == {
        "down.pcap": "senders",
        "cwnd.csv": "senders",
        "up.pcap": "receivers",
        "throughput.csv": "receivers",
    }


def test_a_flow_has_the_receivers_bytes_and_the_senders_counters(tmp_path: Path) -> None:
    found, place = merged(tmp_path)
    with (place / "flows.csv").open(newline="", encoding="ascii") as stream:
        [row] = csv.DictReader(stream)
    assert (row["received_bytes"], row["retransmits"], row["cwnd_segments"]) == ("8000", "8", "4")
    assert found["source"]["measured_s"] == 2.0
    assert found["source"]["delivered_bytes"] == [8000]
    assert found["source"]["iperf3"] == ["iperf 3.18"]
