# SPDX-License-Identifier: GPL-2.0-only
"""The one table of TCP parameters. Code and pages are made from it. Standard library only.

PARAMETERS has the parameters of the kernel module (tcp-configs/module). The kernel shows them as
/proc/sys/net/ipv4/cellbed/NAME. Each network namespace has its own values, and a connection copies
them when it begins. harness/flavors/generated.py generates the module's cellbed_params.h and the
page docs/flavors.md. harness/flavors/files.py reads flavor files with this table. SYSCTLS has what
an experiment may set beside its flavor, and ROUTE the attributes of a host's route.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from plan.schema import TypedError, check_range, one_of, simple

Value = int | str


@dataclass(frozen=True)
class Switch:
    """true or false; the kernel gets 1 or 0."""

    least, greatest = 0, 1

    def read(self, value: object, place: str) -> int:
        """Return the kernel's number for a flavor file's value. ValueError names `place`."""
        return int(simple(bool, value, place))


@dataclass(frozen=True)
class Number:
    """A whole number between two bounds; both bounds are allowed."""

    least: int
    greatest: int

    def read(self, value: object, place: str) -> int:
        """Do the same as Switch.read()."""
        number: int = simple(int, value, place)
        check_range(place, number, self.least, self.greatest)
        return number


class Milliseconds(Number):
    """A time. The kernel refuses one that its timers cannot keep (with HZ 100: steps of 10 ms)."""


@dataclass(frozen=True)
class Choice:
    """One of several words. Each word has a meaning. The kernel gets the word's index, from 0."""

    words: Mapping[str, str]
    least = 0

    @property
    def greatest(self) -> int:
        return len(self.words) - 1

    def read(self, value: object, place: str) -> int:
        """Do the same as Switch.read()."""
        return list(self.words).index(one_of(tuple(self.words), value, place))


@dataclass(frozen=True)
class Segments:
    """A number of segments, or "bdp": round-trip time x bandwidth of the topology."""

    def read(self, value: object, place: str) -> Value:
        """Do the same as Switch.read(), but keep "bdp"."""
        if value == "bdp":
            return "bdp"
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise TypedError(f'{place} = {value!r}: must be "bdp" or a whole number of at least 2')
        return value


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of the kernel module.

    Attributes:
        kind: the allowed values.
        default: the value in a new network namespace and for a flavor file without this key,
            written as in a flavor file.
        text: the effect of the parameter and its source, for the module's header and the page.
        later: plans contain the parameter only if it differs from the default. So plans that are
            older than the parameter keep their names.
    """

    kind: Switch | Number | Choice
    default: bool | Value
    text: str
    later: bool = False

    @property
    def kernels_default(self) -> int:
        """The default as the kernel's number."""
        return self.kind.read(self.default, "default")


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """An attribute of a route. cellbed does not set an attribute that a flavor file leaves out."""

    kind: Switch | Number | Segments
    text: str


