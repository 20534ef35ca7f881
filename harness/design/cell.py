# SPDX-License-Identifier: GPL-2.0-only
"""From the settings of a cell to the plan of its trials. Pure, but for reading the flavor files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from harness.design.experiment import Design
from harness.design.hints import to_vary
from harness.design.propagator import propagator
from harness.design.settings import Settings, Tcp
from harness.flavors import files as flavors
from harness.flavors import own
from harness.flavors.files import Flavor
from plan import atm, plan, schema, struct_ops
from plan.errors import UsageError
from plan.framing import FRAMINGS, Framing
from plan.near import choices
from plan.path import MOST_WORK, US_PER_S, Row, work_until
from plan.paths.site import Site
from plan.plan import Level, Plan
from plan.queue import DIRECTIONS
from plan.registry import Registry, UnknownKindError

DRAWN: WeakValueDictionary[tuple[Any, Row, Framing], plan.Path] = WeakValueDictionary()
"""Paths that draw, as long as a plan has them."""
FAR_END = {"down": "clients", "up": "servers"}
LAST_S = 1_800  # room for what the lab does before the workload and after it
LEAST_WIRE_NS = 100_000  # with a shorter delay, the waits alone take hours
NS_PER_S = 1_000_000_000
NS_PER_US = 1000
NO_TEXT = '""'  # an empty text, which nobody would see without its quotes


class Wanted(NamedTuple):
    """What a cell's trials want: a plan, with 0 in the place of a seed, and the kernels' names."""

    plan: Plan
    kernel: str | None
    receiver_kernel: str | None


def wanted_plan(experiment: Design, cell: Mapping[str, Level]) -> Wanted:
    """What a cell's trials want.

    Raises:
        ValueError, UsageError: a setting that is missing or out of range; begins with its key.
    """
    settings = schema.from_json(Settings, experiment.settings(cell), "", defaults=True)
    topology = network(settings.topology, folders(experiment))
    queue = queues(settings.queue, topology.mss_bytes)
    check_counting(topology, queue)
    workload = traffic(settings.workload, topology)
    check_chained(topology, queue, workload)
    check_delay(topology.delay, workload)
    check_mss(topology.mss_bytes, workload)
    check_round_trip(topology, workload, settings.topology.get("delay_us"))
    check_work(topology.path, workload)
    wanted = Plan(
        experiment=experiment.name,
        study=experiment.study,
        factors=dict(cell),
        seed=0,
        topology=topology,
        queue=queue,
        tcp=tcp(settings.tcp, topology, workload),
        workload=workload,
        record=recording(settings.record, topology, queue),
    )
    machine, names = settings.lab, settings.tcp.flavor
    receiver = machine.receiver_kernel
    if receiver is not None:
        check_linked(wanted)
        receiver = own.on_kernel(receiver, names)
    return Wanted(wanted, own.on_kernel(machine.kernel, names), receiver)


def check_linked(wanted: Plan) -> None:
    """UsageError for what cannot be parted into two labs with a wire between them."""
    topology = wanted.topology
    for key, found, allowed in (
        ("topology.kind", topology.kind, plan.FIRST_SHAPE),
        ("workload.kind", plan.kind_of(wanted.workload), "iperf"),
        ("topology.delay", topology.delay, "constant"),
        ("topology.loss", "none" if topology.loss is None else "a table", "none"),
        ("topology.path", "none" if topology.path is None else "a path", "none"),
    ):
        if found != allowed:
            raise UsageError(
                f"{key}: it is {found}, but with lab.receiver_kernel it must be {allowed}"
            )
    if topology.coalesce_ns:
        raise UsageError(
            f"topology.coalesce_us = {topology.coalesce_ns // 1000}: with lab.receiver_kernel it"
            " must be 0, because the wire between both kernels carries single packets"
        )
    if topology.delay_ns < LEAST_WIRE_NS:
        raise UsageError(
            f"topology.delay_us = {topology.delay_ns // 1000}: with lab.receiver_kernel it must be"
            f" at least {LEAST_WIRE_NS // 1000}, because both kernels wait for each other once in"
            " each delay of the link"
        )
    if wanted.record.value("trace"):
        raise UsageError(
            "record.trace: not with lab.receiver_kernel, because only the events of the senders'"
            " kernel would be recorded; leave out record.trace and --trace"
        )
    if wanted.queue.down.room_cells is not None:
        kind = plan.kind_of(wanted.queue.down)
        raise UsageError(
            f"queue.kind = {kind}: with lab.receiver_kernel it must be a queue of packets"
        )


def network(table: Mapping[str, Any], folders: Sequence[Path] = (Path(),)) -> plan.Topology:
    """The network in the lab's units; folders: where names of files begin.

    A kind of topology may have the keys `loss` and `path`.
    """
    wanted = of_kind(plan.SHAPES, "Settings", "topology", {"kind": plan.FIRST_SHAPE, **table})
    found: plan.Topology = wanted.plan()
    loss: Any = getattr(wanted, "loss", "none")
    path: Any = getattr(wanted, "path", "none")
    return replace(
        found,
        loss=None if loss == "none" else losses(loss),
        path=None if path == "none" else moving(wanted, found, folders),
    )


def folders(experiment: Design) -> list[Path]:
    """Where an experiment's names of files begin: its own folder, then that of what it extends."""
    return [Path(file.origin).parent for file in experiment.sources.files] or [Path()]


