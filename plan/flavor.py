# SPDX-License-Identifier: GPL-2.0-only
"""The parameters of the TCP flavors: one table, of which all else is made. Standard library only.

PARAMETERS are those of the kernel module (tcp-configs/module): in the kernel
/proc/sys/net/ipv4/cellbed/NAME, one set a network namespace, copied when a connection begins. The
module's cellbed_params.h and the page docs/flavors.md are generated from them (harness/flavors/
generated.py), and flavor files are read by them (harness/flavors/files.py). ROUTE are the
attributes of the route of an end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plan.schema import TypedError, check_range, one_of, simple

Value = int | str


@dataclass(frozen=True)
class Switch:
    """A yes or no; the kernel gets 0 or 1."""

    least, greatest = 0, 1

    def read(self, value: object, place: str) -> int:
        """What the kernel gets for a value of a flavor file; ValueError names `place`."""
        return int(simple(bool, value, place))


@dataclass(frozen=True)
class Number:
    """A whole number between two bounds, both allowed."""

    least: int
    greatest: int

    def read(self, value: object, place: str) -> int:
        """As Switch.read()."""
        number: int = simple(int, value, place)
        check_range(place, number, self.least, self.greatest)
        return number


class Milliseconds(Number):
    """A time; the kernel refuses one that its timers cannot keep (at HZ 100 steps of 10 ms)."""


@dataclass(frozen=True)
class Choice:
    """One of some words, each with its meaning; the kernel gets its place, from 0."""

    words: Mapping[str, str]
    least = 0

    @property
    def greatest(self) -> int:
        return len(self.words) - 1

    def read(self, value: object, place: str) -> int:
        """As Switch.read()."""
        return list(self.words).index(one_of(tuple(self.words), value, place))


@dataclass(frozen=True)
class Segments:
    """A number of segments, or "bdp": round-trip time x bandwidth, the topology's to say."""

    def read(self, value: object, place: str) -> Value:
        """As Switch.read(), but "bdp" stays."""
        if value == "bdp":
            return "bdp"
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise TypedError(f'{place} = {value!r}: must be "bdp" or a whole number of at least 2')
        return value


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of the kernel module.

    Attributes:
        kind: the values that it takes.
        default: in a flavor file's words; what a network namespace begins with, and a file
            that does not say the parameter gets.
        text: what it decides, and who says so, for the module's reader and the page's.
    """

    kind: Switch | Number | Choice
    default: bool | Value
    text: str

    @property
    def kernels_default(self) -> int:
        """The default as the kernel has it."""
        return self.kind.read(self.default, "default")


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """An attribute of a route; one that is left out is not set."""

    kind: Switch | Number | Segments
    text: str


# The order is that of the module's header, the page and the records.
PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "byte_window": Parameter(
            kind=Switch(),
            default=False,
            text="The window is counted in bytes and filled with segments cut short: no silly"
            " window avoidance (98-0876R1, 6.2; `cellbed_bytes.c`).",
        ),
        "ssthresh_from_route": Parameter(
            kind=Switch(),
            default=False,
            text="The initial ssthresh is the route's, in segments, on the first connection too;"
            " else it is unlimited.",
        ),
        "ssthresh_rule": Parameter(
            kind=Choice(
                {
                    "flight": "half of min(cwnd, what is outstanding), and once only for the"
                    " timeouts of a segment (RFC 2581; RFC 5681, 3.1)",
                    "window": "half of min(cwnd, the peer's window), at every timeout (RFC 2001, 1;"
                    " 4.4BSD, tcp_timers())",
                }
            ),
            default="flight",
            text="What ssthresh becomes on a loss.",
        ),
        "idle_restart": Parameter(
            kind=Switch(),
            default=False,
            text="After an idle RTO cwnd is the initial one again; else it stays.",
        ),
        "grow_app_limited": Parameter(
            kind=Switch(),
            default=True,
            text="cwnd grows with each ACK though the application does not fill it, as BSD's did.",
        ),
        "rto_tick_ms": Parameter(
            kind=Milliseconds(0, 1000),
            default=0,
            text="0: the kernel's timer. Else 4.4BSD's integer estimator in ticks of so many ms,"
            " counted from when the timer is set (`cellbed_rto.c`).",
        ),
        "rto_min_ticks": Parameter(
            kind=Number(0, 100),
            default=2,
            text="The lower bound of the RTO, in those ticks.",
        ),
        "rto_first_ms": Parameter(
            kind=Milliseconds(0, 60000),
            default=0,
            text="The RTO until the first sample of the round trip; 0: the kernel's, a second.",
        ),
        "rto_first_sample": Parameter(
            kind=Choice(
                {
                    "handshake": "the handshake, unless it was sent again (4.4BSD; RFC 6298, 2)",
                    "data": "data; the round trip of the handshake is forgotten",
                }
            ),
            default="handshake",
            text="What the first sample is of.",
        ),
        "backoff_clear": Parameter(
            kind=Choice(
                {
                    "valid_sample": "a valid sample of the round trip (Karn)",
                    "any_ack": "any ACK of new data",
                }
            ),
            default="valid_sample",
            text="What ends the doubling of the RTO.",
        ),
        "after_timeout": Parameter(
            kind=Choice(
                {
                    "go_back_n": "all; what the blocks said is forgotten until all of it is"
                    " acknowledged",
                    "keep_scoreboard": "what is not SACKed",
                }
            ),
            default="go_back_n",
            text="SACK: what is sent again after a timeout.",
        ),
        "sack_retransmit": Parameter(
            kind=Choice(
                {
                    "three_above": "one with three SACKed segments above it (RFC 6675)",
                    "pipe": "any, while PIPE is less than cwnd (Fall & Floyd 1996)",
                }
            ),
            default="three_above",
            text="SACK: which hole may be sent again.",
        ),
        "sack_resend_on_partial": Parameter(
            kind=Choice(
                {
                    "never": "no, a retransmission that is lost costs a timeout",
                    "always": "at once",
                    "after_rtt": "when a smoothed round trip has passed since its last sending",
                }
            ),
            default="never",
            text="SACK: may the first hole be sent a third time on a partial ACK?",
        ),
        "sack_pipe": Parameter(
            kind=Choice(
                {
                    "bytes": "what is outstanding at first, then what is SACKed and sent, in bytes"
                    " with `byte_window`",
                    "segments": "those of the text, each a full segment: the window less 3 at"
                    " first, 1 off for a duplicate ACK, 2 for a partial one, 1 on for a sending;"
                    " and a recovery goes by the text's table: the third duplicate ACK begins it,"
                    " any segment not SACKed below one that is is sent again as it was, new data"
                    " in whole segments (98-0876R1, 3.2; `cellbed_sack.c`)",
                }
            ),
            default="bytes",
            text="SACK: the steps of PIPE.",
        ),
        "multiple_fast_retransmits": Parameter(
            kind=Switch(),
            default=False,
            text="The third duplicate ACK always starts a fast retransmit (RFC 2001; 98-0876R1,"
            " 3.1; `cellbed_recovery.c`); else not while a timeout is repaired, nor for the last"
            " byte of a recovery (RFC 2582, 5). With it the module counts duplicate ACKs by"
            " RFC 5681, 2; the kernel misses the one after the peer has sent data.",
        ),
        "resend_boundaries": Parameter(
            kind=Choice(
                {
                    "kept": "as it was; small segments are joined, and what does not fit the"
                    " window waits",
                    "anew": "from the first byte missing, as long as a segment may be and the"
                    " window allows, new data behind it included, with SACK to the end of the"
                    " hole (4.4BSD, tcp_output(); `cellbed_recut.c`); by the table of `sack_pipe`"
                    " as it was",
                }
            ),
            default="kept",
            text="With `byte_window`: how what is sent again is cut.",
        ),
        "newreno_partial": Parameter(
            kind=Choice(
                {
                    "deflate": "less by what was acknowledged, and one segment more (RFC 6582)",
                    "reset": "ssthresh (98-0876R1, 3.1; ns-2.1b3)",
                }
            ),
            default="deflate",
            text="NewReno: what the window becomes on a partial ACK.",
        ),
        "newreno_flywheel": Parameter(
            kind=Switch(),
            default=False,
            text="NewReno: every second duplicate ACK of a recovery sends a new segment, whatever"
            " the window (Hoe 1996).",
        ),
    }
)

ROUTE: Mapping[str, Attribute] = MappingProxyType(
    {
        "initcwnd": Attribute(
            kind=Number(1, 65535),
            text="The window that a connection begins with, in segments.",
        ),
        "initrwnd": Attribute(
            kind=Number(1, 65535),
            text="The window that it first offers to the peer, in segments.",
        ),
        "quickack": Attribute(
            kind=Switch(),
            text="Each segment is acknowledged at once.",
        ),
        "rto_min_ms": Attribute(
            kind=Number(1, 120000),
            text="The lower bound of the kernel's own RTO.",
        ),
        "ssthresh": Attribute(
            kind=Segments(),
            text="The initial ssthresh, in segments; `bdp`: the experiment's `ssthresh_bytes`, as a"
            " rule round-trip time x bandwidth. The kernel's own controls honour it only from their"
            " metrics cache, the module's with `ssthresh_from_route`.",
        ),
    }
)
