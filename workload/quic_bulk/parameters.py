# SPDX-License-Identifier: GPL-2.0-only
"""The keys of an experiment's table [workload] for persistent sources over QUIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from plan.schema import Within, check
from workload.iperf.parameters import NS_PER_S, Interval
from workload.quic.parameters import Stack


@dataclass(frozen=True, kw_only=True)
class Parameters(Stack, Interval):
    """The measured interval and the starts of persistent sources, and the keys of QUIC."""

    file_bytes: Annotated[
        int,
        Within(65_536, 1 << 28),
        "The size of a file. A client always has two requests for files under way. Whenever a file"
        " has come, the client asks for a new file. The check `unsent data` fails if the rest of"
        " the other file is then less than three times the data in flight: the server might have"
        " had nothing to send.",
    ] = 8_388_608

    def __post_init__(self) -> None:
        check(self, "workload")
        self.check_interval()
        self.check_stack()

    @property
    def duration_ns(self) -> int:
        """The length of a trial [ns]."""
        return self.duration_s * NS_PER_S
