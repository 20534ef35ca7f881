# SPDX-License-Identifier: GPL-2.0-only
"""What a lab reports of a trial, typed: lab.json and run.json of a record (docs/records.md).

A record has what its trial had: one of web traffic has no idle sources, an old one lacks what
came later. So each value may be absent, and reading an absent one says so:

    facts.source.offered    an int, or NotRecordedError: source.offered
    facts.source.has("offered")

Units are in the names; times without another word are of the lab's monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from plan import schema
from plan.queue import Counters

T = TypeVar("T", bound="Facts")


class NotRecordedError(ValueError):
    """A value that a record does not have; its text is the value's place."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Facts:
    """A table of values of which each may be absent.

    Attributes:
        place: of the table in the record's document, in errors.
    """

    place: ClassVar[str] = ""

    def has(self, name: str) -> bool:
        """Is the value there, and not null? AttributeError for a name that no value has."""
        if name not in schema.type_hints(type(self)):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return self.__dict__.get(name) is not None

    def known_by(self, kind: type[T]) -> T:
        """The same table as another class reads it, which knows other values.

        Raises:
            TypedError: a value of another type; names it.
        """
        return read(kind, self.__dict__.get("table", {}), self.place)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise NotRecordedError(f"the record has no {schema.joined(self.place, name)}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Losses(Facts):
    """Packets lost, by whoever counts them.

    Attributes:
        namespaces: how many were read.
        elsewhere: each counter that grew, but those of the ports under test and of the path.
        at_port: of each direction, what the port under test refused.
        on_path: of each direction that is to lose any, what the path lost.
    """

    place: ClassVar[str] = "losses"
    namespaces: int
    elsewhere: Mapping[str, int]
    at_port: Mapping[str, int]
    on_path: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Realtime(Facts):
    """How well a lab kept time whose clock runs on while it computes.

    Attributes:
        stall_p99_ns: how late a sleeping thread woke, 99th percentile.
        clock_step_ns: how far the wall clock was set.
    """

    place: ClassVar[str] = "realtime"
    stall_p99_ns: int
    clock_step_ns: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CaptureFacts(Facts):
    """What was captured at the ports.

    Attributes:
        clock_offset_ns: from the monotonic clock to that of the files.
        ports: of each direction, packets written and lost on the way.
    """

    place: ClassVar[str] = "capture"
    clock_offset_ns: int
    ports: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SourceFacts(Facts):
    """What a workload says of its run; docs/records.md explains some. Lists have a value a pair.

    Attributes:
        t0_ns: start of the trial, from which times in the record count.
        measured_s, whole_s: the measured interval, and all from the start.
        received_whole_bytes: from the start; delivered_bytes: newly arrived in the interval.
        peer_window_bytes: the window each sender was last told; None: not known.
        max_late_ns: the latest request against its due time.

    What only one kind of workload says, a class in its folder knows (known_by()).
    """

    place: ClassVar[str] = "source"
    t0_ns: int
    measured_s: float
    whole_s: float
    offered: int
    answered: int
    outstanding: int
    unsent: int
    bad_status: int
    broken: tuple[Any, ...]
    unexplained_bytes: tuple[int, ...]
    server_complaints: tuple[str, ...]
    max_late_ns: int
    peer_window_bytes: tuple[int | None, ...]
    received_whole_bytes: tuple[int, ...]
    delivered_bytes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrialFacts(Facts):
    """What a lab counted in one trial.

    Attributes:
        idle_round_trip_ns: of pings over the idle path; expected_: by propagation and rates.
        probed_rate_bit_per_s: of each direction, of a train of packets before the trial.
        queue: of each direction, the counters of its queue at the end.
        marks: name of a moment of the workload -> the same then.
        links: device -> packets that it sent and received.
        realtime: None in virtual time.
        versions: of the kernel and of packages.
        congestion: pair -> congestion controls seen at its sender, where pairs have several.
        capture: None where nothing was captured.
        virtual_s: what the trial took on the lab's clock.
        path: of each direction, what its packets show of a moving path, and `origin_ns`, its time 0
            (harness/records/moving.py).
    """

    idle_round_trip_ns: tuple[float, ...]
    expected_idle_round_trip_ns: float
    probed_rate_bit_per_s: Mapping[str, float | None]
    queue: Mapping[str, Counters]
    marks: Mapping[str, Mapping[str, Counters]]
    links: Mapping[str, tuple[int, ...]]
    losses: Losses
    realtime: Realtime | None
    versions: Mapping[str, str]
    source: SourceFacts
    congestion: Mapping[str, tuple[str, ...]]
    capture: CaptureFacts | None
    virtual_s: float
    path: Mapping[str, Any]

    @property
    def exact(self) -> bool:
        """Did the clock stand still while the lab computed?"""
        return not self.has("realtime")


PARTS = (Losses, Realtime, CaptureFacts, SourceFacts, TrialFacts)


def read(kind: type[T], data: object, place: str = "") -> T:
    """The values of a table that `kind` knows; those that it does not know are the record's own.

    Raises:
        TypedError: a value of another type; names it.
    """
    if not isinstance(data, Mapping):
        raise schema.TypedError(f"{place or 'lab.json'} must be a table")
    hints = schema.type_hints(kind)
    there = {field.name for field in fields(kind)} & data.keys()
    known = [name for name in there if data[name] is not None or schema.may_be_none(hints[name])]
    found = {
        name: READING.value(hints[name], data[name], schema.joined(place, name)) for name in known
    }
    facts = object.__new__(kind)
    facts.__dict__.update(found, table=data)
    return facts


def _reader(kind: type[T]) -> schema.Reader:
    return lambda data, place: read(kind, data, place)


READING = schema.Reading({kind: _reader(kind) for kind in PARTS}, defaults=False)
