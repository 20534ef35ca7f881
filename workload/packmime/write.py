# SPDX-License-Identifier: GPL-2.0-only
"""Writes a calibrated load as a trace's file, on the host and before a trial (ON_HOST, share())."""

import dataclasses
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workload.packmime.calibrate import DIRECTIONS, Calibrated, calibrate
from workload.packmime.draw import NS_PER_US, US_PER_S, Connections, whole_us
from workload.packmime.tables import FloatArray
from workload.packmime.trace import COLUMNS, FORMAT, Header, place
from workload.packmime.traffic import Traffic


def share(plan: Any, folder: Path) -> None:
    """Put the trace of a plan into the folder, unless an earlier trial has put it there.

    Raises WorkloadError as write() does.
    """
    topology = plan.topology
    traffic = plan.workload.traffic(topology.rate_bit_per_s, topology.mss_bytes, topology.framing)
    path = place(folder, traffic, plan.seed)
    if not path.exists():
        write(path, traffic, plan.seed)


def write(path: Path, params: Traffic, seed: int) -> Header:
    """Draw the trace of `params` and `seed` into a file; return its header.

    The file appears only when it is complete. Raises WorkloadError if the load is impossible.
    """
    found = calibrate(params, seed)
    header = Header(
        seed=seed,
        parameters=dataclasses.asdict(params),
        duration_ns=round(found.duration_s * US_PER_S) * NS_PER_US,
        connections=(len(found.down.exchanges), len(found.up.exchanges)),
        exchanges=len(found.down.wait_ns) + len(found.up.wait_ns),
        model_rate=found.model_rate,
        offered_percent=found.offered_percent,
    )
    # The lab can write into this folder. So write a new file whose name the lab cannot guess.
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with part.open("x", encoding="ascii") as file:
        file.write(f"{FORMAT} {json.dumps(dataclasses.asdict(header))}\n{COLUMNS}\n")
        file.writelines(_rows(found))
        file.write(f"end,{header.exchanges}\n")
    part.rename(path)
    return header


def _rows(found: Calibrated) -> Iterator[str]:
    sides = zip(DIRECTIONS, (found.down, found.up), found.starts_s(), strict=True)
    for direction, side, starts_s in sides:
        yield from _side_rows(direction, side, starts_s)


def _side_rows(direction: str, side: Connections, starts_s: FloatArray) -> Iterator[str]:
    number = np.repeat(np.arange(len(side.exchanges)), side.exchanges)
    wait_ns = side.wait_ns.copy()
    first = np.concatenate(([0], np.cumsum(side.exchanges)[:-1]))
    wait_ns[first] = whole_us(starts_s)
    columns = (
        number,
        wait_ns,
        side.round_trip_ns[number],
        side.request_bytes,
        side.server_delay_ns,
        side.response_bytes,
    )
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield f"{direction},{','.join(map(str, row))}\n"
