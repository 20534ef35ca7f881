# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for QUIC, and for web clients with HTTP/3."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from plan.schema import Within, check
from workload.errors import WorkloadError
from workload.www import parameters as www

LAYER = "quic"
# The congestion controls that each stack has.
CONGESTION = {"ngtcp2": ("cubic", "reno", "bbr"), "aioquic": ("cubic", "reno")}


@dataclass(frozen=True, kw_only=True)
class Stack:
    """The keys of all workloads over QUIC.

    Attributes:
        least_mss_bytes: a path must carry UDP payloads of 1200 bytes (RFC 9000, section 14).
        most_mss_bytes: aioquic 1.2 makes and takes packets of at most 1500 bytes.
        kernel_tcp: these programs do not use the kernel's TCP.
    """

    least_mss_bytes: ClassVar[int] = 1188
    most_mss_bytes: ClassVar[int] = 1488
    kernel_tcp: ClassVar[bool] = False

    stack: Annotated[
        Literal["ngtcp2", "aioquic"],
        "The implementation of QUIC that the servers use. `ngtcp2`: the program of ngtcp2 with"
        " GnuTLS, in C. `aioquic`: the program aioquic, in Python. It takes more of the machine's"
        " time than ngtcp2, but no more virtual time. With both stacks, the clients use aioquic.",
    ] = "ngtcp2"
    congestion: Annotated[
        Literal["cubic", "reno", "bbr"],
        "The servers' congestion control. The QUIC stack does this congestion control itself,"
        " without the kernel's TCP. aioquic has no `bbr`.",
    ] = "cubic"
    client_window_bytes: Annotated[
        int,
        Within(16_384, 1_073_741_824),
        "The amount of data that the server may send before the client has read any of this data."
        " This is the initial limit of a connection and of each stream (RFC 9000, section 4)."
        " aioquic doubles a limit when half of it has been used.",
    ] = 16_777_216
    qlog: Annotated[
        Literal["server", "both"],
        "The ends whose qlog (log of QUIC events) the record keeps in qlog.zip. The checks need the"
        " qlog of the servers.",
    ] = "server"

    def check_stack(self) -> None:
        """WorkloadError: the stack does not have the congestion control."""
        if self.congestion not in CONGESTION[self.stack]:
            raise WorkloadError(
                f"workload.congestion = {self.congestion}: {self.stack} has only"
                f" {', '.join(CONGESTION[self.stack])}"
            )


@dataclass(frozen=True, kw_only=True)
class Parameters(Stack, www.Schedule):
    """The schedule of the WWW clients, and the keys of QUIC."""

    streams: Annotated[
        int,
        Within(1, 100),
        "The largest number of requests that a client has under way at a time. Each request is a"
        " stream of the client's one connection. If a request is due while all streams are busy,"
        " the request waits at the client.",
    ] = 100

    def __post_init__(self) -> None:
        check(self, "workload")
        self.check_schedule()
        self.check_stack()
