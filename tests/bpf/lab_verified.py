# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab: how many instructions the verifier looks at when it loads a cell queue.

Usage: lab_verified.py CELLQ OUT_DIRECTORY POLICY,POLICY... HOSTS SECONDS

OUT_DIRECTORY has NAME.table, the table of a path, for some names. Leaves verified.json there: for
each name, and for "still" without a path, the count of each policy's programs.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from lab_traffic import BASE, make_host, make_port, run

SYS_BPF = 321
NEXT_ID, FD_BY_ID, INFO_BY_FD = 11, 13, 15
VERIFIED = 216  # the place of verified_insns in struct bpf_prog_info
INFO_BYTES = 256


def bpf(command: int, attributes: bytearray) -> int:
    """The system call; -1 where it fails."""
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    return ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, command, buffer, len(attributes))


def programs() -> Iterator[tuple[int, int]]:
    """The number of each program that is loaded, and how much the verifier looked at."""
    last = 0
    while True:
        asked = bytearray(struct.pack("=III", last, 0, 0))
        if bpf(NEXT_ID, asked):
            return
        [last] = struct.unpack_from("=I", asked, 4)
        descriptor = bpf(FD_BY_ID, bytearray(struct.pack("=III", last, 0, 0)))
        info = ctypes.create_string_buffer(INFO_BYTES)
        asked = bytearray(struct.pack("=IIQ", descriptor, INFO_BYTES, ctypes.addressof(info)))
        if bpf(INFO_BY_FD, asked):
            raise OSError(ctypes.get_errno(), "the kernel tells nothing of a program")
        os.close(descriptor)
        [count] = struct.unpack_from("=I", info.raw, VERIFIED)
        yield last, count


def loaded(cellq: str, out: Path, policy: str, table: str) -> list[int]:
    """The counts of the programs of a queue."""
    before = dict(programs())  # the kernel may remove one a moment after its unloading
    path = f" --path {out}/{table}.table" if table != "still" else ""
    run(f"{cellq} load --name down --policy {policy} --buffer-cells 531 --threshold-ppm 800000 "
        f"--z-ppm 800000 --rate-bit-per-s 45000000 --access-rate-bit-per-s 149760000 "
        f"--access-delay-ns 5000 --vcs 1 --ifindex-base {BASE} --verdict-dev down "
        f"--announce-list {out}/announce.list --record-frames --record-drops "
        f"--sample-ns 1000000{path}")  # fmt: skip
    found = [count for number, count in programs() if number not in before]
    run(f"{cellq} unload --name down")
    return found


def main(cellq: str, out: Path, policies: list[str]) -> None:
    make_port()
    (out / "announce.list").write_text(f"{make_host(1)} eth0\n")
    tables = ["still", *(path.stem for path in out.glob("*.table"))]
    said = {table: {policy: loaded(cellq, out, policy, table) for policy in policies}
            for table in tables}  # fmt: skip
    (out / "verified.json").write_text(json.dumps(said))
    print(policies[-1], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3].split(","))
