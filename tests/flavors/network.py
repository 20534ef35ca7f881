# SPDX-License-Identifier: GPL-2.0-only
"""A trial of 98-0876R1 without a kernel: the model's senders over the queue's own core.

Servers are oracle.py's senders, both ports are libcellq; clients ask when they are due and
acknowledge every segment; hosts compute in no time. The handshakes are left out. A lost request is
an error, for clients do not send one again here.

test_flavor_network.py shows that a trial in the kernel sends the same frames at the same time.
`python -m tests.flavors.network --help`: trials beside the study's simulation.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import click

from analysis.metrics import TrialMetrics, trial_metrics
from harness.design import experiment
from harness.design.trials import PlannedTrial, planned
from plan.atm import CELL_BYTES, TCP_IP_HEADER_BYTES, frame_cells
from plan.errors import UsageError
from plan.plan import Plan, Topology
from studies.ubrplus_1998.simulation import PREDICTIONS
from tests.bpf import libcellq
from tests.flavors import oracle
from topology.queues import cells
from workload import www
from workload.www.schedule import Request, schedule, scheduled_bytes

# RFC 2018, section 3; two bytes of padding before it.
SACK_OPTION_BYTES, SACK_BLOCK_BYTES = 4, 8
# TCP_ATO_MIN in ticks of the kernel (HZ 1000); a timer of so many ends with the next one.
TICK_NS, DELAYED_ACK_TICKS = 1_000_000, 40
NS_PER_S = 1_000_000_000
MOST_FRAME_CELLS = 1366  # of a packet of 65,535 bytes
# Of the module's parameters: what the model has no other value of.
MODELLED = {
    "byte_window": 1, "idle_restart": 0, "grow_app_limited": 1, "rto_first_sample": 1,
    "backoff_clear": 0, "after_timeout": 0, "sack_resend_on_partial": 0,
}  # fmt: skip
EXPERIMENT = Path(__file__).parents[2] / "studies" / "ubrplus_1998" / "ubrplus-www.toml"

Action = Callable[[], None]


def nginx_header_bytes(file_bytes: int) -> int:
    """Of an answer; its Content-Length has as many digits as the size."""
    return 113 + len(str(file_bytes))


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Down data or nothing but an ACK, which is not read; up an ACK and perhaps a request."""

    byte: int = 0
    length: int = 0
    ack: int = 0
    sacked: tuple[oracle.Block, ...] = ()
    answer_bytes: int = 0  # of a request: what it asks for; 0: it is none

    @property
    def cells(self) -> int:
        options = SACK_OPTION_BYTES + SACK_BLOCK_BYTES * len(self.sacked) if self.sacked else 0
        return frame_cells(TCP_IP_HEADER_BYTES + options + self.length)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What its port made of a frame: a cause of libcellq; time at which its host sent it [ns]."""

    sent_ns: int
    vc: int
    cells: int
    cause: str


class Clock:
    """What is to happen, in order of time; at the same moment as it was asked for."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._due: list[tuple[int, int, Action]] = []
        self._asked = 0

    def at(self, time_ns: int, action: Action) -> None:
        self._asked += 1
        heapq.heappush(self._due, (time_ns, self._asked, action))

    def run(self, until_ns: int) -> None:
        while self._due and self._due[0][0] <= until_ns:
            self.now_ns, _, action = heapq.heappop(self._due)
            action()


class AccessLinks:
    """Those of all hosts on one side, one way: cell by cell, one frame after the other."""

    def __init__(self, topology: Topology) -> None:
        self.cell_ns = CELL_BYTES * 8 * NS_PER_S // topology.access_rate_bit_per_s
        self._delay_ns = topology.access_delay_ns
        self._free_ns: dict[int, int] = {}

    def last_bit_ns(self, vc: int, cells: int, now_ns: int) -> int:
        """When a frame that is sent now has arrived whole."""
        start = max(now_ns + self._delay_ns, self._free_ns.get(vc, 0))
        self._free_ns[vc] = start + cells * self.cell_ns
        return self._free_ns[vc]


