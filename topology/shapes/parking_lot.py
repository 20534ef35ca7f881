# SPDX-License-Identifier: GPL-2.0-only
"""The parking lot: a chain of middle links, with long flows over all of them and cross flows.

    server of the long pairs                                      client of the long pairs
        \\                                                           /
        [r0] --link1--> [r1] --link2--> [r2] ... --linkN--> [rN]
        /                 \\  /              \\                        \\
    servers of link1   clients of link1, servers of link2   ...   clients of linkN

Each link has a queue of its own at both ends. The cross flows of a link enter before this link and
leave behind it. S. Floyd studied TCP in such a chain ("Connections with Multiple Congested Gateways
in Packet-Switched Networks", ACM Computer Communication Review 21(5), 1991); RFC 5166, section 3,
names the parking lot as a topology for the evaluation of congestion control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from plan import plan, shape
from plan.layout import MAX_PAIRS, Layout, Link, Middle
from plan.schema import OneOrMore, Within
from plan.shape import AccessDelay, AccessRate, Coalesce, LinkLayer, Mss

MOST_LINKS = 16


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of the parking lot. Rates count all bits of cells or frames."""

    links: Annotated[
        int, Within(1, MOST_LINKS), "N, the number of middle links. Their names are link1 to linkN."
    ]
    long_pairs: Annotated[
        int,
        Within(1, MAX_PAIRS),
        "The number of pairs whose data crosses all links. They are the pairs 1, 2, ...",
    ]
    cross_pairs: Annotated[
        int,
        Within(1, MAX_PAIRS),
        "Each link has this number of pairs whose data crosses only this link. The pairs of link1"
        " have the numbers after the long pairs, then come the pairs of link2, and so on.",
    ]
    rate_bit_per_s: Annotated[
        Sequence[Annotated[int, shape.RATE]],
        OneOrMore(),
        "The rate of each middle link, 1,000,000 to 1,000,000,000: one number for all links, or a"
        " list with one number for each link. The rate counts all bytes of each ATM cell, or of"
        " each Ethernet frame (`topology.link_layer`).",
    ]
    delay_us: Annotated[
        Sequence[Annotated[int, shape.DELAY]],
        OneOrMore(),
        "The one-way delay of each middle link, 0 to 86,400,000,000: one number for all links, or a"
        " list with one number for each link.",
    ]
    access_rate_bit_per_s: AccessRate = shape.SONET_BIT_PER_S
    access_delay_us: AccessDelay = 5
    mss_bytes: Mss
    coalesce_us: Coalesce = 0
    link_layer: LinkLayer = "atm"

    def __post_init__(self) -> None:
        total = self.long_pairs + self.links * self.cross_pairs
        if total > MAX_PAIRS:
            raise ValueError(
                f"topology.cross_pairs = {self.cross_pairs}: with {self.links} links and"
                f" {self.long_pairs} long pairs, these are {total} pairs; at most {MAX_PAIRS} are"
                " allowed"
            )
        for key in ("rate_bit_per_s", "delay_us"):
            values = getattr(self, key)
            if len(values) not in (1, self.links):
                raise ValueError(
                    f"topology.{key}: the list has {len(values)} numbers; write one number, or"
                    f" {self.links}, one for each link"
                )

    def plan(self) -> plan.Topology:
        """Return the same settings in the lab's units."""
        rates, delays = (
            tuple(values) * (self.links if len(values) == 1 else 1)
            for values in (self.rate_bit_per_s, self.delay_us)
        )
        return plan.Topology(
            pairs=self.long_pairs + self.links * self.cross_pairs,
            rate_bit_per_s=min(rates),
            delay_ns=sum(delays) * 1000,
            access_rate_bit_per_s=self.access_rate_bit_per_s,
            access_delay_ns=self.access_delay_us * 1000,
            mss_bytes=self.mss_bytes,
            coalesce_ns=self.coalesce_us * 1000,
            link_layer=self.link_layer,
            shape=Shape(
                long_pairs=self.long_pairs,
                cross_pairs=self.cross_pairs,
                rates_bit_per_s=rates,
                delays_ns=tuple(delay * 1000 for delay in delays),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Shape(shape.Shape):
    """The pairs of each route, and the rates and one-way delays of the links in their order."""

    long_pairs: int
    cross_pairs: int
    rates_bit_per_s: tuple[int, ...]
    delays_ns: tuple[int, ...]

    @property
    def built(self) -> Sequence[object]:
        return self.long_pairs, self.cross_pairs, len(self.delays_ns)

    def layout(self, topology: plan.Topology) -> Layout:
        links = [
            topology.link(rate, delay)
            for rate, delay in zip(self.rates_bit_per_s, self.delays_ns, strict=True)
        ]
        return ParkingLot(
            pairs=topology.pairs,
            access=topology.access,
            mss_bytes=topology.mss_bytes,
            long_pairs=self.long_pairs,
            cross_pairs=self.cross_pairs,
            chain=tuple(middle(number, link) for number, link in enumerate(links, start=1)),
        )


@dataclass(frozen=True, kw_only=True)
class ParkingLot(Layout):
    """The chain as data. `chain` has the links in the direction of the data."""

    long_pairs: int
    cross_pairs: int
    chain: tuple[Middle, ...]

    def middles(self) -> Sequence[Middle]:
        return self.chain

    def route(self, pair: int) -> Sequence[Middle]:
        if pair <= self.long_pairs:
            return self.chain
        return [self.chain[(pair - self.long_pairs - 1) // self.cross_pairs]]

    def classes(self) -> Mapping[str, Sequence[int]]:
        first = self.long_pairs + 1
        starts = [first + at * self.cross_pairs for at in range(len(self.chain))]
        return {"long": range(1, first)} | {
            one.name: range(start, start + self.cross_pairs)
            for one, start in zip(self.chain, starts, strict=True)
        }


def middle(number: int, link: Link) -> Middle:
    """Return the link of a number, from 1, between two switches of the chain."""
    name = f"link{number}"
    return Middle(
        name=name,
        link=link,
        near=f"r{number - 1}",
        far=f"r{number}",
        box=f"box{number}",
        devices={"down": f"{name}-down", "up": f"{name}-up"},
    )
