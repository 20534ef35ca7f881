# SPDX-License-Identifier: GPL-2.0-only
"""The cell queues of bpf/: ports of an ATM switch with a discard policy, exact to the cell."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from plan import queue
from plan.atm import TCP_IP_HEADER_BYTES, frame_cells
from plan.layout import HOST_IFINDEX_BASE, last_cell_wait_ns
from plan.near import choices
from plan.queue import DIRECTIONS, Counters, Port
from plan.schema import Within, check
from topology import cellq_log, commands, netlink, rtnetlink
from topology.run import run

CELLQ = "/opt/cellbed/cellq"
OBJECT = "/opt/cellbed/cellq.bpf.o"
POLICIES = Path(__file__).resolve().parents[2] / "bpf" / "policy"
# bpf/policies.h says what each word means.
ROW = re.compile(r"^#define CQ_POLICY_(\w+)\s+\(?([\w |]+)\)?$", re.MULTILINE)
NEEDS_R, NEEDS_Z = "CQ_NEEDS_R", "CQ_NEEDS_Z"
PPM = 1_000_000
MOST_CELLS = 1_000_000
LEAST_SHARE = 1e-6
MOST_Z = 16


@cache
def policies() -> dict[str, frozenset[str]]:
    """Return the policies of bpf/policy/, each with the words of its row."""
    found = {}
    for path in sorted(POLICIES.glob("*.h")):
        row = ROW.search(path.read_text(encoding="utf-8"))
        if row is None or row[1] != path.stem:
            raise ValueError(
                f"{path} must have a line #define CQ_POLICY_{path.stem} WORDS, but has none"
            )
        found[path.stem] = frozenset(row[2].replace("|", " ").split())
    return found


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of an experiment's table [queue]."""

    policy: Annotated[
        str,
        "The rule by which the queue drops cells: the name of a file in `bpf/policy/`"
        " ([below](#policies-of-the-cell-queue)).",
    ]
    buffer_cells: Annotated[int, Within(1, MOST_CELLS), "K, the size of the buffer in cells."]
    threshold: Annotated[
        float | None,
        Within(LEAST_SHARE, 1),
        "The threshold R as a fraction of K. The policies epd, sd and fba need either this key"
        " or `queue.threshold_minus_packets`.",
    ] = None
    threshold_minus_packets: Annotated[
        int | None,
        Within(0, MOST_CELLS),
        "Another way to set R. If this key has the value n, R is K minus the cells that n packets"
        " of the largest size need.",
    ] = None
    z: Annotated[
        float | None,
        Within(LEAST_SHARE, MOST_Z),
        "The factor Z. The policies sd and fba need this key.",
    ] = None
    return_policy: Annotated[
        str | None, "The policy of the queue towards the servers. The default is `queue.policy`."
    ] = None
    return_buffer_cells: Annotated[
        int | None,
        Within(1, MOST_CELLS),
        "The buffer of the queue towards the servers, in cells. The default is"
        " `queue.buffer_cells`.",
    ] = None

    def __post_init__(self) -> None:
        check(self, "queue")
        for key in ("policy", "return_policy"):
            name = getattr(self, key)
            if name is not None and name not in policies():
                raise ValueError(f"queue.{key} = {name}: {choices(name, policies())}")
        if self.threshold is not None and self.threshold_minus_packets is not None:
            raise ValueError(
                "queue.threshold: remove either this key or queue.threshold_minus_packets; a queue"
                " cannot have both"
            )

    def ports(self, mss_bytes: int) -> tuple[Queue, Queue]:
        return (
            self._queue(self.policy, self.buffer_cells, mss_bytes),
            self._queue(
                self.return_policy or self.policy,
                self.return_buffer_cells or self.buffer_cells,
                mss_bytes,
            ),
        )

    def _queue(self, policy: str, buffer_cells: int, mss_bytes: int) -> Queue:
        minus_cells = ppm = z_ppm = None
        if NEEDS_R in policies()[policy]:
            if self.threshold_minus_packets is not None:
                minus_cells = self._minus_cells(buffer_cells, mss_bytes)
            elif self.threshold is not None:
                ppm = round(self.threshold * PPM)
            else:
                raise ValueError(f"queue.threshold: this key is missing; policy {policy} needs it")
        if NEEDS_Z in policies()[policy]:
            if self.z is None:
                raise ValueError(
                    f"queue.z: this key is missing; policy {policy} needs it, for example z = 0.8;"
                    f" allowed are {LEAST_SHARE:g} to {MOST_Z}"
                )
            z_ppm = round(self.z * PPM)
        return Queue(
            policy=policy,
            buffer_cells=buffer_cells,
            threshold_ppm=ppm,
            threshold_minus_cells=minus_cells,
            z_ppm=z_ppm,
        )

    def _minus_cells(self, buffer_cells: int, mss_bytes: int) -> int:
        packets = self.threshold_minus_packets or 0
        cells = packets * frame_cells(mss_bytes + TCP_IP_HEADER_BYTES)
        if cells >= buffer_cells:
            raise ValueError(
                f"queue.threshold_minus_packets = {packets}: these packets have {cells} cells,"
                f" which must be fewer than the buffer's {buffer_cells}"
            )
        return cells


