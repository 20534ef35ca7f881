# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: how much Adaptive RED drops at an average that does not change.

    python3 lab_red.py GENTLE AVERAGE      GENTLE: 0 or 1; AVERAGE [frames]; red0 and red1 are up

Its link sends nothing, so the queue has AVERAGE frames, which are its limit, and its average comes
to that. Prints the flags that the kernel follows, and what RED drops of the frames that come then.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import suppress

from topology import adaptive_red

FRAME_BYTES = 1000
# 20 times what the average is over.
WARM_UP, FRAMES = 10_000, 20_000
TBF = "tc qdisc add dev red0 root handle 1: tbf rate 8kbit burst 1000 limit 3000"


def main(gentle: bool, average: int) -> None:
    subprocess.run(TBF.split(), check=True)
    queue = adaptive_red.AdaptiveRed(
        rate_bit_per_s=8_000_000, packet_bytes=FRAME_BYTES, limit_bytes=average * FRAME_BYTES,
        min_bytes=5 * FRAME_BYTES, max_bytes=15 * FRAME_BYTES, weight_log=9, gentle=gentle,
    )  # fmt: skip
    adaptive_red.put(queue, "red0", parent=0x10001)
    send(WARM_UP)
    before = early_drops()
    send(FRAMES)
    print(adaptive_red.flags_on("red0"), (early_drops() - before) / FRAMES)


def send(frames: int) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
        sender.bind(("red0", 0))
        for _ in range(frames):
            with suppress(OSError):  # ENOBUFS: it was dropped
                sender.send(b"\xff" * FRAME_BYTES)


def early_drops() -> int:
    shown = subprocess.check_output("tc -s -j qdisc show dev red0".split())
    [red] = [one for one in json.loads(shown) if one["kind"] == "red"]
    return int(red["early"])


if __name__ == "__main__":
    main(sys.argv[1] == "1", int(sys.argv[2]))
