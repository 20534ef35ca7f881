# SPDX-License-Identifier: GPL-2.0-only
"""The queue core through ctypes: the user-space build of ``bpf/``, for tests and models."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from plan.errors import MissingError

SOURCE = Path(__file__).parents[1] / "bpf"

# Sorted by name, as enum cellq_policy is.
POLICIES = tuple(sorted(path.stem for path in (SOURCE / "policy").glob("*.h")))
CAUSES = ("delivered", "refused_threshold", "refused_fairness", "lost_first", "lost_mid")
FAULTS = (
    "no_vc",
    "vc_range",
    "not_ipv4",
    "gso",
    "frame_too_long",
    "frame_table_full",
    "no_announce",
    "length_mismatch",
    "early",
    "late",
    "loop_budget",
    "model_stuck",
    "tstamp",
    "record_lost",
)
MAX_VCS, MAX_FRAMES = 1024, 1 << 17
ANNOUNCE, VERDICT = 0, 1
PATH_HEAD_BYTES = 48
PATH_CELL = 424_000_000  # bits of a cell, in millionths of a bit


class Params(ctypes.Structure):
    """struct cellq_params"""

    _fields_ = [
        ("service_ps", c_uint64),
        ("access_ps", c_uint64),
        ("access_delay_ps", c_uint64),
        ("sample_ns", c_uint64),
        ("late_tolerance_ns", c_uint64),
        ("buffer_cells", c_uint32),
        ("threshold_cells", c_uint32),
        ("z_ppm", c_uint32),
        ("vcs", c_uint32),
        ("policy", c_uint32),
        ("max_frame_cells", c_uint32),
        ("ifindex_base", c_uint32),
        ("record_frames", c_uint16),
        ("record_drops", c_uint16),
    ]


class VcStats(ctypes.Structure):
    """struct cellq_vc_stats"""

    _fields_ = [
        ("frames", c_uint64 * len(CAUSES)),
        ("cells", c_uint64 * len(CAUSES)),
        ("cells_wasted", c_uint64),
        ("cells_overflow", c_uint64),
        ("cells_discarded", c_uint64),
        ("pad", c_uint64 * 3),
    ]


class Stats(ctypes.Structure):
    """struct cellq_stats"""

    _fields_ = [
        ("generation", c_uint64),
        ("faults", c_uint64 * len(FAULTS)),
        ("frames_announced", c_uint64),
        ("frames_resolved", c_uint64),
        ("frames_late", c_uint64),
        ("late_max_ns", c_uint64),
        ("records", c_uint64),
        ("first_departure_ns", c_uint64),
        ("last_departure_ns", c_uint64),
        ("model_ps", c_uint64),
        ("busy_ps", c_uint64),
        ("cells_sent", c_uint64),
        ("occupancy_cells", c_uint32),
        ("active_vcs", c_uint32),
        ("peak_cells", c_uint32),
        ("pad", c_uint32),
        ("vc", VcStats * MAX_VCS),
    ]

    def fault_counts(self) -> dict[str, int]:
        """Return the faults that occurred, by name."""
        return {name: n for name, n in zip(FAULTS, self.faults, strict=True) if n}


class Op(ctypes.Structure):
    """struct libcellq_op"""

    _fields_ = [
        ("kind", c_uint32),
        ("vc", c_uint32),
        ("cells", c_uint32),
        ("pad", c_uint32),
        ("now_ns", c_uint64),
    ]


class FrameRecord(ctypes.Structure):
    """struct cellq_frame_record"""

    _fields_ = [
        ("type", c_uint8),
        ("cause", c_uint8),
        ("vc", c_uint16),
        ("cells", c_uint32),
        ("seq", c_uint64),
        ("announce_ns", c_uint64),
        ("departure_ns", c_uint64),
        ("verdict_ns", c_uint64),
    ]


class DropRecord(ctypes.Structure):
    """struct cellq_drop_record"""

    _fields_ = [
        ("type", c_uint8),
        ("cause", c_uint8),
        ("vc", c_uint16),
        ("cells", c_uint32),
        ("time_ns", c_uint64),
        ("occupancy_cells", c_uint32),
        ("vc_cells", c_uint32),
        ("active_vcs", c_uint32),
        ("accepted_cells", c_uint32),
        ("seq", c_uint64),
    ]


class SampleRecord(ctypes.Structure):
    """struct cellq_sample_record"""

    _fields_ = [
        ("type", c_uint8),
        ("pad0", c_uint8),
        ("active_vcs", c_uint16),
        ("occupancy_cells", c_uint32),
        ("time_ns", c_uint64),
    ]


class OpResult(ctypes.Structure):
    """struct libcellq_result"""

    _fields_ = [
        ("ok", c_uint32),
        ("pad", c_uint32),
        ("frame", FrameRecord),
        ("drop", DropRecord),
    ]


def build(out: Path) -> Path:
    """Compile the library into ``out`` with the project's own Makefile.

    Raises:
        MissingError: this machine has no compiler.
    """
    for program in ("make", "cc"):
        if not shutil.which(program):
            raise MissingError(f"this machine has no {program}; install gcc, make and libc6-dev")
    subprocess.run(
        ["make", "-s", "-C", str(SOURCE), f"OUT={out}", "libcellq"],
        check=True,
        timeout=120,
        env={**os.environ, "LC_ALL": "C"},
    )
    return out / "libcellq.so"


@cache
def load(path: Path) -> ctypes.CDLL:
    """Open the library and check that both sides agree on every struct."""
    lib = ctypes.CDLL(str(path))
    lib.libcellq_new.restype = ctypes.c_void_p
    lib.libcellq_new.argtypes = [ctypes.POINTER(Params), c_uint64]
    lib.libcellq_free.argtypes = [ctypes.c_void_p]
    lib.libcellq_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, c_uint64]
    lib.libcellq_stats.restype = ctypes.POINTER(Stats)
    lib.libcellq_stats.argtypes = [ctypes.c_void_p]
    lib.libcellq_samples.restype = ctypes.POINTER(SampleRecord)
    lib.libcellq_samples.argtypes = [ctypes.c_void_p, ctypes.POINTER(c_uint64)]
    lib.libcellq_set_budget.argtypes = [ctypes.c_ulong]
    lib.libcellq_policy.argtypes = [ctypes.POINTER(Params), c_uint32, c_uint32, c_uint32]
    lib.libcellq_sizeof.restype = c_uint64
    sizes = {"params": Params, "stats": Stats, "op": Op, "result": OpResult}
    for name, struct in sizes.items():
        if lib.libcellq_sizeof(name.encode()) != ctypes.sizeof(struct):
            raise RuntimeError(f"struct {name} does not have the same size in Python and in C")
    return lib


def policy(library: Path, params: Params, x: int, x_vc: int, active: int) -> str:
    """Return the cause with which a policy judges a first cell that finds X, X_i and N_a."""
    return CAUSES[load(library).libcellq_policy(ctypes.byref(params), x, x_vc, active)]


class Queue:
    """The model of one port. A context manager; all times are in ns.

    ``run`` takes (kind, vc, cells, now_ns) in the order of now_ns and returns one OpResult for
    each. ``path`` is the table of a moving path (topology/moving/table.py). It needs
    libcellq-path.so, and params.service_ps must be PATH_CELL.
    """

    def __init__(
        self, library: Path, params: Params, *, samples: int = 0, path: bytes = b""
    ) -> None:
        self._lib = load(library)
        self._handle = self._lib.libcellq_new(ctypes.byref(params), samples)
        if not self._handle:
            raise MemoryError("libcellq_new")
        if path:
            self._set_path(path)
        self._samples_room = samples
        self._op, self._result = Op(), OpResult()
        self._given, self._found = ctypes.byref(self._op), ctypes.byref(self._result)

    def _set_path(self, path: bytes) -> None:
        give = self._lib.libcellq_set_path
        give.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        give(self._handle, path[:PATH_HEAD_BYTES], path[PATH_HEAD_BYTES:])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lib.libcellq_free(self._handle)
        self._handle = None

    def run(self, ops: Sequence[tuple[int, int, int, int]]) -> ctypes.Array[OpResult]:
        """Apply the operations; return their results in the same order."""
        given = (Op * len(ops))(*[Op(kind, vc, cells, 0, now) for kind, vc, cells, now in ops])
        results = (OpResult * len(ops))()
        self._lib.libcellq_run(self._handle, given, results, len(ops))
        return results

    def step(self, kind: int, vc: int, cells: int, now_ns: int) -> OpResult:
        """Apply one operation. The next call overwrites the returned result."""
        op = self._op
        op.kind, op.vc, op.cells, op.now_ns = kind, vc, cells, now_ns
        self._lib.libcellq_run(self._handle, self._given, self._found, 1)
        return self._result

    def stats(self) -> Stats:
        """Return the counters (a view that lives as long as the queue)."""
        stats: Stats = self._lib.libcellq_stats(self._handle).contents
        return stats

    def samples(self) -> list[tuple[int, int, int]]:
        """Return (time_ns, X, N_a) of each sample so far."""
        count = c_uint64()
        first = self._lib.libcellq_samples(self._handle, ctypes.byref(count))
        if count.value > self._samples_room:
            raise OverflowError(
                f"the queue took {count.value} samples, but there is room for {self._samples_room}"
            )
        return [(s.time_ns, s.occupancy_cells, s.active_vcs) for s in first[: count.value]]

    def set_budget(self, loops: int) -> None:
        """Lower the loop budget of one call (for the whole library; 8 Mi by default)."""
        self._lib.libcellq_set_budget(loops)
