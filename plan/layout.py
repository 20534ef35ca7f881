# SPDX-License-Identifier: GPL-2.0-only
"""A network as data: pairs of hosts, switches, and the middle links between the switches.

    server --access--> [near] --queue, rate--> (box: delay) --> [far] --access--> client

A middle link joins two switches. The data of the servers crosses it from `near` to `far` ("down"),
and the acknowledgements of the clients cross it from `far` to `near` ("up"). A queue and a delay
are never on one device: a queue is on a switch's port to the link, and the propagation delay is on
a box between the switches. So a packet in flight never counts against a buffer.

Each topology (plan/shape.py) is one kind of layout. It says which middle links there are, and which
of them each pair crosses. All else follows from this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from plan.atm import TCP_IP_HEADER_BYTES
from plan.framing import ATM, Framing

MAX_PAIRS = 1024
DIRECTIONS = ("down", "up")
# A host interface has the index 1000 + pair in its own namespace: the announce
# program reads a frame's VC from the index.
HOST_IFINDEX_BASE = 1000
FIRST_DEVICE = "eth0"

# Units of a frame (cells or bytes), time between their arrivals, and to send one -> wait [ns].
Wait = Callable[[int, float, float], float]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link, equal in both directions.

    Attributes:
        rate_bit_per_s: the rate; it counts all bits of the cells, or of the Ethernet frames.
        delay_ns: the one-way delay.
        framing: how the link carries packets.
    """

    rate_bit_per_s: int
    delay_ns: int
    framing: Framing = ATM

    def unit_time_ns(self) -> float:
        """Return the transmission time of a unit of the framing: a cell, or a byte [ns]."""
        return self.framing.unit_time_ns(self.rate_bit_per_s)

    def time_ns(self, ip_bytes: int) -> float:
        """Return the transmission time of an IP packet [ns]."""
        return self.framing.units(ip_bytes) * self.unit_time_ns()

    @property
    def netem_byte_per_s(self) -> int:
        """The rate of an access link for netem, which counts whole nanoseconds [byte/s].

        The cell queue's model of this link does, too. With a rate at which a cell takes a whole
        number of nanoseconds, both agree.
        """
        if not self.framing.has_cells:
            return self.rate_bit_per_s // 8
        return self.framing.unit_bytes * 10**9 // round(self.unit_time_ns())


@dataclass(frozen=True, kw_only=True)
class Host:
    """One end of a pair: its name, pair number, addresses, and the port of its switch.

    In most layouts, each end is a host of its own. A host with several links has several ends.

    Attributes:
        node: the name of the host, which has a network namespace.
        device: the interface of this end in the host's namespace.
        port_pair: the first pair with this interface: it numbers the interface and the port.
    """

    name: str
    pair: int
    ip: str
    mac: str
    peer_ip: str
    peer_mac: str
    switch_port: str
    node: str
    device: str = FIRST_DEVICE
    port_pair: int

    @property
    def switch(self) -> str:
        """The name of the host's switch."""
        return self.switch_port.partition("-")[0]

    @property
    def is_client(self) -> bool:
        return self.name.startswith("c")

    @property
    def ifindex(self) -> int:
        """The index of the interface in the host's own network namespace."""
        return HOST_IFINDEX_BASE + self.port_pair

    @property
    def switch_ifindex(self) -> int:
        """The index of the veth end at the switch. The host's own can only be set with it."""
        side = 1 if self.is_client else 2
        return 10_000 * side + self.port_pair

    @property
    def is_first(self) -> bool:
        """Whether this is the host's first interface, which unbound sockets use."""
        return self.device == FIRST_DEVICE


