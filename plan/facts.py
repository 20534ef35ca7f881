# SPDX-License-Identifier: GPL-2.0-only
"""The typed measurements of a trial: lab.json and run.json of a record (docs/records.md).

A value may be absent. For example, a record of web traffic has no idle sources, and an old record
lacks newer values. If code reads an absent value, an error names it:

    facts.source.offered    an int, or NotRecordedError: source.offered
    facts.source.has("offered")

The names contain the units. Times are of the lab's monotonic clock, unless the text says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from plan import schema
from plan.queue import Counters

T = TypeVar("T", bound="Facts")


class NotRecordedError(ValueError):
    """A record lacks a value; the text is the value's place in the record."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Facts:
    """A table of values. Each value may be absent.

    Attributes:
        place: the place of the table in the record's document, for error messages.
    """

    place: ClassVar[str] = ""

    def has(self, name: str) -> bool:
        """Return whether the value is there and not null. AttributeError: unknown name."""
        if name not in schema.type_hints(type(self)):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return self.__dict__.get(name) is not None

    def known_by(self, kind: type[T]) -> T:
        """Return the same table, read by another class that knows other values.

        Raises:
            TypedError: a value has another type; the text names the value.
        """
        return read(kind, self.__dict__.get("table", {}), self.place)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise NotRecordedError(f"the record has no {schema.joined(self.place, name)}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Losses(Facts):
    """Lost packets, by the place that counted them.

    Attributes:
        namespaces: the number of network namespaces whose counters were read.
        elsewhere: each counter that grew, without the ports under test and the lossy path.
        at_port: queue -> packets that the port under test refused.
        on_path: direction -> packets that the path lost, for each direction with losses.
    """

    place: ClassVar[str] = "losses"
    namespaces: int
    elsewhere: Mapping[str, int]
    at_port: Mapping[str, int]
    on_path: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Realtime(Facts):
    """The timing errors of a lab whose clock runs on while the lab computes.

    Attributes:
        stall_p99_ns: the 99th percentile of the delay with which a sleeping thread woke.
        clock_step_ns: the amount by which the wall clock was set.
    """

    place: ClassVar[str] = "realtime"
    stall_p99_ns: int
    clock_step_ns: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CaptureFacts(Facts):
    """Counts of the packet capture at the ports.

    Attributes:
        clock_offset_ns: the clock of the capture files minus the monotonic clock.
        ports: queue -> packets that the capture wrote, and packets that it lost.
    """

    place: ClassVar[str] = "capture"
    clock_offset_ns: int
    ports: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SourceFacts(Facts):
    """The results of a workload (docs/records.md). A list has one value for each pair.

    Attributes:
        t0_ns: the start of the trial; times in the record count from it.
        measured_s, whole_s: the length of the measured interval, and of the whole trial.
        received_whole_bytes: bytes since the start. delivered_bytes: new bytes in the interval.
        peer_window_bytes: the last window that the receiver advertised; None: unknown.
        max_late_ns: the largest delay between a request's due time and its sending.
        figures: the figures that only this workload has (`responses` of workload/source.py).

    A workload's own class reads the values that only this workload has (known_by()).
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
    figures: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrialFacts(Facts):
    """The counts of a lab in one trial.

    Attributes:
        idle_round_trip_ns: round trips of pings over the idle path. expected_: the same, computed
            from delays and rates.
        routes: name of a route -> its idle_round_trip_ns and expected_idle_round_trip_ns; only if
            the middle links have names.
        probed_rate_bit_per_s: queue -> the rate of a packet train before the trial. With one
            middle link, a queue's name is its direction.
        queue: queue -> its counters at the end of the trial.
        longest: queue -> the largest values that were sampled; only if the links have names.
        marks: name of a moment of the workload -> the queues' counters at that moment.
        links: device -> packets that the device sent and received.
        link_ip_bytes: device of a switch -> bytes of IP packets that it received and sent; only if
            the middle links have names.
        probed_ip_bytes: those of link_ip_bytes that passed before the workload began.
        link_samples: queue -> what links.csv has of it (harness/captures/links.py).
        offload: device of a switch -> packets that its host handed over, and the segments in them;
            only with topology.coalesce_us.
        realtime: None in virtual time.
        versions: versions of the kernel and of packages.
        congestion: pair -> the congestion controls of its sender, if the pairs differ in flavor.
        capture: None if nothing was captured.
        virtual_s: the duration of the trial on the lab's clock.
        path: direction -> what the packets show of a moving path; `origin_ns` is time 0 of the path
            (harness/records/moving.py).
    """

    idle_round_trip_ns: tuple[float, ...]
    expected_idle_round_trip_ns: float
    routes: Mapping[str, Mapping[str, Any]]
    probed_rate_bit_per_s: Mapping[str, float | None]
    queue: Mapping[str, Counters]
    longest: Mapping[str, Mapping[str, int]]
    marks: Mapping[str, Mapping[str, Counters]]
    links: Mapping[str, tuple[int, ...]]
    link_ip_bytes: Mapping[str, tuple[int, ...]]
    probed_ip_bytes: Mapping[str, tuple[int, ...]]
    link_samples: Mapping[str, Mapping[str, int]]
    offload: Mapping[str, tuple[int, ...]]
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
        """Whether the clock stood still while the lab computed."""
        return not self.has("realtime")


PARTS = (Losses, Realtime, CaptureFacts, SourceFacts, TrialFacts)


def read(kind: type[T], data: object, place: str = "") -> T:
    """Return the values of a table that `kind` knows. The other values stay in the record only.

    Raises:
        TypedError: a value has another type; the text names the value.
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
