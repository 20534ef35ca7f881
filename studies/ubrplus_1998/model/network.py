# SPDX-License-Identifier: GPL-2.0-only
"""A trial of 98-0876R1 without a kernel: the model's senders over the queue's own core.

Clients ask when they are due and acknowledge every segment; hosts compute in no time. The
handshakes are left out. A lost request is an error, for clients do not send one again here.

tests/flavors/test_flavor_network.py shows that a trial in the kernel sends the same frames at the
same time.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from analysis.metrics import TrialMetrics, trial_metrics
from plan.atm import CELL_BYTES
from plan.flavor import PARAMETERS
from plan.plan import Plan, Topology
from studies.ubrplus_1998.model.connection import SENDERS
from studies.ubrplus_1998.model.links import NS_PER_S, AccessLinks, Clock, Segment, Way
from studies.ubrplus_1998.model.receiver import SACK_BLOCKS, Receiver
from studies.ubrplus_1998.model.senders import Setup
from studies.ubrplus_1998.model.server import Server
from topology import libcellq
from topology.queues import cells
from workload import www
from workload.www.schedule import Request, schedule, scheduled_bytes

MOST_FRAME_CELLS = 1366  # of a packet of 65,535 bytes
# Of the module's parameters: what the model has no other value of.
MODELLED = {
    "byte_window": 1, "idle_restart": 0, "grow_app_limited": 1, "rto_first_sample": 1,
    "rto_clock": 0, "backoff_clear": 0, "after_timeout": 0, "sack_resend_on_partial": 0,
}  # fmt: skip


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
        self._receivers = {pair: Receiver() for pair in pairs}
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
        sacked = tuple(receiver.blocks[:SACK_BLOCKS]) if self._sack else ()
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


def setup_of(plan: Plan, *, nagle: bool) -> Setup:
    """A server's sender; its application has not written anything yet."""
    flavor = plan.tcp.flavor
    parameters = flavor.parameters
    workload = plan.workload
    if not isinstance(workload, www.Parameters) or workload.server_stream != "joined":
        raise ValueError('workload: only kind = "www", server_stream = "joined" is modelled')
    if flavor.name not in SENDERS:
        raise ValueError(f"tcp.flavor: only {', '.join(SENDERS)} are modelled")
    for name, value in MODELLED.items():
        if parameters.get(name, PARAMETERS[name].kernels_default) != value:
            raise ValueError(f"tcp.parameters.{name} is modelled as {value} only")
    return Setup(
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
