# SPDX-License-Identifier: GPL-2.0-only
"""A leaf-spine network: several equal paths between the leaves of servers and those of clients.

    servers --> [leaf] --> [spine 1] --> [leaf] --> clients
                      \\--> [spine 2] --/
                           ...

Each leaf has a link to each spine. The data of a pair goes over one spine, as with ECMP (equal-cost
multipath, RFC 2992), which chooses the path of a flow by a hash. Pairs whose hashes are the same
share a path while another path may be idle (M. Al-Fares and others, "Hedera: Dynamic Flow
Scheduling for Data Center Networks", NSDI 2010, section 2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from plan import plan, shape
from plan.layout import MAX_PAIRS, Layout, Link, Middle
from plan.schema import Within
from plan.shape import AccessDelay, AccessRate, Coalesce, LinkLayer, Mss

MOST = 8  # leaves of each side, and spines


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of the leaf-spine network. Rates count all bits of cells or frames."""

    pairs: Annotated[
        int, Within(1, MAX_PAIRS), "The number of clients. Each client has its own server."
    ]
    leaves: Annotated[
        int,
        Within(1, MOST),
        "The number of leaves with servers. There are as many leaves with clients. The servers"
        " are at the leaves by turns: server 1 at the first leaf, server 2 at the second leaf, and"
        " so on. [Below](#topologies) is the rule for the clients.",
    ]
    spines: Annotated[int, Within(1, MOST), "The number of spines, and so of equal paths."]
    rate_bit_per_s: Annotated[
        int,
        shape.RATE,
        "The rate of each link between a leaf and a spine. The rate counts all bytes of each ATM"
        " cell, or of each Ethernet frame (`topology.link_layer`).",
    ]
    delay_us: Annotated[
        int, shape.DELAY, "The one-way delay of each link between a leaf and a spine."
    ]
    spreading: Annotated[
        Literal["hash", "turn"],
        "How cellbed chooses the spine of a pair. `hash`: a hash of the pair's number and of"
        " `topology.hash_seed` chooses it, as ECMP does (equal-cost multipath). `turn`: of the"
        " pairs between the same two leaves, the first pair uses the first spine, the second pair"
        " the second spine, and so on. A pair keeps its spine.",
    ] = "hash"
    hash_seed: Annotated[
        int, Within(0, 1_000_000_000), "With another number, the hash chooses other spines."
    ] = 1
    access_rate_bit_per_s: AccessRate = shape.SONET_BIT_PER_S
    access_delay_us: AccessDelay = 5
    mss_bytes: Mss
    coalesce_us: Coalesce = 0
    link_layer: LinkLayer = "atm"

    def plan(self) -> plan.Topology:
        """Return the same settings in the lab's units."""
        return plan.Topology(
            pairs=self.pairs,
            rate_bit_per_s=self.rate_bit_per_s,
            delay_ns=2 * self.delay_us * 1000,
            access_rate_bit_per_s=self.access_rate_bit_per_s,
            access_delay_ns=self.access_delay_us * 1000,
            mss_bytes=self.mss_bytes,
            coalesce_ns=self.coalesce_us * 1000,
            link_layer=self.link_layer,
            shape=Shape(
                leaves=self.leaves,
                link_delay_ns=self.delay_us * 1000,
                spine_of_pair=tuple(self._spine(pair) for pair in range(1, self.pairs + 1)),
                spines=self.spines,
            ),
        )

    def _spine(self, pair: int) -> int:
        """Return the number of a pair's spine, from 1."""
        if self.spreading == "turn":
            return (pair - 1) // self.leaves**2 % self.spines + 1
        text = f"{self.hash_seed} {pair}".encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.spines + 1


@dataclass(frozen=True, kw_only=True)
class Shape(shape.Shape):
    """The leaves of each side, the one-way delay of a link, and the spine of each pair."""

    leaves: int
    spines: int
    link_delay_ns: int
    spine_of_pair: tuple[int, ...]

    @property
    def built(self) -> Sequence[object]:
        return self.leaves, self.spines, self.spine_of_pair

    def layout(self, topology: plan.Topology) -> Layout:
        link = topology.link(topology.rate_bit_per_s, self.link_delay_ns)
        numbers = [(leaf, spine) for leaf in range(1, self.leaves + 1)
                   for spine in range(1, self.spines + 1)]  # fmt: skip
        return LeafSpine(
            pairs=topology.pairs,
            access=topology.access,
            mss_bytes=topology.mss_bytes,
            leaves=self.leaves,
            spine_of_pair=self.spine_of_pair,
            up={(leaf, spine): middle(link, f"a{leaf}", f"x{spine}") for leaf, spine in numbers},
            down={(leaf, spine): middle(link, f"x{spine}", f"b{leaf}") for leaf, spine in numbers},
        )


@dataclass(frozen=True, kw_only=True)
class LeafSpine(Layout):
    """The network as data.

    up, down: leaf and spine -> the link from a leaf of servers to a spine, and that from a spine to
    a leaf of clients.
    """

    leaves: int
    spine_of_pair: tuple[int, ...]
    up: Mapping[tuple[int, int], Middle]
    down: Mapping[tuple[int, int], Middle]

    def middles(self) -> Sequence[Middle]:
        return [*self.up.values(), *self.down.values()]

    def route(self, pair: int) -> Sequence[Middle]:
        spine = self.spine_of_pair[pair - 1]
        of_server = (pair - 1) % self.leaves + 1
        of_client = (pair - 1) // self.leaves % self.leaves + 1
        return [self.up[of_server, spine], self.down[of_client, spine]]

    def classes(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for pair in range(1, self.pairs + 1):
            first, last = self.route(pair)
            found.setdefault(f"{first.near}-{first.far}-{last.far}", []).append(pair)
        return dict(sorted(found.items()))


def middle(link: Link, near: str, far: str) -> Middle:
    """Return a link between two switches: a1 is a leaf of servers, x1 a spine, b1 of clients."""
    return Middle.named(f"{near}-{far}", link, near, far)