class Way:
    """From the hosts of one side to those of the other: access link, port, delay, access link."""

    def __init__(
        self,
        clock: Clock,
        topology: Topology,
        port: libcellq.Queue,
        deliver: Callable[[int, Segment], None],
    ) -> None:
        self.frames: list[Frame] = []
        self._clock, self._port, self._deliver = clock, port, deliver
        self._into, self._out = AccessLinks(topology), AccessLinks(topology)
        self._delay_ns = topology.delay_ns

    def send(self, vc: int, segment: Segment) -> None:
        now_ns, cells = self._clock.now_ns, segment.cells
        self._port.run([(libcellq.ANNOUNCE, vc, cells, now_ns)])
        verdict_ns = self._into.last_bit_ns(vc, cells, now_ns)
        self._clock.at(verdict_ns, partial(self._judge, vc, cells, now_ns, segment))

    def _judge(self, vc: int, cells: int, sent_ns: int, segment: Segment) -> None:
        (result,) = self._port.run([(libcellq.VERDICT, vc, cells, self._clock.now_ns)])
        assert result.ok, self._port.stats().fault_counts()
        cause = libcellq.CAUSES[result.frame.cause]
        self.frames.append(Frame(sent_ns=sent_ns, vc=vc, cells=cells, cause=cause))
        if cause == "delivered":
            far_ns = result.frame.departure_ns + self._delay_ns
            self._clock.at(far_ns, partial(self._pass_on, vc, cells, segment))
        elif segment.answer_bytes:
            raise RuntimeError(f"VC {vc}: the port up lost a request, which is not modelled")

    def _pass_on(self, vc: int, cells: int, segment: Segment) -> None:
        arrival_ns = self._out.last_bit_ns(vc, cells, self._clock.now_ns)
        self._clock.at(arrival_ns, partial(self._deliver, vc, segment))


class DelayedAck:
    """When the kernel acknowledges what comes to a sender of data.

    It waits a little for data to go with; not after it has waited in vain, until data left soon
    after something came (the kernel's "pingpong" mode, and TCP_ATO_MIN).
    """

    def __init__(self, clock: Clock, acknowledge: Action) -> None:
        self._clock, self._acknowledge = clock, acknowledge
        self._waits = True
        self._received_tick = 0
        self._due_ns: int | None = None

    def received(self) -> None:
        self._received_tick = self._tick()
        if not self._waits:
            self._acknowledge()
        elif self._due_ns is None:
            self._due_ns = (self._received_tick + DELAYED_ACK_TICKS + 1) * TICK_NS
            self._clock.at(self._due_ns, self._expire)

    def looked_at(self) -> None:
        """A segment with options has come: an ACK due within a quarter of its wait leaves now."""
        left = self._received_tick + DELAYED_ACK_TICKS - self._tick()
        late = left <= DELAYED_ACK_TICKS // 4
        if self._due_ns is not None and late:
            self._due_ns = None
            self._acknowledge()

    def data_sent(self) -> None:
        """With it goes the ACK."""
        self._due_ns = None
        if self._tick() - self._received_tick < DELAYED_ACK_TICKS:
            self._waits = True

    def _expire(self) -> None:
        if self._due_ns == self._clock.now_ns:
            self._due_ns = None
            self._waits = False
            self._acknowledge()

    def _tick(self) -> int:
        return self._clock.now_ns // TICK_NS


class Server(oracle.Connection):
    """Answers requests at once; acknowledges them with data, or by itself when there is none."""

    def __init__(
        self,
        setup: oracle.Setup,
        clock: Clock,
        send: Callable[[Segment], None],
        headers: bool,
    ) -> None:
        super().__init__(setup)
        self._clock, self._send, self._headers = clock, send, headers
        self._acks = DelayedAck(clock, partial(send, Segment()))

    def arrive(self, segment: Segment) -> None:
        una = self.sender.una
        # An ACK with data is no duplicate one (RFC 5681, 2).
        if segment.ack > una or not segment.answer_bytes:
            self.on_ack(self._now_s, segment.ack, segment.sacked)
        if segment.sacked:
            self._acks.looked_at()
        if segment.answer_bytes:
            self._acks.received()
            header_bytes = nginx_header_bytes(segment.answer_bytes) if self._headers else 0
            self.write(self._now_s, header_bytes + segment.answer_bytes)
        self._set_timer()

    def transmit(self, now: float, departure: oracle.Departure, length: int) -> None:
        self._acks.data_sent()
        self._send(Segment(byte=departure.byte, length=length))

    @property
    def _now_s(self) -> float:
        return self._clock.now_ns / NS_PER_S

    def _set_timer(self) -> None:
        if self.timer_s is not None:
            self._clock.at(round(self.timer_s * NS_PER_S), partial(self._expire, self.timer_s))

    def _expire(self, timer_s: float) -> None:
        if self.timer_s == timer_s:
            self.on_timeout(timer_s)
            self._set_timer()


