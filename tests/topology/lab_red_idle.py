# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: Adaptive RED below tbf after a burst and 6.2 s of silence.

    python3 lab_red_idle.py      red0 and red1 are up

Prints the probability after two seconds of a full queue, that after the silence, and how many of
300 frames that then come one at a time are dropped early.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from contextlib import suppress

from topology import adaptive_red

FRAME_BYTES = 1000
TBF = "tc qdisc add dev red0 root handle 1: tbf rate 8mbit burst 1000 limit 3000"
# A frame each half of the time that the link needs for one.
BURST_FRAMES, BURST_GAP_S = 4000, 0.0005
SILENCE_S = 6.2
FRAMES, GAP_S = 300, 0.002


def main() -> None:
    subprocess.run(TBF.split(), check=True)
    queue = adaptive_red.AdaptiveRed(
        rate_bit_per_s=8_000_000, packet_bytes=FRAME_BYTES, limit_bytes=60 * FRAME_BYTES,
        min_bytes=5 * FRAME_BYTES, max_bytes=15 * FRAME_BYTES, weight_log=9,
    )  # fmt: skip
    adaptive_red.put(queue, "red0", parent=0x10001)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
        sender.bind(("red0", 0))
        send(sender, BURST_FRAMES, BURST_GAP_S)
        risen = probability()
        time.sleep(SILENCE_S)
        after, before = probability(), early_drops()
        send(sender, FRAMES, GAP_S)
        print(risen, after, early_drops() - before)


def send(sender: socket.socket, frames: int, gap_s: float) -> None:
    for _ in range(frames):
        with suppress(OSError):  # ENOBUFS: it was dropped
            sender.send(b"\xff" * FRAME_BYTES)
        time.sleep(gap_s)


def shown() -> dict[str, float]:
    text = subprocess.check_output("tc -s -d -j qdisc show dev red0".split())
    [red] = [one for one in json.loads(text) if one["kind"] == "red"]
    return dict(red) | dict(red["options"])


def probability() -> float:
    return float(shown()["probability"])


def early_drops() -> int:
    return int(shown()["early"])


if __name__ == "__main__":
    main()
