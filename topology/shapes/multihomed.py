# SPDX-License-Identifier: GPL-2.0-only
"""Multihomed clients: each client has two access links, such as Wi-Fi and LTE, and two addresses.

                            /--link1--> [w1] --> eth0 \\
    server --> [r0] -------<                            client
                            \\--link2--> [w2] --> eth1 /

A server has one address. A client that uses both links has one connection of Multipath TCP (MPTCP,
RFC 8684) with a subflow over each link. Clients with one link may share the links with it. If there
is a common link, all data crosses it first:

    server --> [r0] --common--> [r1] --link1--> [w1] ...
                                     \\--link2--> [w2] ...

D. Wischik, C. Raiciu, A. Greenhalgh and M. Handley study MPTCP in both networks ("Design,
Implementation and Evaluation of Congestion Control for Multipath TCP", NSDI 2011, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from plan import plan, shape
from plan.layout import Host, Layout, Middle, ip_address, mac_address
from plan.schema import OneOrMore, Within, ZeroOr
from plan.shape import AccessDelay, AccessRate, LinkLayer, Mss

LINKS = ("link1", "link2")
COMMON = "common"
MOVED = LINKS[0]
MOST_CLIENTS = 256
SECOND_DEVICE = "eth1"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of multihomed clients. Rates count all bits of cells or frames."""

    pairs: Annotated[
        int,
        Within(1, MOST_CLIENTS),
        "The number of clients with two links, link1 and link2 ([below](#topologies)). Each"
        " client has its own server.",
    ]
    links_used: Annotated[
        Literal["both", "link1", "link2"],
        "The links that the clients of `topology.pairs` use. With `both`, each of them has one"
        " MPTCP connection with a subflow over each link. `both` needs `workload.kind` = `mptcp`."
        " cellbed itself builds a kernel with MPTCP for such a trial. With `link1` or `link2`, a"
        " client uses TCP over this link.",
    ] = "both"
    single_pairs: Annotated[
        Sequence[Annotated[int, Within(0, MOST_CLIENTS)]],
        OneOrMore(),
        "The number of further clients that have only link1, and the number of further clients"
        " that have only link2. `[3, 1]` gives 3 clients with link1 and 1 with link2. `3` gives 3"
        " with link1 and 3 with link2. Each of these clients has its own server and uses TCP.",
    ] = (0,)
    rate_bit_per_s: Annotated[
        Sequence[Annotated[int, shape.RATE]],
        OneOrMore(),
        "The rates of link1 and link2, 1,000,000 to 1,000,000,000. One number, such as `8_000_000`,"
        " is the rate of each of the two links. A list has a number for each link. The rates count"
        " all bytes of each ATM cell, or of each Ethernet frame (`topology.link_layer`).",
    ]
    delay_us: Annotated[
        Sequence[Annotated[int, shape.DELAY]],
        OneOrMore(),
        "The one-way delays of link1 and link2, 0 to 86,400,000,000. One number is the delay of"
        " each of the two links. A list has a number for each link.",
    ]
    common_rate_bit_per_s: Annotated[
        int,
        ZeroOr(1_000_000, 1_000_000_000),
        "The rate of the common link, which all data crosses before link1 or link2. With 0, there"
        " is no such link.",
    ] = 0
    common_delay_us: Annotated[
        int, shape.DELAY, "The one-way delay of the common link, if there is such a link."
    ] = 0
    path: Annotated[
        str | Mapping[str, Any],
        "How rate, delay, loss and outage of link1 change during the trial: a CSV file, or a table"
        " with the `kind` of a path ([moving-paths.md](moving-paths.md)). link2 stays as it is."
        " With `none`, link1 stays as it is, too.",
    ] = "none"
    access_rate_bit_per_s: AccessRate = shape.SONET_BIT_PER_S
    access_delay_us: AccessDelay = 5
    mss_bytes: Mss
    link_layer: LinkLayer = "atm"

    def __post_init__(self) -> None:
        for key in ("single_pairs", "rate_bit_per_s", "delay_us"):
            values = getattr(self, key)
            if len(values) not in (1, 2):
                raise ValueError(
                    f"topology.{key}: the list has {len(values)} numbers; write one number, or 2,"
                    " one for each link"
                )
        if self.common_delay_us and not self.common_rate_bit_per_s:
            raise ValueError(
                f"topology.common_delay_us = {self.common_delay_us}: there is no common link; write"
                " topology.common_rate_bit_per_s, too"
            )

    def plan(self) -> plan.Topology:
        """Return the same settings in the lab's units, without `path`."""
        rates, delays_us, single = (
            tuple(values) * (2 if len(values) == 1 else 1)
            for values in (self.rate_bit_per_s, self.delay_us, self.single_pairs)
        )
        used = LINKS if self.links_used == "both" else (self.links_used,)
        common = (self.common_rate_bit_per_s,) if self.common_rate_bit_per_s else ()
        return plan.Topology(
            pairs=len(used) * self.pairs + sum(single),
            rate_bit_per_s=min(*rates, *common),
            delay_ns=(max(delays_us) + self.common_delay_us) * 1000,
            access_rate_bit_per_s=self.access_rate_bit_per_s,
            access_delay_ns=self.access_delay_us * 1000,
            mss_bytes=self.mss_bytes,
            link_layer=self.link_layer,
            shape=Shape(
                clients=self.pairs,
                links_used=used,
                single_pairs=single,
                rates_bit_per_s=rates,
                delays_ns=tuple(delay * 1000 for delay in delays_us),
                common_rate_bit_per_s=self.common_rate_bit_per_s,
                common_delay_ns=self.common_delay_us * 1000,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Shape(shape.Shape):
    """The clients with both links and the links that they use, the clients with one link, and rates
    and one-way delays; a common link of rate 0 does not exist."""

    clients: int
    links_used: tuple[str, ...]
    single_pairs: tuple[int, ...]
    rates_bit_per_s: tuple[int, ...]
    delays_ns: tuple[int, ...]
    common_rate_bit_per_s: int
    common_delay_ns: int

    @property
    def built(self) -> Sequence[object]:
        return self.clients, self.links_used, self.single_pairs, self.common_rate_bit_per_s > 0

    @property
    def kernel_options(self) -> Sequence[str]:
        return ("MPTCP",) if len(self.links_used) > 1 else ()

    def layout(self, topology: plan.Topology) -> Layout:
        rate, delay_ns = self.common_rate_bit_per_s, self.common_delay_ns
        near = "r1" if rate else "r0"
        several = zip(LINKS, self.rates_bit_per_s, self.delays_ns, ("w1", "w2"), strict=True)
        return Multihomed(
            pairs=topology.pairs,
            access=topology.access,
            mss_bytes=topology.mss_bytes,
            several=self.clients,
            links_used=self.links_used,
            single_pairs=self.single_pairs,
            links={
                name: Middle.named(name, topology.link(of, delay), near, far)
                for name, of, delay, far in several
            },
            common=(
                (Middle.named(COMMON, topology.link(rate, delay_ns), "r0", near),) if rate else ()
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Multihomed(Layout):
    """The network as data.

    A pair is an address of a client, and its server. So a client that uses both links has two
    pairs: client i has the pairs i (over link1) and i + `several` (over link2). The clients with
    link1 only follow, then those with link2 only.

    Attributes:
        several: how many clients have both links; links_used: the links that they use.
        single_pairs: how many clients have only the first, and only the second link.
        links: name -> link1 and link2. common: the link before both, if there is one.
    """

    several: int
    links_used: tuple[str, ...]
    single_pairs: tuple[int, ...]
    links: Mapping[str, Middle]
    common: tuple[Middle, ...]

    def middles(self) -> Sequence[Middle]:
        return [*self.common, *self.links.values()]

    @property
    def moved(self) -> Middle:
        return self.links[MOVED]

    def route(self, pair: int) -> Sequence[Middle]:
        return [*self.common, self.links[self._link_of[pair - 1]]]

    @property
    def _link_of(self) -> Sequence[str]:
        """The name of each pair's own link."""
        singles = zip(LINKS, self.single_pairs, strict=True)
        return [
            *(name for name in self.links_used for _ in range(self.several)),
            *(name for name, count in singles for _ in range(count)),
        ]

    def classes(self) -> Mapping[str, Sequence[int]]:
        kind = "mptcp" if len(self.links_used) > 1 else "client"
        counts = [(f"{kind}-{name}", self.several) for name in self.links_used]
        counts += zip(LINKS, self.single_pairs, strict=True)
        found, first = {}, 1
        for name, count in counts:
            if count:
                found[name] = range(first, first + count)
            first += count
        return found

    def bundles(self) -> Mapping[str, Sequence[tuple[int, ...]]]:
        count = self.several
        own = [
            tuple(range(i, len(self.links_used) * count + 1, count)) for i in range(1, count + 1)
        ]
        of_one = {
            name: [(p,) for p in pairs] for name, pairs in self.classes().items() if name in LINKS
        }
        return {"client": own, **of_one}

    def _host(self, pair: int, *, client: bool) -> Host:
        host, first = super()._host(pair, client=client), pair - self.several
        if not 0 < first <= self.several * (len(self.links_used) - 1):
            return host
        if client:
            return replace(
                host,
                node=f"c{first}",
                device=SECOND_DEVICE,
                peer_ip=ip_address(2, first),
                peer_mac=mac_address(2, first),
            )
        return replace(
            host,
            node=f"s{first}",
            ip=ip_address(2, first),
            mac=mac_address(2, first),
            switch_port=f"{host.switch}-s{first}",
            port_pair=first,
        )
