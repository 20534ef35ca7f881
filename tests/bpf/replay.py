# SPDX-License-Identifier: GPL-2.0-only
"""Replay what the kernel's queue saw in the reference, and compare frame by frame.

Usage: python3 tests/bpf/replay.py RECORD_FILE...

RECORD_FILE is what ``cellq record`` wrote of a port loaded with
``--record-frames`` (``--record-drops`` and ``--sample-ns`` add to the comparison).
Exit status 0: all frames equal; 1: not; one line a file.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tests.bpf import reference
from topology.libcellq import CAUSES, POLICIES, DropRecord, FrameRecord, Params, SampleRecord

MAGIC = b"cellqrec"
VERSION = 1
TYPES: dict[int, type[FrameRecord | DropRecord | SampleRecord]] = {
    1: FrameRecord,
    2: DropRecord,
    3: SampleRecord,
}
PPM = 10**6


class Header(ctypes.Structure):
    """struct cellq_file_header"""

    _fields_ = [
        ("magic", ctypes.c_char * 8),
        ("version", ctypes.c_uint32),
        ("header_bytes", ctypes.c_uint32),
        ("params", Params),
    ]


@dataclass
class Recording:
    """A record file: parameters, frames in the order of announcement, the rest."""

    params: Params
    frames: list[FrameRecord] = field(default_factory=list)
    drops: dict[int, DropRecord] = field(default_factory=dict)
    samples: list[SampleRecord] = field(default_factory=list)


def read(path: Path) -> Recording:
    """Parse a record file.

    Raises:
        ValueError: it is not one, of another version, or cut short.
    """
    data = path.read_bytes()
    head = Header.from_buffer_copy(data)
    if head.magic != MAGIC or head.version != VERSION:
        raise ValueError(f"{path}: not a cellq record file of version {VERSION}")
    recording = Recording(params=head.params)
    at = head.header_bytes
    while at < len(data):
        kind = TYPES.get(data[at])
        if kind is None:
            raise ValueError(f"{path}: byte {at}: no record begins with {data[at]}")
        record = kind.from_buffer_copy(data, at)
        at += ctypes.sizeof(kind)
        if isinstance(record, FrameRecord):
            recording.frames.append(record)
        elif isinstance(record, DropRecord):
            recording.drops[record.seq] = record
        else:
            recording.samples.append(record)
    recording.frames.sort(key=lambda f: f.seq)
    return recording


def simulate(recording: Recording) -> reference.Result:
    """The reference's account of the same arrivals.

    Raises:
        ValueError: an announced frame has no record.
    """
    for seq, frame in enumerate(recording.frames):
        if frame.seq != seq:
            raise ValueError(f"frame {seq} has no record: it, or its verdict, is missing")
    p = recording.params
    port = reference.Port(
        policy=POLICIES[p.policy],
        buffer_cells=p.buffer_cells,
        threshold_cells=p.threshold_cells,
        z=Fraction(p.z_ppm, PPM),
        service_ps=p.service_ps,
        access_ps=p.access_ps,
        access_delay_ps=p.access_delay_ps,
    )
    trace = [reference.Offered(f.vc, f.cells, f.announce_ns) for f in recording.frames]
    return reference.simulate(port, trace, sample_ns=p.sample_ns or None)


def differences(recording: Recording, result: reference.Result) -> Iterator[str]:
    """One line for every frame, drop or sample on which the two disagree."""
    for got, want in zip(recording.frames, result.frames, strict=True):
        mine = (CAUSES[got.cause], got.departure_ns)
        theirs = (want.fate, want.departure_ns or 0)
        if mine != theirs:
            yield f"frame {got.seq}, VC {got.vc}: kernel {mine}, reference {theirs}"
        drop = recording.drops.get(got.seq)
        if drop and want.found:
            here = (drop.time_ns, drop.occupancy_cells, drop.vc_cells, drop.active_vcs)
            there = (want.found[0] // 1000, *want.found[1:])
            if here != there:
                yield f"drop {got.seq}: kernel {here}, reference {there}"
    exact = {at_ps // 1000: (x, active) for at_ps, x, active in result.samples}
    for sample in recording.samples:
        state = (sample.occupancy_cells, sample.active_vcs)
        if exact.get(sample.time_ns, (0, 0)) != state:
            yield f"sample at {sample.time_ns}: kernel {state}, reference {exact}"


def main(paths: list[str]) -> int:
    status = 0
    for path in paths:
        recording = read(Path(path))
        result = simulate(recording)
        lines = list(differences(recording, result))
        cells = sum(f.cells for f in recording.frames)
        lost = sum(f.cause != 0 for f in recording.frames)
        print(
            f"{path}: {POLICIES[recording.params.policy]}, {len(recording.frames)} frames "
            f"({cells} cells), {lost} dropped, {len(recording.samples)} samples: "
            f"{len(lines)} differences"
        )
        print("".join(f"  {line}\n" for line in lines[:5]), end="")
        status = status or int(bool(lines))
    return status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
