# SPDX-License-Identifier: GPL-2.0-only
"""What connections are to be run, as the host says it and the lab reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from plan.plan import Flavor


@dataclass(frozen=True, kw_only=True)
class Link:
    """The bottleneck between sender and receiver; the way back is not shaped.

    Attributes:
        delay_ns: one way, the same in both directions.
        mtu_bytes: of every link.
    """

    rate_bit_per_s: int = 10_000_000
    delay_ns: int = 50_000_000
    mtu_bytes: int = 1040


@dataclass(frozen=True, kw_only=True)
class Connection:
    """One connection to be run.

    Attributes:
        payload_bytes: of a full segment; segments are counted in it, from 0.
        writes: (time since the start in ns, bytes) of the sender's application.
        initcwnd, ssthresh: initial, in segments; None: the kernel's own.
        drops: segment -> its sendings (from 0) that are lost.
        marks: the same of those that get a congestion mark, where they ask for ECN.
        limit_ns: virtual time after which the connection counts as not finished.
    """

    id: str
    flavor: Flavor
    writes: Sequence[Sequence[int]]
    payload_bytes: int = 1000
    initcwnd: int | None = None
    ssthresh: int | None = None
    drops: Mapping[int, Sequence[int]] = field(default_factory=dict)
    marks: Mapping[int, Sequence[int]] = field(default_factory=dict)
    limit_ns: int = 300_000_000_000


@dataclass(frozen=True, kw_only=True)
class LossJob:
    """Connections that are run one after the other over a link."""

    link: Link
    connections: Sequence[Connection]

    @property
    def modules(self) -> list[str]:
        """Kernel modules of the flavors."""
        return sorted({c.flavor.module for c in self.connections if c.flavor.module})