class Network:
    """One trial. A context manager, for the ports' sake.

    Args:
        library: of libcellq.build().
        headers: nginx's, before each file and in one stream with it.
        nagle: as nginx would leave its connections once it has corked them (`joined`).
        apart_ns: each client asks so much after the one before it.

    Attributes:
        down, up: both ways; their frames, in the order of the verdicts.
        servers: by pair.

    Raises:
        ValueError: the plan has what is not modelled.
    """

    def __init__(
        self,
        plan: Plan,
        library: Path,
        *,
        headers: bool = True,
        nagle: bool = False,
        apart_ns: int = 0,
    ) -> None:
        setup = setup_of(plan, nagle=nagle)
        assert isinstance(plan.workload, www.Parameters)
        self.plan, self.clock = plan, Clock()
        self.requests = schedule(plan.workload, plan.seed, plan.topology.pairs)
        self._request_bytes = plan.workload.request_bytes
        pairs = range(1, plan.topology.pairs + 1)
        self._ports = ExitStack()
        self.down, self.up = (
            Way(self.clock, plan.topology, self._port(library, direction), deliver)
            for direction, deliver in (("down", self._at_client), ("up", self._at_server))
        )
        self._receivers = {pair: oracle.Receiver() for pair in pairs}
        self._sack = plan.tcp.flavor.name == "sack"
        self.servers = {
            pair: Server(setup, self.clock, partial(self.down.send, pair), headers)
            for pair in pairs
        }
        for request in self.requests:
            due_ns = request.due_ns + (request.pair - 1) * apart_ns
            self.clock.at(due_ns, partial(self._ask, request))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ports.close()

    @property
    def received(self) -> list[int]:
        """Bytes in order at each client, headers included, pair 1 first."""
        return [receiver.next for receiver in self._receivers.values()]

    def run(self) -> None:
        """To the end of the trial."""
        self.clock.run(round(self.plan.workload.duration_s * NS_PER_S))

    def metrics(self) -> TrialMetrics:
        """As of a real trial."""
        topology = self.plan.topology
        return trial_metrics(
            received_bytes=self.received,
            scheduled_bytes=scheduled_bytes(self.requests, topology.pairs),
            duration_s=self.plan.workload.duration_s,
            mss_bytes=topology.mss_bytes,
            rate_bit_per_s=topology.rate_bit_per_s,
        )

    def _port(self, library: Path, direction: str) -> libcellq.Queue:
        queue = self.plan.queue.at(direction)
        assert isinstance(queue, cells.Queue)
        params = port_params(self.plan.topology, queue)
        return self._ports.enter_context(libcellq.Queue(library, params))

    def _ask(self, request: Request) -> None:
        self._send_up(request.pair, self._request_bytes, request.size_bytes)

    def _at_client(self, vc: int, segment: Segment) -> None:
        if segment.length:
            self._receivers[vc].receive(segment.byte, segment.length)
            self._send_up(vc)

    def _send_up(self, vc: int, length: int = 0, answer_bytes: int = 0) -> None:
        receiver = self._receivers[vc]
        sacked = tuple(receiver.blocks[: oracle.SACK_BLOCKS]) if self._sack else ()
        self.up.send(
            vc,
            Segment(length=length, ack=receiver.next, sacked=sacked, answer_bytes=answer_bytes),
        )

    def _at_server(self, vc: int, segment: Segment) -> None:
        self.servers[vc].arrive(segment)