@dataclass(frozen=True, kw_only=True)
class Middle:
    """A link between two switches, with a queue at each end and a box in the middle.

    Attributes:
        name: how a record and a report name the link; "": it is the only link.
        link: its rate, and its one-way delay.
        near, far: the names of the switches; data crosses the link from near to far.
        box: the name of the box, which has a network namespace of its own.
        devices: direction -> the switch's port whose queue holds the packets of this direction.
    """

    name: str
    link: Link
    near: str
    far: str
    box: str
    devices: Mapping[str, str]

    @classmethod
    def named(cls, name: str, link: Link, near: str, far: str) -> Self:
        """Return a link whose box and ports are named after it."""
        devices = {way: f"{name}-{way}" for way in ("down", "up")}
        return cls(name=name, link=link, near=near, far=far, box=f"box-{name}", devices=devices)

    def queue(self, direction: str) -> str:
        """Return the name of the queue of a direction: "down", or for example "link1-down"."""
        return f"{self.name}-{direction}" if self.name else direction

    def device_at(self, switch: str) -> str:
        """Return the port of this link at one of its switches."""
        return self.devices["down" if switch == self.near else "up"]


@dataclass(frozen=True, kw_only=True)
class Layout(ABC):
    """N client-server pairs over middle links.

    Attributes:
        pairs: 1..1024; pair i has the VC number i in each direction.
        access: the link between each host and its switch.
        mss_bytes: TCP maximum segment size; the MTU is MSS + 40.
    """

    pairs: int
    access: Link
    mss_bytes: int

    @abstractmethod
    def middles(self) -> Sequence[Middle]:
        """Return all middle links."""

    @abstractmethod
    def route(self, pair: int) -> Sequence[Middle]:
        """Return the middle links that the data of a pair crosses, in their order; at least one."""

    @abstractmethod
    def classes(self) -> Mapping[str, Sequence[int]]:
        """Return the pairs by their route: a name for each route -> its pairs; all pairs once."""

    @property
    def mtu_bytes(self) -> int:
        """The IP packet size of a full segment without TCP options."""
        return self.mss_bytes + TCP_IP_HEADER_BYTES

    @property
    def framing(self) -> Framing:
        """How all links carry packets."""
        return self.access.framing

    @property
    def named(self) -> bool:
        """Whether the links have names, so that a record tells each of them apart."""
        return any(middle.name for middle in self.middles())

    def class_of(self, pair: int) -> str:
        """Return the name of a pair's route."""
        return next(name for name, pairs in self.classes().items() if pair in pairs)

    def clients(self) -> Sequence[Host]:
        return self._clients

    def servers(self) -> Sequence[Host]:
        return self._servers

    def ends(self) -> Sequence[Host]:
        """Return both ends of each pair, all clients first."""
        return self._clients + self._servers

    def hosts(self) -> Sequence[Host]:
        """Return an end for each interface of a host: the first one that uses the interface."""
        return self._hosts

    def nodes(self) -> Sequence[str]:
        """Return the names of all hosts."""
        return list(dict.fromkeys(end.node for end in self.ends()))

    def bundles(self) -> Mapping[str, Sequence[tuple[int, ...]]]:
        """Return the pairs of each connection, by a name of their kind.

        A connection of TCP has one pair. A connection of MPTCP has a pair for each of its paths.
        """
        return {name: [(pair,) for pair in pairs] for name, pairs in self.classes().items()}

    @property
    def several_paths(self) -> bool:
        """Whether a connection has several paths."""
        return any(len(one) > 1 for several in self.bundles().values() for one in several)

    @cached_property
    def _hosts(self) -> tuple[Host, ...]:
        by_port: dict[str, Host] = {}
        for end in self.ends():
            by_port.setdefault(end.switch_port, end)
        return tuple(by_port.values())

    @cached_property
    def _clients(self) -> tuple[Host, ...]:
        return tuple(self._host(i, client=True) for i in range(1, self.pairs + 1))

    @cached_property
    def _servers(self) -> tuple[Host, ...]:
        return tuple(self._host(i, client=False) for i in range(1, self.pairs + 1))

    def _host(self, pair: int, *, client: bool) -> Host:
        mine, other = (1, 2) if client else (2, 1)
        route = self.route(pair)
        switch = route[-1].far if client else route[0].near
        name = f"{'c' if client else 's'}{pair}"
        return Host(
            name=name,
            pair=pair,
            ip=ip_address(mine, pair),
            mac=mac_address(mine, pair),
            peer_ip=ip_address(other, pair),
            peer_mac=mac_address(other, pair),
            switch_port=f"{switch}-{name}",
            node=name,
            port_pair=pair,
        )

    @property
    def moved(self) -> Middle:
        """The middle link that a moving path moves."""
        return self.middles()[0]

    def switches(self) -> list[str]:
        """Return the names of the switches, in the order of their names."""
        return sorted({name for one in self.middles() for name in (one.near, one.far)})

    def queues(self) -> dict[str, tuple[Middle, str]]:
        """Return name of a queue -> its middle link, and its direction."""
        return {
            middle.queue(direction): (middle, direction)
            for middle in self.middles()
            for direction in DIRECTIONS
        }

    def ways(self, direction: str) -> list[str]:
        """Return the names of the queues of one direction."""
        return [middle.queue(direction) for middle in self.middles()]

    def crossing(self, middle: Middle) -> list[int]:
        """Return the pairs that cross a middle link."""
        return [pair for pair in range(1, self.pairs + 1) if middle in self.route(pair)]

    def prober(self, middle: Middle) -> int | None:
        """Return the pair whose packets show the rate of a link: it crosses the fewest others.

        None: no pair crosses the link.
        """
        return min(self.crossing(middle), key=lambda pair: len(self.route(pair)), default=None)

    def tightest(self) -> Middle:
        """Return the first of the middle links with the lowest rate."""
        return min(self.middles(), key=lambda one: one.link.rate_bit_per_s)

    def slowest(self, pair: int) -> Link:
        """Return the middle link with the lowest rate of those that a pair crosses."""
        return min((one.link for one in self.route(pair)), key=lambda link: link.rate_bit_per_s)

    def propagation_ns(self) -> int:
        """Return the propagation delay of the longest round trip, without rates and queues [ns]."""
        return max(self.round_trips_ns())[0]

    def round_trips_ns(self, moved_ns: int | None = None) -> list[tuple[int, bool]]:
        """Return the propagation delay of a round trip over each route [ns], without rates and
        queues, and whether the route crosses the link that moves.

        moved_ns: the delays of both directions of the moving link; None: it stands still.
        """
        found = []
        for pairs in self.classes().values():
            route = self.route(pairs[0])
            moves = moved_ns is not None and self.moved in route
            still_ns = sum(one.link.delay_ns for one in route if not moves or one != self.moved)
            own_ns = (moved_ns or 0) if moves else 0
            found.append((2 * (2 * self.access.delay_ns + still_ns) + own_ns, moves))
        return found

    def idle_round_trip_ns(
        self, ip_bytes: int, wait_ns: Wait | None = None, pair: int = 1
    ) -> float:
        """Return the round trip of an IP packet of `ip_bytes` and its echo over idle links [ns].

        The access links and the middle links of the pair transmit each frame. `wait_ns` gives the
        time from the arrival of a frame's last cell at a middle link to the frame's departure. The
        default, last_cell_wait_ns, is for a middle link that forwards single cells: this link adds
        only the time by which it is slower.
        """
        units, access = self.framing.units(ip_bytes), self.access
        links = [one.link for one in self.route(pair)]
        wait = wait_ns or last_cell_wait_ns
        waits = [wait(units, access.unit_time_ns(), link.unit_time_ns()) for link in links]
        one_way = (
            access.time_ns(ip_bytes)
            + sum(waits)
            + access.time_ns(ip_bytes)
            + 2 * access.delay_ns
            + sum(link.delay_ns for link in links)
        )
        return 2 * one_way


def last_cell_wait_ns(cells: int, arrival_ns: float, service_ns: float) -> float:
    """Return the time from a frame's last cell's arrival at an idle port to its departure [ns].

    A cell arrives every `arrival_ns`, and a cell leaves every `service_ns`. The first cell is
    complete after one arrival time.
    """
    if service_ns <= arrival_ns:
        return service_ns
    return arrival_ns + cells * service_ns - cells * arrival_ns


def ip_address(side: int, pair: int) -> str:
    """Return 10.SIDE.x.y. The clients are on side 1, the servers on side 2."""
    return f"10.{side}.{pair // 250}.{pair % 250 + 1}"


def mac_address(side: int, pair: int) -> str:
    """Return a locally administered address that contains the side and the pair."""
    return f"02:00:00:{side:02x}:{pair >> 8:02x}:{pair & 0xFF:02x}"
