# SPDX-License-Identifier: GPL-2.0-only
"""The plan of a trial: all values that a lab needs, in the lab's units.

The host makes a plan from an experiment, and the agent in the lab runs it. Standard library only.
Each record contains its plan as JSON (format "cellbed-plan/1"). In JSON, each queue and the
workload have one more key, `kind`: the name of a kind in topology/queues/ or workload/. So does the
shape of a topology that is no dumbbell, with a kind in topology/shapes/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from plan import schema
from plan.dumbbell import Dumbbell
from plan.framing import FRAMINGS, Framing
from plan.layout import Layout, Link
from plan.loss import Loss
from plan.path import Path
from plan.queue import Queue
from plan.registry import Registry, UnknownKindError
from plan.schema import TypedError
from plan.shape import LinkLayer, Shape
from plan.workload import Workload

FORMAT = "cellbed-plan/1"
SHAPES = Registry("topology.shapes", "Settings", "Shape")
QUEUES = Registry("topology.queues", "Settings", "Queue")
# The folders of paths, delays and workloads also contain modules that are no kinds.
PATHS = Registry("plan.paths", "Settings", among_others=True)
DELAYS = Registry("topology.delays", "Delay", among_others=True)
WORKLOADS = Registry("workload", "Parameters", "Source", among_others=True, interface="source")
CAPTURES = Registry("harness.captures", "Settings", "Wanted", "Capture")
# The kind of a queue in old plans, which have no key `kind`.
FIRST_QUEUE = "cells"
# The kind of a topology without a shape.
FIRST_SHAPE = "dumbbell"
# The first keys of a plan's table `record`, in their old order. All other keys follow them.
FIRST_KEYS = "frames drops queue_sample_ns cwnd_sample_ns pcap cwnd_pairs".split()
# Keys of a plan's tables that are newer than the first records, with their values in old plans.
CAME: Mapping[str, Mapping[str, Any]] = {
    "topology": {"delay": "constant"},
    "record": {"throughput_sample_ns": 0},
}

Level = str | int | float | bool
Value = int | str
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The network. Delays are one way.

    Attributes:
        rate_bit_per_s, delay_ns: those of the middle link. If there are several: the lowest rate,
            and the delay of all links of the longest route. Rates count all bits of the cells, or
            of the Ethernet frames.
        delay: a kind of DELAYS.
        loss: the losses of the path itself; None: it loses nothing.
        path: how the middle link moves; None: the link is still.
        coalesce_ns: how long a host's network card waits for more packets (topology/coalesce.py);
            0: the hosts send and take single packets.
        link_layer: how all links carry packets, a name of FRAMINGS.
        shape: the values of a kind of SHAPES; None: the dumbbell, which has none.
    """

    pairs: int
    rate_bit_per_s: int
    delay_ns: int
    access_rate_bit_per_s: int
    access_delay_ns: int
    mss_bytes: int
    delay: str = "constant"
    loss: Loss | None = field(default=None, metadata={"later": True})
    path: Path | None = field(default=None, metadata={"later": True})
    coalesce_ns: int = field(default=0, metadata={"later": True})
    link_layer: LinkLayer = field(default="atm", metadata={"later": True})
    shape: Shape | None = field(default=None, metadata={"later": True})

    @property
    def kind(self) -> str:
        """The name of the topology's kind."""
        return FIRST_SHAPE if self.shape is None else str(SHAPES.name_of(self.shape))

    @property
    def built(self) -> tuple[object, ...]:
        """The values that are fixed when a network is built. Each trial sets the other values."""
        shape = () if self.shape is None else (self.kind, *self.shape.built)
        return self.pairs, self.access_rate_bit_per_s, self.access_delay_ns, self.link_layer, *shape

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """The Kconfig options that the topology needs."""
        return () if self.shape is None else tuple(self.shape.kernel_options)

    @property
    def access(self) -> Link:
        """The link between each host and its switch."""
        return self.link(self.access_rate_bit_per_s, self.access_delay_ns)

    @property
    def framing(self) -> Framing:
        """How all links carry packets."""
        return FRAMINGS[self.link_layer]

    def link(self, rate_bit_per_s: int, delay_ns: int) -> Link:
        """Return a link of this network."""
        return Link(rate_bit_per_s=rate_bit_per_s, delay_ns=delay_ns, framing=self.framing)

    def layout(self) -> Layout:
        """Return the network as data."""
        shape: Shape = self.shape or SHAPES[FIRST_SHAPE].Shape()
        return shape.layout(self)

    def dumbbell(self) -> Dumbbell:
        """Return the dumbbell as data. ValueError: the topology is of another kind."""
        if self.shape is not None:
            raise ValueError(f"topology.kind = {self.kind}: it must be {FIRST_SHAPE} here")
        return Dumbbell(
            pairs=self.pairs,
            access=self.access,
            middle=self.link(self.rate_bit_per_s, self.delay_ns),
            mss_bytes=self.mss_bytes,
        )


