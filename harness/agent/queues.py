# SPDX-License-Identifier: GPL-2.0-only
"""The two cell queues of a trial: loaded, attached, read and taken away with `cellq`."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from topology import commands
from topology.build import Network
from topology.dumbbell import HOST_IFINDEX_BASE, Host
from topology.run import run

CELLQ = "/opt/cellbed/cellq"
OBJECT = "/opt/cellbed/cellq.bpf.o"
PORTS = {"down": commands.DOWN_PORT, "up": commands.UP_PORT}
# Where what leaves a port comes in.
FAR_ENDS = {"down": commands.SAT_DOWN, "up": commands.SAT_UP}


class Queues:
    """Both directions' queues, for the duration of a `with`."""

    def __init__(self, network: Network, plan: dict[str, Any]) -> None:
        self.network = network
        self.plan = plan

    def __enter__(self) -> Self:
        for direction, port in PORTS.items():
            run(["tc", *commands.departure_fq(port).split()])
            run(self.load_argv(direction, port))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for direction, port in PORTS.items():
            run([CELLQ, "unload", "--name", direction])
            run(["tc", "qdisc", "del", "dev", port, "root"])

    def load_argv(self, direction: str, port: str) -> list[str]:
        """The loader's command for one direction."""
        topology, queue = self.plan["topology"], self.plan["queue"][direction]
        options: dict[str, object] = {
            "name": direction,
            "policy": queue["policy"],
            "buffer-cells": queue["buffer_cells"],
            **{key.replace("_", "-"): queue[key] for key in THRESHOLDS if key in queue},
            "rate-bit-per-s": topology["rate_bit_per_s"],
            "access-rate-bit-per-s": topology["access_rate_bit_per_s"],
            "access-delay-ns": topology["access_delay_ns"],
            "vcs": self.network.dumbbell.pairs,
            "ifindex-base": HOST_IFINDEX_BASE,
            "verdict-dev": port,
            "announce-list": self._announce_list(direction),
            "far-end": f"{self.network.pids['sat']}:{FAR_ENDS[direction]}",
            "late-tolerance-ns": self.plan.get("late_tolerance_ns", 0),
            "object": OBJECT,
        }
        record = self.plan["record"]
        flags = [f"--record-{what}" for what in ("frames", "drops") if record[what]]
        if record["queue_sample_ns"]:
            options["sample-ns"] = record["queue_sample_ns"]
        words = [str(w) for key, value in options.items() for w in (f"--{key}", value)]
        return [CELLQ, "load", *words, *flags]

    def _announce_list(self, direction: str) -> Path:
        dumbbell = self.network.dumbbell
        hosts: list[Host] = dumbbell.servers() if direction == "down" else dumbbell.clients()
        path = Path(f"/tmp/announce-{direction}")
        path.write_text("".join(f"{self.network.pids[h.name]} eth0\n" for h in hosts))
        return path

    def read(self) -> dict[str, Any]:
        """All counters of both directions."""
        return {
            direction: json.loads(run([CELLQ, "read", "--name", direction, "--json"]))
            for direction in PORTS
        }


THRESHOLDS = ("threshold_ppm", "threshold_minus_cells", "z_ppm")
