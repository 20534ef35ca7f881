# SPDX-License-Identifier: GPL-2.0-only
"""The settings of a trial, as an experiment's [base] and rules have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from plan.flavor import SYSCTLS
from plan.schema import OneOrMore, Within


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """The senders and the receiver's window."""

    flavor: Annotated[
        Sequence[str],
        OneOrMore(),
        "The kind of TCP sender: a file of `tcp-configs/`, or a list of such files"
        " ([flavors.md](flavors.md)). With a list, the pairs take the flavors in turn: with"
        ' `["cubic", "bbr"]`, pairs 1, 3, ... use cubic, and pairs 2, 4, ... use bbr.'
        " `cubic-rack` is Linux's CUBIC of today, and `cubic` is the same without RACK."
        " `module:PATH`"
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
        "New values for sysctls that the flavor sets ([flavors.md](flavors.md)), and for"
        f" {', '.join(f'`{name}`' for name in SYSCTLS)}. cellbed refuses other sysctls.",
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The lab; what else it is, the command line says (--lab, --clock)."""

    kernel: Annotated[
        str | None,
        "The kernel of the default lab, [`uml`](labs.md), by [a name](kernels.md). The default is"
        " the kernel that set-up built.",
    ] = None
    receiver_kernel: Annotated[
        str | None,
        "The kernel of the receivers, if it is not the kernel of the senders"
        " ([kernels.md](kernels.md#two-kernels-on-one-link)).",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a trial is, but for its seed.

    The kinds of topology, queue and workload check their own, and so do the captures in `record`.
    """

    topology: Mapping[str, Any]
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