def moving(wanted: Any, network: plan.Topology, folders: Sequence[Path]) -> plan.Path:
    """The path of the link that moves, of whichever kind."""
    for key, allowed in (("loss", "none"), ("delay", "constant")):
        if getattr(wanted, key, allowed) != allowed:
            raise UsageError(
                f"topology.path: it has its own delays and losses; with it, topology.{key} must be"
                f" {allowed}"
            )
    if getattr(wanted, "common_rate_bit_per_s", 0):
        raise UsageError(
            "topology.path: only link1 moves, and not behind a common link; set"
            " topology.common_rate_bit_per_s to 0, or topology.path to none"
        )
    layout = network.layout()
    link = layout.moved.link
    still = Row(0, link.rate_bit_per_s, link.delay_ns // NS_PER_US, 0.0, 0)
    table = {"kind": "csv", "file": wanted.path} if isinstance(wanted.path, str) else wanted.path
    kind = of_kind(plan.PATHS, "Settings", "topology.path", table)
    site = Site(folders=folders, still=still, propagator=propagator)
    try:
        found = path_of(kind, site, FRAMINGS[wanted.link_layer])
    except ValueError as error:
        said = str(error)
        raise UsageError(
            said if said.startswith("topology.") else f"topology.path: {said}"
        ) from error
    check_passes(found, table)
    own_bytes = None if network.framing.has_cells else network.framing.overhead_bytes
    if layout.named and found.overhead_bytes != own_bytes:
        raise UsageError(
            f"topology.path: its kind counts other bytes than the other links; with topology.kind ="
            f" {network.kind}, choose another kind"
        )
    return found


def path_of(kind: Any, site: Site, framing: Framing) -> plan.Path:
    """The path of a kind, made once for all cells that have it, and drawn once for each seed.

    A path that draws nothing may come from a file, which somebody may change meanwhile.
    """
    key = kind, site.still, framing
    known = DRAWN.get(key)
    if known is None:
        known = kind.path(site).over(framing)
        if known.drawn is None:
            return known
        known = DRAWN[key] = replace(known, drawn=cache(known.drawn))
    return known


def check_passes(path: plan.Path, table: Mapping[str, Any]) -> None:
    """UsageError where a direction loses every packet that its link ever carries."""
    for direction in DIRECTIONS:
        way = path.way(direction)
        if max(way.losses) < 1 or any(
            row.loss < 1 and (row.rate_bit_per_s or row.bits) for row in way.rows()
        ):
            continue
        if "loss" in table:
            raise UsageError(
                f"topology.path.loss = {table['loss']}: no packet could ever pass; it must be less"
                " than 1"
            )
        raise UsageError(
            f"topology.path: {table.get('file')}: loss = 1 in every row in which the link towards"
            f" the {FAR_END[direction]} sends, so no packet could ever pass; write a loss of less"
            " than 1 in at least one of these rows"
        )


def check_work(path: plan.Path | None, workload: plan.Workload) -> None:
    """UsageError where a link could carry more until the trial's end than bpf/path.h can count."""
    if path is None:
        return
    end_us = round((workload.duration_s + LAST_S) * US_PER_S)
    most = max(work_until(path.way(direction), end_us) for direction in DIRECTIONS)
    if most >= MOST_WORK:
        raise UsageError(
            f"topology.path: the path can carry {most / US_PER_S:.3g} bits until {LAST_S} s after"
            f" workload.duration_s = {workload.duration_s:.10g}; allowed are less than"
            f" {MOST_WORK / US_PER_S:.3g}; write a shorter duration or lower rates"
        )


def check_chained(topology: plan.Topology, queue: plan.Queues, workload: object) -> None:
    """UsageError where a queue's packets come from another queue, and it cannot count these, and
    where a workload needs a delay of its own on a path of several links."""
    layout = topology.layout()
    if layout.named and getattr(workload, "delay", None):
        kind = plan.kind_of(workload)
        raise UsageError(
            f"workload.kind = {kind}: it needs topology.kind = {plan.FIRST_SHAPE}, because it gives"
            f" a delay to each connection, and {topology.kind} has no such delay"
        )
    check_paths(topology, queue, workload)
    chained = any(len(layout.route(pairs[0])) > 1 for pairs in layout.classes().values())
    if chained and queue.down.room_cells is not None:
        kind = plan.kind_of(queue.down)
        raise UsageError(
            f"queue.kind = {kind}: with topology.kind = {topology.kind} it must be a queue of"
            f" packets, because {kind} counts only cells that come straight from a host"
        )


def check_paths(topology: plan.Topology, queue: plan.Queues, workload: object) -> None:
    """UsageError where a connection has several paths, and its workload or queue knows only one."""
    if not topology.layout().several_paths:
        return
    if not getattr(workload, "multipath", False):
        kinds = plan.WORKLOADS.kinds.items()
        able = " or ".join(n for n, one in kinds if getattr(one.Parameters, "multipath", False))
        raise UsageError(
            f"workload.kind = {plan.kind_of(workload)}: with topology.links_used = both it must be"
            f" {able}, because each client has one connection with a subflow over each link"
        )
    if queue.down.room_cells is not None:
        kind = plan.kind_of(queue.down)
        raise UsageError(
            f"queue.kind = {kind}: with topology.links_used = both it must be a queue of packets,"
            f" because {kind} counts the cells of each host, and a server sends over both links"
        )


def losses(table: Mapping[str, Any]) -> plan.Loss:
    """What the path loses."""
    return schema.from_json(plan.Loss, table, "topology.loss", defaults=True)


def check_delay(delay: str, workload: object) -> None:
    """UsageError where there is no such delay, or the workload needs another one."""
    try:
        wanted = plan.DELAYS[delay].Delay
    except UnknownKindError as error:
        raise UsageError(f"topology.delay = {error}") from error
    needed = getattr(workload, "delay", None)
    if delay == needed or (needed is None and not wanted.of_workload):
        return
    others = [name for name, kind in plan.DELAYS.kinds.items() if not kind.Delay.of_workload]
    kind, allowed = plan.kind_of(workload), needed or " or ".join(others)
    raise UsageError(f"topology.delay = {delay}: with workload.kind = {kind} it must be {allowed}")


def check_mss(mss_bytes: int, workload: object) -> None:
    """UsageError where the workload needs larger or smaller packets."""
    least = getattr(workload, "least_mss_bytes", 0)
    most = getattr(workload, "most_mss_bytes", mss_bytes)
    if not least <= mss_bytes <= most:
        bound = f"at least {least}" if mss_bytes < least else f"at most {most}"
        raise UsageError(
            f"topology.mss_bytes = {mss_bytes}: with workload.kind = {plan.kind_of(workload)} it"
            f" must be {bound}"
        )


def check_round_trip(topology: plan.Topology, workload: object, delay_us: object) -> None:
    """UsageError where an answer takes longer than the workload's programs wait for one.

    delay_us: as the experiment has it.
    """
    below_ns = getattr(workload, "round_trip_below_ns", None)
    if below_ns is None:
        return
    links_ns, moves = longest_round_trip(topology)
    if links_ns >= below_ns:
        key = "topology.path" if moves else f"topology.delay_us = {schema.as_written(delay_us)}"
        raise UsageError(
            f"{key}: the round trip would take {links_ns / NS_PER_S} s; with workload.kind ="
            f" {plan.kind_of(workload)} it must be shorter than {below_ns // NS_PER_S} s, because"
            " its programs wait no longer for an answer; write shorter delays, or workload.kind ="
            " www"
        )


def longest_round_trip(topology: plan.Topology) -> tuple[int, bool]:
    """The propagation delay of the longest round trip [ns], and whether it crosses the link that
    moves. A path counts with its shortest delays.
    """
    path, moved_ns = topology.path, None
    if path:
        moved_ns = sum(min(path.way(one).delays_us) for one in DIRECTIONS) * NS_PER_US
    return max(topology.layout().round_trips_ns(moved_ns))


def check_counting(topology: plan.Topology, queue: plan.Queues) -> None:
    """UsageError where the queue cannot count what the links, the path or the hosts give it."""
    if not topology.framing.has_cells and queue.down.room_cells is not None:
        raise UsageError(
            f"topology.link_layer = {topology.link_layer}: with queue.kind ="
            f" {plan.kind_of(queue.down)} it must be atm, because this queue counts cells"
        )
    rate = max(one.link.rate_bit_per_s for one in topology.layout().middles())
    if queue.down.room_cells is not None and rate > atm.MOST_BIT_PER_S:
        raise UsageError(
            f"topology.rate_bit_per_s = {rate}: with queue.kind = {plan.kind_of(queue.down)} it"
            f" must be at most {atm.MOST_BIT_PER_S}; write a lower rate, or choose a queue of"
            " packets"
        )
    path = topology.path
    if path and path.overhead_bytes is not None and queue.down.room_cells is not None:
        kind = plan.kind_of(queue.down)
        raise UsageError(
            f"topology.path: the path counts bytes of packets, and queue.kind = {kind} counts"
            " cells; choose a queue of packets"
        )
    if path and topology.layout().named and queue.down.room_cells is not None:
        raise UsageError(
            f"topology.path: with topology.kind = {topology.kind}, queue.kind ="
            f" {plan.kind_of(queue.down)} counts cells; choose a queue of packets"
        )
    if not topology.coalesce_ns:
        return
    if path:
        raise UsageError(
            "topology.coalesce_us: the queue of a moving path does not cut large packets into"
            " segments; set it to 0, or topology.path to none"
        )
    if queue.down.room_cells is not None:
        raise UsageError(
            f"topology.coalesce_us: queue.kind = {plan.kind_of(queue.down)} takes only single"
            " packets; choose a queue of packets, or set topology.coalesce_us to 0"
        )


def traffic(table: Mapping[str, Any], topology: plan.Topology) -> Any:
    """The workload; a kind with `on_path` completes by the path what the table leaves open."""
    workload = of_kind(plan.WORKLOADS, "Parameters", "workload", table)
    on_path = getattr(workload, "on_path", None)
    return on_path(topology.layout()) if on_path else workload


def serving(workload: object) -> tuple[str, ...]:
    """The ends that answer requests: the servers, where the workload does not say otherwise."""
    return getattr(workload, "serving", ("server",))


def tcp(wanted: Tcp, topology: plan.Topology, workload: object) -> plan.Tcp:
    """The flavors, and the windows."""
    many = len(wanted.flavor)
    if not 1 <= many <= topology.pairs:
        raise UsageError(
            f"tcp.flavor: the list has {many} flavors; with topology.pairs ="
            f" {topology.pairs}, allowed are 1 to {topology.pairs}"
        )
    if many > 1 and not getattr(workload, "kernel_tcp", True):
        raise UsageError(
            f"tcp.flavor: the list has {many} flavors; with workload.kind ="
            f" {plan.kind_of(workload)} only 1 is allowed, because its programs do not use the"
            " kernel's TCP"
        )
    if many > 1 and topology.layout().several_paths:
        raise UsageError(
            f"tcp.flavor: the list has {many} flavors; with topology.links_used = both only 1 is"
            " allowed, because the subflows of a connection have the same flavor"
        )
    ends = serving(workload)
    own.check_distinct({name: named(name) for name in wanted.flavor})
    first, *others = (flavor(name, wanted, ends) for name in wanted.flavor)
    check_programs([first, *others], topology)
    return plan.Tcp(
        flavor=first,
        window_bytes=wanted.window_bytes,
        ssthresh_segments=max(2, round(wanted.ssthresh_bytes / topology.mss_bytes)),
        others=tuple(others),
    )


def check_programs(wanted: Sequence[plan.Flavor], topology: plan.Topology) -> None:
    """UsageError for a program of BPF on a moving path, whose module its kernel does not have."""
    for one in wanted:
        if topology.path and one.module is not None and struct_ops.is_program(one.module):
            raise UsageError(
                f"topology.path: a congestion control in BPF ({one.name}) does not run with a"
                " moving path yet; give a module of the kernel, or leave out topology.path"
            )


def named(name: str) -> Flavor:
    """The flavor of a name, as its file or its module has it; UsageError where there is none."""
    if own.is_own(name):
        return own.load(name)
    if name.lower() not in flavors.names():
        raise UsageError(
            f"tcp.flavor = {name or NO_TEXT}: no such TCP flavor; {choices(name, flavors.names())}"
        )
    return flavors.load(name.lower())


def flavor(name: str, wanted: Tcp, ends: Sequence[str]) -> plan.Flavor:
    """A flavor with what the experiment changes in it; ends: those that serve."""
    found = named(name).with_parameters(
        {} if wanted.parameters == "none" else wanted.parameters, "tcp.parameters"
    )
    if wanted.sysctl != "none":
        found = flavors.with_sysctls(found, wanted.sysctl, "tcp.sysctl")
    if wanted.initial_window_segments is not None:
        found = flavors.with_initial_window(found, wanted.initial_window_segments, ends)
    if wanted.server_quickack is not None:
        found = flavors.with_server_quickack(found, wanted.server_quickack, ends)
    return found.for_hosts()


def queues(table: Mapping[str, Any], mss_bytes: int) -> plan.Queues:
    """The queues at both ports."""
    wanted = of_kind(plan.QUEUES, "Settings", "queue", {"kind": plan.FIRST_QUEUE, **table})
    down, up = wanted.ports(mss_bytes)
    return plan.Queues(down=down, up=up)


def recording(
    table: Mapping[str, Any], topology: plan.Topology, queue: plan.Queues
) -> plan.Recording:
    """What is recorded; only a kind of queue that can is asked to."""
    captures = plan.read_captures("Settings", table, "record", defaults=True)
    return plan.Recording(tuple(one.wanted(topology, queue.down) for one in captures))


def of_kind(registry: Registry, part: str, place: str, table: Mapping[str, Any]) -> Any:
    """A table of an experiment by the file of its kind, every default filled in.

    Args:
        part: name of the class in that file.
        place: name of the table.
    """
    rest = dict(table)
    name = rest.pop("kind", None)
    if name is None:
        kinds = ", ".join(registry.kinds)
        raise UsageError(f"{place}.kind: this key is missing; it must be one of {kinds}")
    try:
        kind = getattr(registry[name], part)
    except UnknownKindError as error:
        shown = name if name and isinstance(name, str) else schema.as_written(name)
        said = f"{place}.kind = {shown}: {choices(name, registry.kinds)}"
        vary = to_vary(f"{place}.kind", name)
        raise UsageError(f"{said}; {vary}" if vary else said) from error
    return read(kind, place, WrittenTable(rest))


class WrittenTable:
    """A table of an experiment, equal to others of the same text: many cells have the same."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content
        self.text = repr(content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrittenTable) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=256)
def read(kind: type, place: str, table: WrittenTable) -> Any:
    """The instance of a table's kind, which nobody changes."""
    return schema.from_json(kind, table.content, place, defaults=True)