def port_params(topology: Topology, queue: cells.Queue) -> libcellq.Params:
    """As the loader has them (bpf/loader/options.c)."""
    if queue.threshold_minus_cells is None:
        threshold = queue.buffer_cells * (queue.threshold_ppm or 0) // cells.PPM
    else:
        threshold = queue.buffer_cells - queue.threshold_minus_cells
    return libcellq.Params(
        service_ps=round(CELL_BYTES * 8 * 10**12 / topology.rate_bit_per_s),
        access_ps=AccessLinks(topology).cell_ns * 1000,
        access_delay_ps=topology.access_delay_ns * 1000,
        buffer_cells=queue.buffer_cells,
        threshold_cells=threshold,
        z_ppm=queue.z_ppm or 0,
        vcs=topology.pairs,
        policy=libcellq.POLICIES.index(queue.policy),
        max_frame_cells=MOST_FRAME_CELLS,
    )


def setup_of(plan: Plan, *, nagle: bool) -> oracle.Setup:
    """A server's sender; its application has not written anything yet."""
    flavor = plan.tcp.flavor
    parameters = flavor.parameters
    workload = plan.workload
    if not isinstance(workload, www.Parameters) or workload.server_stream != "joined":
        raise ValueError('workload: only kind = "www", server_stream = "joined" is modelled')
    if flavor.name not in oracle.SENDERS:
        raise ValueError(f"tcp.flavor: only {', '.join(oracle.SENDERS)} are modelled")
    for name, value in MODELLED.items():
        if parameters[name] != value:
            raise ValueError(f"tcp.parameters.{name} is modelled as {value} only")
    return oracle.Setup(
        flavor=flavor.name,
        total_bytes=0,
        initcwnd=int(flavor.route["server"]["initcwnd"]),
        ssthresh=plan.tcp.ssthresh_segments,
        drops={},
        mss=plan.topology.mss_bytes,
        tick_s=parameters["rto_tick_ms"] / 1000,
        min_ticks=parameters["rto_min_ticks"],
        first_rto_s=parameters["rto_first_ms"] / 1000,
        sack_rule="pipe" if parameters["sack_retransmit"] else "three_above",
        pipe_segments=bool(parameters["sack_pipe"]),
        byte_window=True,
        partial_reset=bool(parameters["newreno_partial"]),
        half_window=bool(parameters["ssthresh_rule"]),
        recut=bool(parameters["resend_boundaries"]),
        multiple=bool(parameters["multiple_fast_retransmits"]),
        flywheel=bool(parameters["newreno_flywheel"]),
        peer_window=plan.tcp.window_bytes,
        nagle=nagle,
    )


def row(trial: PlannedTrial, metrics: TrialMetrics) -> str:
    """One line of the command's table."""
    levels = {name: str(level) for name, level in trial.factors.items()}
    seed = trial.plan.seed
    predicted = [found for p in PREDICTIONS if (found := p.of(levels, trial.plan, seed))]
    fairness = metrics.fairness or 0.0
    line = f"{' '.join(levels.values()):28} {trial.plan.seed:4}"
    line += f" {metrics.efficiency:7.4f} {fairness:7.4f}"
    for found in predicted:
        efficiency, fair = found["efficiency"], found["fairness"]
        line += f"  {metrics.efficiency - efficiency:+7.4f} {fairness - fair:+7.4f}"
    return line


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path), default=EXPERIMENT)
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL[,LEVEL...]")
@click.option("--seeds", default=1, show_default=True)
@click.option("--headers/--no-headers", default=True, show_default=True, help="before the files")
@click.option("--nagle/--no-nagle", default=False, show_default=True, help="at the servers")
@click.option("--apart-ns", default=0, show_default=True, help="from client to client")
def main(
    file: Path, only: Sequence[str], seeds: int, headers: bool, nagle: bool, apart_ns: int
) -> None:
    """The model's trials of an experiment, and how far each is above the study's simulation."""
    print(f"{'cell':28} seed    eff.   fair.  above the simulation")
    try:
        trials = planned(experiment.load(file), file, only, seeds)
        with tempfile.TemporaryDirectory() as folder:
            library = libcellq.build(Path(folder))
            for trial in trials:
                with Network(
                    trial.plan, library, headers=headers, nagle=nagle, apart_ns=apart_ns
                ) as network:
                    network.run()
                    print(row(trial, network.metrics()), flush=True)
    except (UsageError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
