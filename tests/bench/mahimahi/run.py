# SPDX-License-Identifier: GPL-2.0-only
"""The same packet-delivery traces through mahimahi's mm-link and through cellbed.

    python -m tests.bench.mahimahi.run MM_LINK FOLDER TRACE ... [--seconds 30]
        [--clock virtual,real]

in the project's environment. MM_LINK is the program, FOLDER has mahimahi's traces, and TRACE is the
name of a pair of them, such as Verizon-LTE-short. One CUBIC flow crosses each trace in
cellbed. Then, in the lab of Mininet scripts,

* mm-link gets packets of the same sizes at the same moments as cellbed's link,
* mm-link carries a CUBIC flow of its own.

Prints tables for docs/moving-paths.md. Nothing of mahimahi is a part of this project.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.design import experiment
from harness.design.trials import planned
from plan.plan import Plan
from topology.commands import access_netem
from workload.iperf import iperf3

PROJECT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
NS_PER_MS = 1_000_000
MTU_BYTES = 1500
TUNNEL_BYTES = 4  # which mahimahi's sizes have, and IP does not
QUEUE_PACKETS = 50
PIECES = 6
EXPERIMENT = """
name = "trace"
title = "A trace of mahimahi"
factors.tcp.flavor = ["cubic-rack"]
[base]
topology.pairs = 1
topology.rate_bit_per_s = 6_000_000
topology.delay_us = 20_000
topology.mss_bytes = 1460
topology.path = {{ kind = "mahimahi", down = "trace.down", up = "trace.up" }}
queue = {{ kind = "drop-tail", limit_packets = {packets} }}
tcp = {{ window_bytes = 1_000_000, ssthresh_bytes = 1_000_000_000 }}
workload = {{ kind = "iperf", duration_s = {seconds}, start_jitter_us = 0 }}
record.sojourn = ["down"]
"""


@dataclass(frozen=True)
class Flow:
    """The packets that left a link to the clients, in their order.

    Attributes:
        left_ms: the time since the path's time 0. waited_ms: the time in the queue.
        ip_bytes: the size.
    """

    left_ms: npt.NDArray[np.float64]
    waited_ms: npt.NDArray[np.float64]
    ip_bytes: npt.NDArray[np.int64]

    def mbit_per_s(self, edges_s: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the rate of IP packets in each interval."""
        bits, _ = np.histogram(self.left_ms / 1000, edges_s, weights=8 * self.ip_bytes)
        return np.asarray(bits / np.diff(edges_s) / 1e6)

    def until(self, seconds: int) -> Flow:
        """Return the packets that left within the first seconds."""
        kept = self.left_ms < 1000 * seconds
        return Flow(self.left_ms[kept], self.waited_ms[kept], self.ip_bytes[kept])


def cut(source: Path, target: Path, seconds: int) -> None:
    """Write the first seconds of a trace. It then has a period of so many seconds."""
    last = 1000 * seconds
    found = [ms for ms in map(int, source.read_text().split()) if ms <= last]
    if found[-1:] != [last]:
        found.append(last)
    target.write_text("".join(f"{ms}\n" for ms in found), encoding="ascii")


def of_cellbed(folder: Path) -> Flow:
    """Return the flow of a record with sojourn.csv."""
    rows = np.loadtxt(folder / "sojourn.csv", np.str_, delimiter=",", skiprows=1, ndmin=2)
    return Flow(
        rows[:, 0].astype(float) / NS_PER_MS,
        rows[:, 5].astype(float) / NS_PER_MS,
        rows[:, 3].astype(np.int64),
    )


def of_mm_link(log: str, begin_ns: int) -> Flow:
    """Return the flow of a log of mm-link from a moment on."""
    lines = log.splitlines()
    [init_ms] = (int(line.split()[-1]) for line in lines if line.startswith("# init timestamp"))
    began_ms = begin_ns // NS_PER_MS - init_ms
    left = [line.split() for line in lines if " - " in line and not line.startswith("#")]
    rows = np.array([(int(ms), int(size), int(wait)) for ms, _, size, wait in left]).reshape(-1, 3)
    rows = rows[rows[:, 0] >= began_ms]
    return Flow(rows[:, 0] - began_ms, rows[:, 2], rows[:, 1] - TUNNEL_BYTES)


