# SPDX-License-Identifier: GPL-2.0-only
"""Persistent sources: one iperf3 server and client per pair; data flows from server_i to client_i.

There are two ways to run a pair, with the same data on the wire:

    sender connects (default)  `listen` on client_i, `source` on server_i. The report has the
                               sender's own counters (largest window, round-trip times).
    receiver connects          reverse=True: `listen` on server_i, `source` on client_i, as in a
                               download. Then iperf3 reports no window and no RTT.

iperf3 counts only whole blocks that its receiver read. On average, half a block of a flow's bytes
is missing. So this module uses far smaller blocks than iperf3's 128 KiB.
"""

import json
from dataclasses import dataclass
from typing import Any

from workload.errors import WorkloadError
from workload.iperf.parameters import Interval, Parameters
from workload.streams import stream

# Behind words of iperf3 about its control connection.
RESULTS_NEED_THE_PATH = (
    "; iperf3's two ends exchange their results over the path, so let a path that moves carry"
    " packets soon after workload.duration_s"
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The report of a source's iperf3; None: this way to run a pair has no such figure.

    sent_bytes, sent_s           bytes that the sender wrote into its socket, and the time
    received_bytes, received_s   bytes that the receiver read in whole blocks, and the time
    retransmits                  segments sent again
    max_cwnd_bytes               largest observed congestion window
    mean_rtt_us                  mean of the observed smoothed round-trip times
    """

    version: str
    sent_bytes: int
    sent_s: float
    received_bytes: int
    received_s: float
    retransmits: int
    max_cwnd_bytes: int | None
    mean_rtt_us: int | None


def starts_ns(params: Interval, seed: int, pairs: int) -> list[int]:
    """Return the start of each pair's source, pairs 1 to `pairs` [ns]: uniform over the jitter.

    Every second source starts later by late_start_us.
    """
    draws = (stream(seed, "iperf", "start", pair).random() for pair in range(1, pairs + 1))
    late_ns = params.late_start_us * 1000
    return [
        int(draw * params.jitter_us * 1000) + late_ns * (place % 2)
        for place, draw in enumerate(draws)
    ]


def sending_s(params: Parameters) -> int:
    """Return each source's sending time [s]: no source ends before the measured interval."""
    return params.duration_s + 1


def listen_host(params: Parameters) -> str:
    """Return the end of a pair that listens: "client" or "server" (of the data)."""
    return "server" if params.reverse else "client"


def listen_argv(params: Parameters) -> list[str]:
    """Return the command of the listening end. It serves one test and then exits."""
    return ["iperf3", "--version4", "--server", "--one-off", "--json", "--port", str(params.port)]


def source_argv(params: Parameters, peer_address: str) -> list[str]:
    """Return the command of the other end; pass its standard output to `report`.

    Start it when the listening end listens: ready.is_listening() tells.
    """
    options = {
        "--client": peer_address,
        "--port": params.port,
        "--cport": params.data_port,
        "--time": sending_s(params),
        "--length": params.block_bytes,
        "--interval": 0,
    }
    words = [str(word) for option in options.items() for word in option]
    return ["iperf3", "--version4", "--json", *words, *(["--reverse"] if params.reverse else [])]


def report(stdout: str) -> Report:
    """Return the figures of `iperf3 --json`; WorkloadError quotes iperf3's own words."""
    try:
        # Some builds print a warning before the JSON text.
        found = json.loads(stdout[stdout.index("{") :])
    except ValueError as error:
        raise WorkloadError(f"iperf3 printed no JSON, but {stdout.strip()[:80]!r}") from error
    if "error" in found:
        words = str(found["error"])
        hint = RESULTS_NEED_THE_PATH if "control" in words else ""
        raise WorkloadError(f"iperf3 of a pair failed with the words {words!r}{hint}")
    try:
        return _report(found)
    except (KeyError, IndexError, TypeError) as error:
        raise WorkloadError(
            f"iperf3's report lacks {error}; perhaps this is a version that cellbed does not know"
        ) from error


def _report(found: dict[str, Any]) -> Report:
    end = found["end"]
    sender = end["streams"][0]["sender"]
    # In reverse, iperf3 prints zeros for the counters of the far end.
    local = not found["start"]["test_start"]["reverse"]
    return Report(
        version=found["start"]["version"],
        sent_bytes=end["sum_sent"]["bytes"],
        sent_s=end["sum_sent"]["seconds"],
        received_bytes=end["sum_received"]["bytes"],
        received_s=end["sum_received"]["seconds"],
        retransmits=end["sum_sent"]["retransmits"],
        max_cwnd_bytes=sender["max_snd_cwnd"] if local else None,
        mean_rtt_us=sender["mean_rtt"] if local else None,
    )