# The module's header, the page and the records list the parameters in this order.
PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "byte_window": Parameter(
            kind=Switch(),
            default=False,
            text="The sender counts its window in bytes. It cuts a segment short to fill the"
            " window, and does not avoid the silly window syndrome (98-0876R1, 6.2;"
            " `cellbed_bytes.c`). Otherwise it counts whole segments.",
        ),
        "ssthresh_from_route": Parameter(
            kind=Switch(),
            default=False,
            text="The attribute `ssthresh` of the route sets the initial ssthresh, in segments,"
            " also for the first connection. Otherwise the initial ssthresh is unlimited.",
        ),
        "ssthresh_rule": Parameter(
            kind=Choice(
                {
                    "flight": "Half of min(cwnd, outstanding data), and only once for all timeouts"
                    " of a segment (RFC 2581; RFC 5681, 3.1).",
                    "window": "Half of min(cwnd, the peer's window), at each timeout (RFC 2001, 1;"
                    " 4.4BSD, tcp_timers()).",
                }
            ),
            default="flight",
            text="The value that a loss gives to ssthresh.",
        ),
        "idle_restart": Parameter(
            kind=Switch(),
            default=False,
            text="If the sender was idle for an RTO, cwnd falls back to the initial window."
            " Otherwise cwnd stays as it was.",
        ),
        "grow_app_limited": Parameter(
            kind=Switch(),
            default=True,
            text="cwnd also grows with each ACK while the application sends less than the window"
            " allows, as in BSD.",
        ),
        "rto_tick_ms": Parameter(
            kind=Milliseconds(0, 1000),
            default=0,
            text="With 0, the sender uses the kernel's timer. Another value is the length of a tick"
            " in ms: the sender uses the integer estimator of 4.4BSD (`cellbed_rto.c`).",
        ),
        "rto_clock": Parameter(
            kind=Choice(
                {
                    "own": "The sender counts the ticks from the moment at which it sets the timer"
                    " or sends the timed segment.",
                    "common": "All hosts have one clock, as 4.4BSD has in a host. An RTO of n ticks"
                    " ends with the n-th tick after the sender sets the timer.",
                }
            ),
            default="own",
            text="The clock whose ticks of `rto_tick_ms` the sender counts.",
            later=True,
        ),
        "rto_min_ticks": Parameter(
            kind=Number(0, 100),
            default=2,
            text="The smallest RTO, in ticks of `rto_tick_ms`.",
        ),
        "rto_first_ms": Parameter(
            kind=Milliseconds(0, 60000),
            default=0,
            text="The RTO until the first sample of the round trip. With 0, it is the kernel's: one"
            " second.",
        ),
        "rto_first_sample": Parameter(
            kind=Choice(
                {
                    "handshake": "From the handshake, unless a segment of the handshake was sent"
                    " twice (4.4BSD; RFC 6298, 2).",
                    "data": "From data. The sender forgets the round trip of the handshake.",
                }
            ),
            default="handshake",
            text="The origin of the first sample of the round trip.",
        ),
        "backoff_clear": Parameter(
            kind=Choice(
                {
                    "valid_sample": "A valid sample of the round trip (Karn).",
                    "any_ack": "Any ACK of new data.",
                }
            ),
            default="valid_sample",
            text="The event that ends the doubling of the RTO.",
        ),
        "after_timeout": Parameter(
            kind=Choice(
                {
                    "go_back_n": "All outstanding data. The sender forgets the SACK blocks until"
                    " all of this data is acknowledged.",
                    "keep_scoreboard": "Only data that is not SACKed.",
                }
            ),
            default="go_back_n",
            text="SACK: the data that the sender sends again after a timeout.",
        ),
        "sack_retransmit": Parameter(
            kind=Choice(
                {
                    "three_above": "A hole with three SACKed segments above it (RFC 6675).",
                    "pipe": "Any hole, while PIPE is less than cwnd (Fall & Floyd 1996).",
                }
            ),
            default="three_above",
            text="SACK: the holes that the sender may send again.",
        ),
        "sack_resend_on_partial": Parameter(
            kind=Choice(
                {
                    "never": "No. A lost retransmission costs a timeout.",
                    "always": "Yes, at once.",
                    "after_rtt": "Yes, if a smoothed round trip has passed since the sender last"
                    " sent the hole.",
                }
            ),
            default="never",
            text="SACK: may the sender send the first hole a third time on a partial ACK?",
        ),
        "sack_pipe": Parameter(
            kind=Choice(
                {
                    "bytes": "PIPE begins with at most the outstanding data. It changes by the data"
                    " that is SACKed or sent. With `byte_window`, it counts bytes.",
                    "segments": "PIPE changes as the text says, and each step is a full segment. It"
                    " begins with the window less 3. A duplicate ACK takes off 1, a partial ACK"
                    " takes off 2, and a sent segment adds 1. The third duplicate ACK begins the"
                    " recovery. In the recovery, the sender sends again each segment that is not"
                    " SACKed and lies below a SACKed segment, cut as before, and it sends new data"
                    " in whole segments (98-0876R1, 3.2; `cellbed_sack.c`).",
                }
            ),
            default="bytes",
            text="SACK: the rule by which PIPE changes.",
        ),
        "multiple_fast_retransmits": Parameter(
            kind=Switch(),
            default=False,
            text="The third duplicate ACK always starts a fast retransmit (RFC 2001; 98-0876R1,"
            " 3.1; `cellbed_recovery.c`), and the module counts duplicate ACKs by RFC 5681, 2. The"
            " kernel's own count misses the duplicate ACK after the peer has sent data. Otherwise"
            " no fast retransmit starts while the sender repairs a timeout, or for the last byte"
            " of a recovery (RFC 2582, 5).",
        ),
        "resend_boundaries": Parameter(
            kind=Choice(
                {
                    "kept": "As before. The sender joins small segments, and a segment that does"
                    " not fit the window waits.",
                    "anew": "From the first missing byte, as long as the segment size and the"
                    " window allow. The segment may include new data after the missing data; with"
                    " SACK it ends at the end of the hole (4.4BSD, tcp_output();"
                    ' `cellbed_recut.c`). With `sack_pipe = "segments"`, the sender cuts the data'
                    " as before.",
                }
            ),
            default="kept",
            text="With `byte_window`: how the sender cuts data that it sends again.",
        ),
        "newreno_partial": Parameter(
            kind=Choice(
                {
                    "deflate": "The window shrinks by the acknowledged data and grows by one"
                    " segment (RFC 6582).",
                    "reset": "The window becomes ssthresh (98-0876R1, 3.1; ns-2.1b3).",
                }
            ),
            default="deflate",
            text="NewReno: the effect of a partial ACK on the window.",
        ),
        "newreno_flywheel": Parameter(
            kind=Switch(),
            default=False,
            text="NewReno: every second duplicate ACK of a recovery sends a new segment, whatever"
            " the window is (Hoe 1996).",
        ),
    }
)


@dataclass(frozen=True)
class Sysctl:
    """A sysctl below net.ipv4 that no flavor sets, so it has the kernel's default."""

    kind: Number
    default: int


# An experiment may set them in tcp.sysctl (Linux, Documentation/networking/ip-sysctl.rst). With a
# delay of minutes, the defaults give a connection up before the first answer can come.
SYSCTLS: Mapping[str, Sysctl] = MappingProxyType(
    {
        "tcp_syn_retries": Sysctl(Number(1, 127), 6),
        "tcp_synack_retries": Sysctl(Number(0, 255), 5),
        "tcp_retries2": Sysctl(Number(0, 255), 15),
    }
)

ROUTE: Mapping[str, Attribute] = MappingProxyType(
    {
        "initcwnd": Attribute(
            kind=Number(1, 65535),
            text="The congestion window at the beginning of a connection, in segments.",
        ),
        "initrwnd": Attribute(
            kind=Number(1, 65535),
            text="The window that the host offers to its peer at the beginning of a connection, in"
            " segments.",
        ),
        "quickack": Attribute(
            kind=Switch(),
            text="The host acknowledges each segment at once.",
        ),
        "rto_min_ms": Attribute(
            kind=Number(1, 120000),
            text="The smallest RTO of the kernel's own timer, in ms.",
        ),
        "ssthresh": Attribute(
            kind=Segments(),
            text="The initial ssthresh, in segments. `bdp` means the experiment's `ssthresh_bytes`,"
            " which is usually round-trip time x bandwidth. The module's senders use the attribute"
            " with `ssthresh_from_route`. The kernel's own congestion controls use it only from"
            " their metrics cache.",
        ),
    }
)