def command(*words: str) -> None:
    """Run a command of cellbed. SystemExit: it failed, with its words."""
    done = subprocess.run(
        [str(PROJECT / "cellbed"), *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"cellbed {' '.join(words)}:\n{done.stdout}{done.stderr}")


def in_lab(folder: Path, clock: str, job: dict[str, Any]) -> Path:
    """Run in_lab.py with a job in the lab of Mininet scripts; return the folder with its files."""
    (folder / "job.json").write_text(json.dumps(job))
    out = folder.with_name(f"{job['kind']}-{clock}")
    command("mininet", "--clock", clock, "--out", str(out), str(folder / "in_lab.py"))
    return out / "tmp" / "mm-link"


def tcp_job(plan: Plan) -> dict[str, Any]:
    """Return what a flow over mm-link needs, as in the plan of cellbed's trial."""
    network = plan.topology.dumbbell()
    access, middle = network.access, network.middle
    words = "root netem "
    near = access_netem("-", access).partition(words)[2]
    far = near.replace(f"delay {access.delay_ns}ns", f"delay {middle.delay_ns}ns")
    # cellbed's link takes its next packet out of the queue at once, mm-link when it sends it.
    queue = f"packets={QUEUE_PACKETS + 1}"
    ways = ("uplink", "downlink")
    listen, source = iperf3.listen_argv(plan.workload), iperf3.source_argv(plan.workload, "")
    return {
        "kind": "tcp",
        "queue": [
            *(f"--{way}-queue=droptail" for way in ways),
            *(f"--{way}-queue-args={queue}" for way in ways),
        ],
        "access": near,
        "delay": far,
        "mtu": MTU_BYTES,
        "window_bytes": plan.tcp.window_bytes,
        "sysctl": {
            **plan.tcp.flavor.sysctl,
            "tcp_congestion_control": plan.tcp.flavor.congestion,
        },
        "listen": listen,
        "source": [*(word for word in source if word not in ("--client", "")), "--client"],
    }


@dataclass(frozen=True)
class Same:
    """What mm-link made of the same packets.

    Attributes:
        packets, missing: those that came to the link, and those that did not arrive.
        moved: those that left in another millisecond than in cellbed.
        late_ms: how long after its delivery opportunity each packet arrived.
    """

    packets: int
    missing: int
    moved: int
    late_ms: npt.NDArray[np.float64]


def same_packets(here: Flow, found: Path) -> Same:
    """Compare mm-link's log, and the arrivals behind it, with cellbed's departures."""
    begin_ns = int((found / "begin").read_text())
    there = of_mm_link((found / "down.log").read_text(), begin_ns)
    common = min(len(here.left_ms), len(there.left_ms))
    left = there.left_ms[:common]
    moved = int(np.count_nonzero(np.rint(here.left_ms[:common]) != left))
    rows = np.loadtxt(found / "arrived.csv", np.int64, delimiter=",", ndmin=2)
    rows = rows[rows[:, 0] < common]
    late = (rows[:, 1] - begin_ns) / NS_PER_MS - left[rows[:, 0]]
    return Same(len(here.left_ms), len(here.left_ms) - len(rows), moved, late)


@dataclass(frozen=True)
class Trace:
    """What was measured with a trace.

    Attributes:
        name, offered_mbit_per_s: the trace, and its mean rate of IP packets.
        off_ns: the largest difference of a departure in cellbed from the trace.
        same: of each clock, mm-link with the same packets.
        flows: "cellbed", and mm-link of each clock -> the flow of CUBIC.
    """

    name: str
    off_ns: int
    same: dict[str, Same]
    flows: dict[str, Flow]


def measure(given: argparse.Namespace, name: str, folder: Path) -> Trace:
    """Run one trace everywhere."""
    seconds = given.seconds
    job = folder / "job"
    job.mkdir()
    for way in ("down", "up"):
        cut(given.folder / f"{name}.{way}", job / f"trace.{way}", seconds)
    shutil.copy(HERE / "in_lab.py", job)
    shutil.copy(given.program, job / "mm-link")
    file = job / "trace.toml"
    file.write_text(EXPERIMENT.format(packets=QUEUE_PACKETS, seconds=seconds))
    [trial] = planned(experiment.load(file), file, (), None)
    command("run", str(file), "--out", str(folder / "results"))
    [record] = (one.parent for one in (folder / "results").rglob("sojourn.csv"))
    path = json.loads((record / "lab.json").read_text())["path"]
    here = of_cellbed(record)
    came = np.rint((here.left_ms - here.waited_ms) * NS_PER_MS).astype(int).tolist()
    arrivals = list(zip(came, here.ip_bytes.tolist(), strict=True))
    period = {"period_ms": 1000 * seconds}
    same, flows = {}, {"cellbed": here.until(seconds)}
    for clock in given.clock.split(","):
        found = in_lab(job, clock, {"kind": "replay", "arrivals": arrivals, **period})
        same[clock] = same_packets(here, found)
        found = in_lab(job, clock, {**tcp_job(trial.plan), **period})
        begin_ns = int((found / "begin").read_text())
        there = of_mm_link((found / "down.log").read_text(), begin_ns)
        flows[f"mm-link, {clock} clock"] = there.until(seconds)
    return Trace(name, path["down"]["departure_off_ns"], same, flows)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown; all columns after the second are numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join(['---'] * 2 + ['---:'] * (len(head) - 2))} |"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def of_same(traces: Sequence[Trace]) -> Iterator[str]:
    """Yield the table of the same packets."""
    head = ["trace", "clock", "packets", "missing", "in another ms",
            "late, median (ms)", "late, 99 % (ms)", "late, most (ms)"]  # fmt: skip
    rows = []
    for trace in traces:
        for clock, same in trace.same.items():
            lates = (f"{np.quantile(same.late_ms, q):.3f}" for q in (0.5, 0.99, 1))
            rows.append([trace.name, clock, same.packets, same.missing, same.moved, *lates])
    return table(head, rows)


