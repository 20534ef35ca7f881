# SPDX-License-Identifier: GPL-2.0-only
"""The plan of a trial: all that a lab needs, in the units that it uses.

Shared by the host, which makes plans of experiments, and the agent, which carries them out.
Standard library only. As JSON (format "cellbed-plan/1") it is in every record; there queue and
workload have one key more, `kind`: of those in topology/queues/ or workload/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from plan import schema
from plan.dumbbell import Dumbbell, Link
from plan.loss import Loss
from plan.path import Path
from plan.queue import Queue
from plan.registry import Registry, UnknownKindError
from plan.schema import TypedError
from plan.workload import Workload

FORMAT = "cellbed-plan/1"
QUEUES = Registry("topology.queues", "Settings", "Queue")
# Beside them lie the parts that they are made of.
PATHS = Registry("plan.paths", "Settings", among_others=True)
DELAYS = Registry("topology.delays", "Delay", among_others=True)
WORKLOADS = Registry("workload", "Parameters", "Source", among_others=True, interface="source")
CAPTURES = Registry("harness.captures", "Settings", "Wanted", "Capture")
# Of a queue's plan from before there were kinds.
FIRST_QUEUE = "cells"
# Of a plan's record, as they stood before each capture was a file; others come after.
FIRST_KEYS = "frames drops queue_sample_ns cwnd_sample_ns pcap cwnd_pairs".split()
# Keys of a plan's tables that came after the first records, with what was so before.
CAME: Mapping[str, Mapping[str, Any]] = {
    "topology": {"delay": "constant"},
    "record": {"throughput_sample_ns": 0},
}

Level = str | int | float | bool
Value = int | str
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The dumbbell; rates of cells, 53 bytes each, delays one way; `delay`: a kind of DELAYS;
    `loss`: what the path loses by itself; `path`: how the middle link moves; None: it is still.
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

    @property
    def built(self) -> tuple[int, int, int]:
        """What is fixed when a network is built; the rest is set for each trial."""
        return self.pairs, self.access_rate_bit_per_s, self.access_delay_ns

    def dumbbell(self) -> Dumbbell:
        return Dumbbell(
            pairs=self.pairs,
            access=Link(rate_bit_per_s=self.access_rate_bit_per_s, delay_ns=self.access_delay_ns),
            middle=Link(rate_bit_per_s=self.rate_bit_per_s, delay_ns=self.delay_ns),
            mss_bytes=self.mss_bytes,
        )


@dataclass(frozen=True, kw_only=True)
class Queues:
    """The queues under test, at the two ends of the middle link; both are of one kind."""

    down: Queue
    up: Queue

    def at(self, direction: str) -> Queue:
        return self.down if direction == "down" else self.up


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """What a host takes of a TCP flavor (docs/flavors.md).

    Attributes:
        module: the kernel module that brings it; None: built in.
        sysctl: values relative to net.ipv4.
        parameters: the module's, as the integers the kernel takes.
        route: for "server" and "client", attributes of the end's route.
    """

    name: str
    congestion: str
    module: str | None
    sysctl: Mapping[str, Value]
    parameters: Mapping[str, int]
    route: Mapping[str, Mapping[str, Value]]


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """The senders, and the window that receivers advertise.

    Attributes:
        others: where there are any, the pairs have `flavor` and these in turn.
    """

    flavor: Flavor
    window_bytes: int
    ssthresh_segments: int
    others: tuple[Flavor, ...] = field(default=(), metadata={"later": True})

    @property
    def flavors(self) -> tuple[Flavor, ...]:
        """In the order in which pairs have them."""
        return self.flavor, *self.others

    def of_pair(self, pair: int) -> Tcp:
        """The same with the flavor of one pair alone."""
        return replace(self, flavor=self.flavors[(pair - 1) % len(self.flavors)], others=())


@dataclass(frozen=True)
class Recording:
    """What is recorded beyond the counters: the Wanted of each of CAPTURES.

    In JSON the keys of all are side by side.
    """

    captures: tuple[Any, ...]

    def of(self, kind: type[T]) -> T:
        """That of one capture, by its class."""
        return next(wanted for wanted in self.captures if isinstance(wanted, kind))

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """Options of Kconfig that a kernel needs for it (`kernel_options` of a Wanted)."""
        return tuple(o for one in self.captures for o in getattr(one, "kernel_options", ()))

    def value(self, key: str) -> Any:
        """That of one key, of whichever capture has it; AttributeError where none has."""
        for one in self.captures:
            if hasattr(one, key):
                return getattr(one, key)
        raise AttributeError(f"no capture has the key {key}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A trial.

    Attributes:
        factors: the levels of its cell.
        queue, workload: of any kind that there is a file for.
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


def level_name(level: Level) -> str:
    """A level as names of files and tables show it: as the experiment's file has it."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def to_json(part: Any) -> Any:
    """A plan, or a part of one, in plain JSON types."""
    data = schema.to_json(part, kind_of)
    if not isinstance(part, Plan):
        return data
    wanted = {key: value for keys in data["record"]["captures"] for key, value in keys.items()}
    in_order = {key: wanted.pop(key) for key in FIRST_KEYS}
    return {"format": FORMAT, **data, "record": in_order | wanted}


def from_json(data: object) -> Plan:
    """The plan that to_json wrote.

    Raises:
        TypedError: an unknown key, a missing one, or a value that does not do.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise TypedError(f"plan.format must be {FORMAT}")
    return part(Plan, as_now({key: value for key, value in data.items() if key != "format"}))


def as_now(data: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as this version writes it; older ones lack keys that have come since.

    What is no table is left for the reader to refuse.
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
    """A part of a plan from what to_json wrote; TypedError as from_json()."""
    return schema.from_json(kind, data, kind.__name__.lower(), readers=READERS)


def kind_of(value: object) -> str | None:
    """The kind of a queue or a workload; of anything else None."""
    return QUEUES.name_of(value) or WORKLOADS.name_of(value)


def read_kind(registry: Registry, name: str, data: object, place: str) -> Any:
    """One of several kinds from JSON; `name`: of its class in the kind's file."""
    if not isinstance(data, dict):
        raise TypedError(f"{place} must be a table")
    rest = dict(data)
    try:
        kind = getattr(registry[rest.pop("kind", None)], name)
    except UnknownKindError as error:
        raise TypedError(f"{place}.kind = {error}") from error
    return schema.from_json(kind, rest, place, defaults=True)


def read_captures(part: str, data: object, place: str, *, defaults: bool = False) -> list[Any]:
    """That part of each capture from a table that has the keys of all of them.

    Raises:
        ValueError: one line with the key and what is allowed.
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
    Queue: lambda data, place: read_kind(QUEUES, "Queue", data, place),
    Workload: lambda data, place: read_kind(WORKLOADS, "Parameters", data, place),
    Recording: lambda data, place: Recording(tuple(read_captures("Wanted", data, place))),
}