@dataclass(frozen=True, kw_only=True)
class Queue(queue.Queue):
    """One direction. K is in cells. R is in ppm of K, or K minus some cells. Z is in ppm."""

    policy: str
    buffer_cells: int
    threshold_ppm: int | None
    threshold_minus_cells: int | None
    z_ppm: int | None

    recordable: ClassVar[frozenset[str]] = frozenset({"frames", "drops", "queue_sample_ms"})
    watches_wire: ClassVar[bool] = True
    # The BPF programs drop at clsact. A later drop of fq counts as a loss elsewhere.
    qdiscs: ClassVar[tuple[str, ...]] = ("clsact",)
    since: ClassVar[Mapping[str, tuple[int, int]]] = {"may_goto": (6, 9)}

    @property
    def room_cells(self) -> int:
        return self.buffer_cells

    @property
    def threshold_share(self) -> float | None:
        return None if self.threshold_ppm is None else self.threshold_ppm / PPM

    def load(self, port: Port) -> None:
        with netlink.open_here() as link:
            rtnetlink.apply(link, [commands.departures(socket.if_nametoindex(port.device))])
        run(self.load_argv(port))

    def load_argv(self, port: Port) -> list[str]:
        """Return the command of the loader."""
        network = port.dumbbell
        thresholds = ("threshold_ppm", "threshold_minus_cells", "z_ppm")
        options: dict[str, object] = {
            "name": port.name,
            "policy": self.policy,
            "buffer-cells": self.buffer_cells,
            **{key.replace("_", "-"): getattr(self, key) for key in thresholds},
            "rate-bit-per-s": network.middle.rate_bit_per_s,
            "access-rate-bit-per-s": network.access.rate_bit_per_s,
            "access-delay-ns": network.access.delay_ns,
            "vcs": network.pairs,
            "ifindex-base": HOST_IFINDEX_BASE,
            "verdict-dev": port.device,
            "announce-list": announce_list(port),
            "far-end": f"{port.box_pid}:{port.far_device}",
            "late-tolerance-ns": port.late_tolerance_ns,
            "object": None if port.schedule else OBJECT,
            "path": port.schedule.file(port.direction) if port.schedule else None,
            "sample-ns": port.sample_ns or None,
        }
        given = [(key, value) for key, value in options.items() if value is not None]
        words = [str(word) for key, value in given for word in (f"--{key}", value)]
        flags = [f"--record-{what}" for what in ("frames", "drops") if getattr(port, what)]
        return [CELLQ, "load", *words, *flags]

    def unload(self, port: Port) -> None:
        run([CELLQ, "unload", "--name", port.name])
        with netlink.open_here() as link:
            rtnetlink.apply(link, [rtnetlink.no_qdisc(socket.if_nametoindex(port.device))])

    def read(self, port: Port) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run([CELLQ, "read", "--name", port.name, "--json"]))
        return found

    def passed(self, port: Port) -> tuple[int, int]:
        from topology import cellq_counters  # and ctypes with it, for a lab only

        return cellq_counters.passed(port.name, port.dumbbell.pairs)

    def record_argv(self, port: Port, folder: Path) -> list[str]:
        if not (port.frames or port.drops or port.sample_ns):
            return []
        out = log_of(folder, port.name)
        return [CELLQ, "record", "--name", port.name, "--out", str(out), "--until-signal"]

    @staticmethod
    def write_series(
        raw: Path, t0_ns: int, folder: Path, *, frames: bool, queues: Sequence[str] = DIRECTIONS
    ) -> None:
        logs = {name: log_of(raw, name) for name in queues}
        if all(path.exists() for path in logs.values()):
            cellq_log.write_tables(logs, t0_ns, folder / "queue.csv", folder / "drops.csv")
        for path in logs.values() if frames else ():
            whole = cellq_log.as_first(path.read_bytes(), t0_ns)
            (folder / path.name).write_bytes(whole)

    @staticmethod
    def idle_wait_ns(cells: int, arrival_ns: float, service_ns: float) -> float:
        """The link sends single cells; it sends the first one when it is complete."""
        return last_cell_wait_ns(cells, arrival_ns, service_ns)

    @staticmethod
    def waiting(counters: Counters) -> int:
        """Return the frames that their senders have announced and the queue has not judged."""
        return int(counters["frames_announced"] - counters["frames_resolved"])

    @staticmethod
    def delivered(counters: Counters) -> int:
        return int(counters["frames"]["delivered"])

    @staticmethod
    def refused(counters: Counters) -> int:
        frames = counters["frames"]
        return int(frames["in"] - frames["delivered"] + counters["faults_total"])

    @staticmethod
    def unaccounted(counters: Counters, sent: int, left: int) -> list[int]:
        """A sender announces each frame; then the queue judges it, and delivers or drops it."""
        frames, announced = counters["frames"], counters["frames_announced"]
        waiting = Queue.waiting(counters)
        dropped = frames["in"] - frames["delivered"]
        return [
            sent - announced,
            frames["in"] + waiting - announced,
            sent - dropped - waiting - left,
        ]

    @staticmethod
    def faults(counters: Counters) -> int | None:
        return int(counters["faults_total"])

    @staticmethod
    def late(counters: Counters) -> tuple[int, int] | None:
        return counters["frames_late"], counters["frames"]["in"]

    @staticmethod
    def wire(counters: Counters) -> dict[str, int] | None:
        found: dict[str, int] | None = counters.get("wire")
        return found or {}

    @staticmethod
    def figures(counters: Counters, begin: Counters | None) -> dict[str, float | None]:
        """Return the peak [cells], and the share of accepted cells that were wasted.

        A wasted cell was accepted, but its frame lost another cell. If no cell was accepted, the
        share is None.
        """
        first = begin["cells"] if begin else {}
        accepted, wasted = (counters["cells"][k] - first.get(k, 0) for k in ("accepted", "wasted"))
        return {
            "peak_cells": counters["peak_cells"],
            "wasted_share": wasted / accepted if accepted else None,
        }


def log_of(folder: Path, queue: str) -> Path:
    """Return the file that `cellq record` writes for a queue."""
    return folder / f"{queue}.cellq"


def announce_list(port: Port) -> Path:
    """Return the file that lists, for the loader, the devices that announce frames."""
    path = Path(f"/tmp/announce-{port.name}")
    path.write_text("".join(f"{pid} eth0\n" for pid in port.sender_pids))
    return path
