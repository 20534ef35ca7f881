# SPDX-License-Identifier: GPL-2.0-only
"""Where the processor time of a trial's traffic goes, by layer.

    python -m tests.bench.cost.profile [EXPERIMENT FACTOR=LEVEL ...]

in the project's environment, with the host's `perf` (Debian: linux-perf) and the right to use
it. Boots a `uml` lab, builds the network, runs the first trial that fits, and takes samples of
all processes of the lab from the trial's first second until its traffic ends.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.design import experiment, trials
from harness.labs.base import Lab, LabSpec
from harness.labs.session import session
from harness.labs.supervised import SupervisedLab, process_table
from tests.bench.cost.words import words

EXPERIMENT = "studies/ubrplus_1998/ubrplus-www.toml"
CELL = ("network=WAN", "flavor=SACK", "policy=EPD", "buffer=1")
SAMPLES_A_SECOND = 997
# A sample: process, address, symbol, (file).
SAMPLE = re.compile(r"^\s*(\d+)\s+([0-9a-f]+) (\S+).* \((.*)\)$")

HOST, PROGRAMS, MODULES = "the host's kernel", "programs in the lab", "modules: the TCP flavors"
OTHER = "the rest of the lab's kernel"
# In the lab's kernel, by the names of its functions; the first that fits.
LAYERS = {
    "the queue's programs (BPF)": r"_*bpf_|array_map_|htab_|cls_bpf|room$|bpf_prog",
    "Open vSwitch": r"_*ovs_|masked_flow|flow_lookup|key_extract|do_output|do_execute_act"
    r"|execute_|netdev_frame_hook|find_bucket|netdev_send|clone_execute",
    "queueing disciplines: delay, rate": r"netem|_*fq_|_*qdisc|_*tcf?_|tc_run|sch_|mall_|pfifo",
    "reading cwnd of four pairs": r"inet_diag|inet_sk_diag|tcp_diag|tcp_get_info|netlink",
    "TCP": r"_*tcp_|inet_csk|_*sk_|sock_|_*inet_|inet",
    "IP, devices, veth": r"_*ip_|ipv4|_*veth|_*netif|_*dev_|eth_|net_|napi|process_backlog"
    r"|fib_|_*dst_|enqueue_to|validate_xmit|neigh|skb_network_protocol|nf_|_*local_out",
    "memory of packets": r"_*skb_|_*alloc_skb|k?free|_*k?mem|_*slab|_*alloc|page|_*free|csum",
    "timers, clock, scheduler, interrupts": r".*timer|.*timers|tick|time_|.*time_travel|ktime|rb_"
    r"|clockevents|.*sched|do_idle|.*softirq|.*irq|.*signals|timekeep|update_|pick_|enqueue|dequeue"
    r"|read_tsc|deliver_|set_signals|um_set|switch_|try_to_wake|local_bh|.*bh_enable",
    "system calls of the lab, its processes": r".*syscall|userspace|do_sys|sys_|fdget|ep_|.*epoll"
    r"|wait_stub|.*tlb|.*fault|copy_.*user|.*stub|interrupt_end|futex|.*ptrace|waitpid",
}  # fmt: skip


@dataclass
class Traffic:
    """What was measured while a trial's traffic went over the network."""

    samples: Counter[str] = field(default_factory=Counter)
    cpu_s: float = 0.0
    seconds: int = 0
    segments: int = 0


def family(lab: SupervisedLab) -> list[int]:
    """The processes of a lab, its supervisor and its kernel first."""
    assert lab._process is not None
    children: dict[int, list[int]] = {}
    for pid, parent, _ in process_table():
        children.setdefault(parent, []).append(pid)
    found = [lab._process.pid]
    for pid in found:
        found += children.get(pid, [])
    return found


@contextmanager
def sampling(file: Path) -> Iterator[None]:
    """Samples of the whole machine for as long as a `with` lasts.

    Of the lab's processes alone they would cost it a timer at each switch between two of them.
    """
    argv = ["perf", "record", "-q", "-a", "-F", str(SAMPLES_A_SECOND), "-o", str(file)]
    perf = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        perf.send_signal(signal.SIGINT)
        perf.wait()


def follow(lab: Lab, file: Path) -> Traffic:
    """Take samples from a trial's first second to the end of its traffic."""
    assert isinstance(lab, SupervisedLab)
    traffic, events = Traffic(), lab.events()
    begin = next(e["second"] for e in events if e["event"] == "progress")
    # The lab ends while perf writes its file, so nothing may be asked of the lab after that.
    kernel, pids, used = lab.kernel_processes()[0], family(lab), lab.cpu_s()
    with sampling(file):
        for event in events:
            if event["event"] != "progress":
                break
            traffic.seconds = event["second"] - begin
        traffic.cpu_s = lab.cpu_s() - used
        pids += family(lab)
    traffic.samples = by_layer(file, kernel, {*pids})
    for _ in events:
        pass
    return traffic


def by_layer(file: Path, kernel: int, others: set[int]) -> Counter[str]:
    """Samples of each layer: of the lab's kernel, and of the other processes of the lab."""
    fields = ["perf", "script", "-i", str(file), "-F", "pid,ip,sym,dso"]
    said = subprocess.run(fields, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found: Counter[str] = Counter()
    for line in said.stdout.splitlines():
        if (sample := SAMPLE.match(line)) and int(sample[1]) in others:
            found[layer(sample[3], sample[4], own=int(sample[1]) == kernel)] += 1
    return found


def layer(symbol: str, dso: str, *, own: bool) -> str:
    """The layer of a sample; `own`: in the process that is the lab's kernel."""
    if dso.startswith("[kernel"):
        return HOST
    if not dso.endswith("/linux"):
        if not own:
            return PROGRAMS
        return MODULES if symbol == "[unknown]" else "system calls of the lab, its processes"
    return next((name for name, names in LAYERS.items() if re.match(names, symbol)), OTHER)


def show(traffic: Traffic) -> None:
    """Print the layers as a table of Markdown, the dearest first."""
    total = sum(traffic.samples.values())
    print(
        f"{traffic.cpu_s:.2f} CPU s for {traffic.seconds} virtual s and {traffic.segments} segments"
        f" that left the queue, {total} samples\n"
    )
    print("| layer | % | ns a segment |\n| --- | --- | --- |")
    for name, count in traffic.samples.most_common():
        ns = count / total * traffic.cpu_s * 1e9 / traffic.segments
        print(f"| {name} | {100 * count / total:.1f} | {ns:.0f} |")


def main(file: str = EXPERIMENT, *cell: str) -> None:
    trial = trials.planned(experiment.load(Path(file)), Path(file), cell or CELL, seeds=1)[0]
    with session("uml", LabSpec(pairs=trial.plan.topology.pairs)) as lab:
        lab.submit_network(trial.plan.topology)
        lab.submit_trial(trial.name, trial.plan)
        lab.submit({"kind": "end"})
        traffic = follow(lab, lab.run_directory / "perf.data")
        record = json.loads((lab.run_directory / "results" / trial.name / "lab.json").read_text())
    traffic.segments = trial.plan.queue.down.delivered(record["queue"]["down"])
    show(traffic)


if __name__ == "__main__":
    main(*words(__doc__))