@dataclass(frozen=True, kw_only=True)
class Queues:
    """The queues under test at the two ends of each middle link; both have the same kind."""

    down: Queue
    up: Queue

    def at(self, direction: str) -> Queue:
        return self.down if direction == "down" else self.up


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """The settings that a host takes from a TCP flavor (docs/flavors.md).

    Attributes:
        module: the kernel module that contains the congestion control; None: it is built in.
        sysctl: values relative to net.ipv4.
        parameters: parameters of the module, as the kernel's integers.
        route: attributes of the route of each end, "server" and "client".
    """

    name: str
    congestion: str
    module: str | None
    sysctl: Mapping[str, Value]
    parameters: Mapping[str, int]
    route: Mapping[str, Mapping[str, Value]]


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """The senders' flavors, and the window that receivers advertise.

    Attributes:
        others: more flavors; the pairs take `flavor` and these in turn.
    """

    flavor: Flavor
    window_bytes: int
    ssthresh_segments: int
    others: tuple[Flavor, ...] = field(default=(), metadata={"later": True})

    @property
    def flavors(self) -> tuple[Flavor, ...]:
        """All flavors, in the order in which the pairs take them."""
        return self.flavor, *self.others

    def of_pair(self, pair: int) -> Tcp:
        """Return the same settings with the flavor of one pair only."""
        return replace(self, flavor=self.flavors[(pair - 1) % len(self.flavors)], others=())


@dataclass(frozen=True)
class Recording:
    """What a trial records beside the counters: one Wanted for each of CAPTURES.

    In JSON, one table has the keys of all captures.
    """

    captures: tuple[Any, ...]

    def of(self, kind: type[T]) -> T:
        """Return the Wanted of one capture, by its class."""
        return next(wanted for wanted in self.captures if isinstance(wanted, kind))

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """The Kconfig options that the captures need (`kernel_options` of each Wanted)."""
        return tuple(o for one in self.captures for o in getattr(one, "kernel_options", ()))

    def value(self, key: str) -> Any:
        """Return the value of a key. AttributeError: no capture has this key."""
        for one in self.captures:
            if hasattr(one, key):
                return getattr(one, key)
        raise AttributeError(f"no capture has the key {key}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A trial.

    Attributes:
        factors: the levels of the trial's cell.
        queue, workload: of any kind that has a file.
    """

    experiment: str
    study: str | None
    factors: Mapping[str, Level]
    seed: int
    topology: Topology
    queue: Queues
    tcp: Tcp
    workload: Workload
    record: Recording

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """The Kconfig options that the trial needs, beside those of set-up's kernel."""
        return *self.record.kernel_options, *self.topology.kernel_options


def level_name(level: Level) -> str:
    """Return a level as the experiment file writes it, for the names of files and tables."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def to_json(part: Any) -> Any:
    """Return a plan, or a part of a plan, as plain JSON types."""
    data = schema.to_json(part, kind_of)
    if not isinstance(part, Plan):
        return data
    wanted = {key: value for keys in data["record"]["captures"] for key, value in keys.items()}
    in_order = {key: wanted.pop(key) for key in FIRST_KEYS}
    return {"format": FORMAT, **data, "record": in_order | wanted}


def from_json(data: object) -> Plan:
    """Return the plan that to_json wrote.

    Raises:
        TypedError: a key is unknown or missing, or a value is not allowed.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TypedError(f"plan.format must be {FORMAT}")
    return part(Plan, as_now({key: value for key, value in data.items() if key != "format"}))


def as_now(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan in this version's form: add the keys that older plans lack.

    If a part that must be a table has another type, it stays, and the reader refuses it.
    """
    found: dict[str, Any] = {"study": None, **data}
    for name, came in CAME.items():
        if isinstance(found.get(name), dict):
            found[name] = {**came, **found[name]}
    if isinstance(found.get("queue"), dict):
        found["queue"] = {
            end: {"kind": FIRST_QUEUE, **queue} if isinstance(queue, dict) else queue
            for end, queue in found["queue"].items()
        }
    return found


def part(kind: type[T], data: object) -> T:
    """Return a part of a plan from the output of to_json. TypedError: see from_json()."""
    return schema.from_json(kind, data, kind.__name__.lower(), readers=READERS)


def kind_of(value: object) -> str | None:
    """Return the kind of a topology's shape, a queue or a workload; None for any other value."""
    return QUEUES.name_of(value) or WORKLOADS.name_of(value) or SHAPES.name_of(value)


def read_kind(registry: Registry, name: str, data: object, place: str) -> Any:
    """Return a part with a `kind`, from JSON. `name` is the class in the kind's file."""
    if not isinstance(data, dict):
        raise TypedError(f"{place} must be a table")
    rest = dict(data)
    try:
        kind = getattr(registry[rest.pop("kind", None)], name)
    except UnknownKindError as error:
        raise TypedError(f"{place}.kind = {error}") from error
    return schema.from_json(kind, rest, place, defaults=True)


def read_captures(part: str, data: object, place: str, *, defaults: bool = False) -> list[Any]:
    """Return the class `part` of each capture. One table has the keys of all captures.

    Raises:
        ValueError: the text is one line with the key and the allowed values.
    """
    if not isinstance(data, dict):
        raise TypedError(f"{place} must be a table")
    kinds = [getattr(kind, part) for kind in CAPTURES.kinds.values()]
    keys = [[field.name for field in fields(kind)] for kind in kinds]
    known = [key for several in keys for key in several]
    for key in data:
        if key not in known:
            raise schema.UnknownKeyError(place, key, data[key], known)
    return [
        schema.from_json(kind, {k: data[k] for k in own if k in data}, place, defaults=defaults)
        for kind, own in zip(kinds, keys, strict=True)
    ]


READERS: Mapping[type, schema.Reader] = {
    Shape: lambda data, place: read_kind(SHAPES, "Shape", data, place),
    Queue: lambda data, place: read_kind(QUEUES, "Queue", data, place),
    Workload: lambda data, place: read_kind(WORKLOADS, "Parameters", data, place),
    Recording: lambda data, place: Recording(tuple(read_captures("Wanted", data, place))),
}
