# SPDX-License-Identifier: GPL-2.0-only
"""The settings of a trial, as an experiment's [base] and rules have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from plan.schema import OneOrMore, Within


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The dumbbell (plan/dumbbell.py); rates of cells, 53 bytes each."""

    pairs: Annotated[int, Within(1, 1024), "The number of clients. Each client has its own server."]
    rate_bit_per_s: Annotated[
        int,
        Within(1_000_000, 1_000_000_000),
        "The rate of the middle link, which all pairs share. It includes all 53 bytes of each ATM"
        " cell. The link carries each packet in such cells, also with a queue of packets.",
    ]
    delay_us: Annotated[int, Within(0, 10_000_000), "The one-way delay of the middle link."]
    access_rate_bit_per_s: Annotated[
        int,
        Within(1_000_000, 10_000_000_000),
        "The rate of each access link, which connects a host with the middle link. It counts all"
        " bits of the cells, as the rate of the middle link does. The default is what a SONET line"
        " (an optical link) of 155.52 Mbit/s has left for cells.",
    ] = 149_760_000
    access_delay_us: Annotated[
        int, Within(1, 1_000_000), "The one-way delay of each access link."
    ] = 5
    mss_bytes: Annotated[
        int,
        Within(88, 9180),
        "The largest TCP payload of a packet (MSS). The largest packet (MTU) has 40 bytes more.",
    ]
    delay: Annotated[
        str,
        "A kind of `topology/delays/`. With `connection`, each TCP connection gets a round trip"
        " of its own in addition to the path's. The workload `packmime` needs `connection`, and"
        " no other workload allows it.",
    ] = "constant"
    loss: Annotated[
        Mapping[str, Any] | Literal["none"],
        "The losses of the path itself, after the queue ([below](#losses-of-the-path)).",
    ] = "none"
    path: Annotated[
        str | Mapping[str, Any],
        "How rate, delay, loss and outage of the middle link change during the trial: a CSV file,"
        " or a table with the `kind` of a path ([moving-paths.md](moving-paths.md)). With `none`"
        " the link stays as it is.",
    ] = "none"
    coalesce_us: Annotated[
        int,
        Within(0, 10_000),
        "The time for which the network card of a host waits for more packets. The host then takes"
        " them together, and one acknowledgement can answer many segments (GRO). A host also hands"
        " over up to 64 KB of data at a time to its card, and the card cuts the data into segments"
        " (GSO). With 0, hosts send and take single packets.",
    ] = 0


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """The senders and the receiver's window."""

    flavor: Annotated[
        Sequence[str],
        OneOrMore(),
        "The kind of TCP sender: a file of `tcp-configs/`, or a list of such files"
        " ([flavors.md](flavors.md)). With a list, the pairs take the flavors in turn: with"
        ' `["cubic", "bbr"]`, pairs 1, 3, ... use cubic, and pairs 2, 4, ... use bbr. `module:PATH`'
        " is a congestion control of your own ([guides/kernel.md](guides/kernel.md)).",
    ]
    window_bytes: Annotated[
        int, Within(1024, 1_073_725_440), "The largest window that a receiver advertises."
    ]
    ssthresh_bytes: Annotated[
        int,
        Within(1, 1_000_000_000),
        "The initial slow start threshold of the flavors vanilla, reno, newreno and sack. For the"
        " senders of today's Linux, such as cubic, the key has no effect.",
    ]
    initial_window_segments: Annotated[
        int | None,
        Within(1, 65_535),
        "The initial congestion window of the servers. With `packmime` the key sets it at both"
        " ends, because both ends send answers. The default is the value of the flavor.",
    ] = None
    server_quickack: Annotated[
        bool | None,
        "true: a server acknowledges each segment at once. false: an acknowledgement may wait"
        " and go with the answer. With `packmime` both ends are servers. The default is the"
        " value of the flavor.",
    ] = None
    parameters: Annotated[
        Mapping[str, Any] | Literal["none"],
        "New values for parameters of the flavor's kernel module ([flavors.md](flavors.md)).",
    ] = field(default_factory=dict)
    sysctl: Annotated[
        Mapping[str, int | str] | Literal["none"],
        "New values for sysctls that the flavor sets ([flavors.md](flavors.md)). cellbed refuses"
        " other sysctls.",
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The lab; what else it is, the command line says (--lab, --clock)."""

    kernel: Annotated[
        str | None,
        "The kernel of the `uml` lab, by [a name](kernels.md). The default is the kernel that"
        " set-up built.",
    ] = None
    receiver_kernel: Annotated[
        str | None,
        "The kernel of the receivers, if it is not the kernel of the senders"
        " ([kernels.md](kernels.md#two-kernels-on-one-link)).",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a trial is, but for its seed.

    The kinds of queue and workload check their own, and so do the captures in `record`.
    """

    topology: Topology
    queue: Mapping[str, Any]
    tcp: Tcp
    workload: Mapping[str, Any]
    record: Mapping[str, Any] = field(default_factory=dict)
    lab: Machine = Machine()


TABLES = frozenset(field.name for field in fields(Settings))


def is_key(factor: str) -> bool:
    """Is a factor named by the key of the settings that its levels set?"""
    table, dot, _ = factor.partition(".")
    return bool(dot) and table in TABLES
