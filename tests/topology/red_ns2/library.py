# SPDX-License-Identifier: GPL-2.0-only
"""The rule of topology/red_ns2/rule.h, compiled for this host: libred_ns2.so by ctypes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from ctypes import c_uint32, c_uint64
from pathlib import Path

from tests.small import PROJECT
from topology import red_ns2

PASS, DRAWN, FULL = range(3)
Random = ctypes.CFUNCTYPE(c_uint32)


class Vars(ctypes.Structure):
    """struct red_ns2_vars"""

    _fields_ = [
        *((name, c_uint64) for name in ("average", "max_p", "adapted_ns", "count_bytes", "p")),
        ("count", c_uint32),
        ("above", c_uint32),
    ]


class Arrival(ctypes.Structure):
    """struct red_ns2_arrival"""

    _fields_ = [
        ("now_ns", c_uint64),
        ("idle_ns", c_uint64),
        ("waiting", c_uint32),
        ("bytes", c_uint32),
    ]


def build(out: Path) -> ctypes.CDLL:
    subprocess.run(
        ["make", "-s", "-C", str(PROJECT / "topology/red_ns2"), f"OUT={out}", "library"], check=True
    )
    return ctypes.CDLL(str(out / "libred_ns2.so"))


class Rule:
    """As tests.topology.red_ns2.reference.Rule."""

    def __init__(
        self, library: ctypes.CDLL, parameters: red_ns2.Parameters, uniform: Iterator[float]
    ) -> None:
        self.library = library
        self.parameters = parameters.packed()
        self.vars = Vars()
        self.random = Random(lambda: int(next(uniform) * 2**32))
        self.in_bytes = bool(parameters.flags & red_ns2.FLAG_BYTES)
        library.red_ns2_begin(self.parameters, ctypes.byref(self.vars))

    def judge(self, arrival: Arrival) -> int:
        verdict = self.library.red_ns2_judge(
            self.parameters, ctypes.byref(self.vars), ctypes.byref(arrival), self.random
        )
        return int(verdict)

    def marks(self) -> bool:
        """Would the last arrival, if it was drawn, be marked?"""
        return bool(self.library.red_ns2_may_mark(self.parameters, ctypes.byref(self.vars)))

    def __call__(self, now_ns: int, idle_ns: int, packets: int, octets: int, size: int) -> bool:
        arrival = Arrival(now_ns, idle_ns, octets if self.in_bytes else packets, size)
        return self.judge(arrival) != PASS
