# SPDX-License-Identifier: GPL-2.0-only
"""The dumbbell of 98-0876R1, figure 1, as data.

    server i --access--> [sw2] --queue, middle rate--> (sat: delay) --> [sw1] --access--> client i

The other direction is the same. A queue and a delay are never on one device. The cell queues are
on the switches' ports to the middle link. The propagation delay is on the box `sat` between the
switches. So a packet in flight never counts against the buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plan.atm import TCP_IP_HEADER_BYTES, cell_time_ns, frame_cells
from plan.schema import check_range

MAX_PAIRS = 1024
# A host interface has the index 1000 + pair in its own namespace: the announce
# program reads a frame's VC from the index.
HOST_IFINDEX_BASE = 1000

# Cells of a frame, time between cell arrivals, cell time on the link -> wait [ns].
Wait = Callable[[int, float, float], float]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link, equal in both directions: the rate of its cells [bit/s], the one-way delay [ns]."""

    rate_bit_per_s: int
    delay_ns: int

    def cell_time_ns(self) -> float:
        """Return the transmission time of one cell on the link [ns]."""
        return cell_time_ns(self.rate_bit_per_s)


@dataclass(frozen=True, kw_only=True)
class Host:
    """One end system: its name, pair number, addresses."""

    name: str
    pair: int
    ip: str
    mac: str
    peer_ip: str
    peer_mac: str
    switch_port: str

    @property
    def ifindex(self) -> int:
        """The index of eth0 in the host's own network namespace."""
        return HOST_IFINDEX_BASE + self.pair

    @property
    def switch_ifindex(self) -> int:
        """The index of the veth end at the switch. eth0's index can only be set with it."""
        side = 1 if self.name.startswith("c") else 2
        return 10_000 * side + self.pair


@dataclass(frozen=True, kw_only=True)
class Dumbbell:
    """N client-server pairs over one middle link.

    Attributes:
        pairs: 1..1024; pair i has the VC number i in each direction.
        access: the link between each host and its switch.
        middle: the bottleneck; its delay is one way.
        mss_bytes: TCP maximum segment size; the MTU is MSS + 40.

    Raises:
        ValueError: a value is out of range; the text names the value and the allowed range.
    """

    pairs: int
    access: Link
    middle: Link
    mss_bytes: int

    def __post_init__(self) -> None:
        check_range("pairs", self.pairs, 1, MAX_PAIRS)
        check_range("mss_bytes", self.mss_bytes, 88, 65495)
        for name, link in (("access", self.access), ("middle", self.middle)):
            check_range(f"{name}.rate_bit_per_s", link.rate_bit_per_s, 1_000_000, 10_000_000_000)
            check_range(f"{name}.delay_ns", link.delay_ns, 0, 10_000_000_000)

    @property
    def mtu_bytes(self) -> int:
        """The IP packet size of a full segment without TCP options."""
        return self.mss_bytes + TCP_IP_HEADER_BYTES

    def clients(self) -> list[Host]:
        return [self._host(i, client=True) for i in range(1, self.pairs + 1)]

    def servers(self) -> list[Host]:
        return [self._host(i, client=False) for i in range(1, self.pairs + 1)]

    def hosts(self) -> list[Host]:
        return self.clients() + self.servers()

    def _host(self, pair: int, *, client: bool) -> Host:
        mine, other = (1, 2) if client else (2, 1)
        return Host(
            name=f"{'c' if client else 's'}{pair}",
            pair=pair,
            ip=ip_address(mine, pair),
            mac=mac_address(mine, pair),
            peer_ip=ip_address(other, pair),
            peer_mac=mac_address(other, pair),
            switch_port=f"{'sw1-c' if client else 'sw2-s'}{pair}",
        )

    def propagation_ns(self) -> int:
        """Return the propagation delay of a round trip, without rates and queues [ns]."""
        return 2 * (2 * self.access.delay_ns + self.middle.delay_ns)

    def idle_round_trip_ns(self, ip_bytes: int, wait_ns: Wait | None = None) -> float:
        """Return the round trip of an IP packet of `ip_bytes` and its echo over idle links [ns].

        Three links each way (access, middle, access) transmit each frame. `wait_ns` gives the time
        from the arrival of a frame's last cell at the middle link to the frame's departure. The
        default, last_cell_wait_ns, is for a middle link that forwards single cells: this link adds
        only the time by which it is slower.
        """
        cells = frame_cells(ip_bytes)
        access, middle = self.access, self.middle
        one_way = (
            cells * access.cell_time_ns()
            + (wait_ns or last_cell_wait_ns)(cells, access.cell_time_ns(), middle.cell_time_ns())
            + cells * access.cell_time_ns()
            + 2 * access.delay_ns
            + middle.delay_ns
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