def of_flows(traces: Sequence[Trace], seconds: int) -> Iterator[str]:
    """Yield the table of the flows of CUBIC."""
    edges = np.linspace(0, seconds, PIECES + 1)
    pieces = [f"{a:g} to {b:g} s" for a, b in zip(edges, edges[1:], strict=False)]
    head = ["trace", "link", *pieces, "Mbit/s", "delay, mean (ms)", "delay, 95 % (ms)"]
    rows = []
    for trace in traces:
        for name, flow in trace.flows.items():
            rates = [*flow.mbit_per_s(edges), *flow.mbit_per_s(edges[[0, -1]])]
            waits = [flow.waited_ms.mean(), np.quantile(flow.waited_ms, 0.95)]
            rows.append([trace.name, name, *(f"{x:.2f}" for x in rates),
                         *(f"{x:.1f}" for x in waits)])  # fmt: skip
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="mm-link beside cellbed")
    parser.add_argument("program", type=Path, metavar="MM_LINK")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--clock", default="virtual,real")
    given = parser.parse_args()
    traces = []
    with tempfile.TemporaryDirectory(prefix="cellbed-mahimahi.") as home:
        folder = Path(home).resolve()
        for name in given.traces:
            (folder / name).mkdir()
            traces.append(measure(given, name, folder / name))
            off_ns = traces[-1].off_ns
            print(f"{name}: in cellbed, each packet left within {off_ns} ns of its moment")
    print("\n".join(["", *of_same(traces), "", *of_flows(traces, given.seconds)]))


if __name__ == "__main__":
    main()
