# SPDX-License-Identifier: GPL-2.0-only
"""A trace's file: text, written once on the host and read by every trial's programs.

    cellbed-packmime/1 {"seed": 1, "load_percent": 80.0, … }
    direction,connection,wait_ns,round_trip_ns,request_bytes,server_delay_ns,response_bytes
    down,0,10294000,67312000,411,5311000,2319
    …
    end,250012

One row an exchange: those of the direction down first, then up; connections from 0 in the order of
their starts; the exchanges of a connection one after the other. `wait_ns` of a connection's first
row is its start since the trial's; of a later one the time from the last byte of the response
before. The last line counts the rows: a file without it is cut short.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TextIO

from workload.errors import WorkloadError
from workload.packmime import ports
from workload.packmime.traffic import Traffic

FORMAT = "cellbed-packmime/1"
COLUMNS = "direction,connection,wait_ns,round_trip_ns,request_bytes,server_delay_ns,response_bytes"
DIRECTIONS = ("down", "up")


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a trace says of itself.

    parameters       what it was drawn from (Traffic as a dictionary)
    duration_ns      from the trial's start to the last connection's [ns]
    connections      of the directions down and up
    exchanges        of both together
    model_rate       rate that the model's shapes were drawn for [connections/s]
    offered_percent  load that the trace offers, down and up, without losses [%]
    """

    seed: int
    parameters: dict[str, float | str]
    duration_ns: int
    connections: tuple[int, int]
    exchanges: int
    model_rate: float
    offered_percent: tuple[float, float]


def place(folder: Path, traffic: Traffic, seed: int) -> Path:
    """Return where a trace is that host and lab share: all trials of a load and seed have the same.

    folder: the one that both see.
    """
    text = json.dumps([asdict(traffic), seed], sort_keys=True)
    return folder / f"packmime-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One row (see above); `first` tells whether it is its connection's first."""

    direction: str
    connection: int
    first: bool
    wait_ns: int
    round_trip_ns: int
    request_bytes: int
    server_delay_ns: int
    response_bytes: int


def read_header(path: Path) -> Header:
    """Return what the trace in this file says of itself; the rows are not looked at.

    Raises WorkloadError where the file is none.
    """
    with _open(path) as file:
        return _header(path, file)


def read(path: Path) -> Iterator[Exchange]:
    """Return the rows of a trace.

    Raises WorkloadError where the file is none, is cut short, or a row is not as it must be.
    """
    with _open(path) as file:
        _header(path, file)
        before: tuple[str, int] | None = None
        for rows, line in enumerate(file):
            if line.startswith("end,"):
                if line == f"end,{rows}\n" and not file.read(1):
                    return
                break
            row = _row(path, rows + 3, line, before)
            before = (row.direction, row.connection)
            yield row
    raise WorkloadError(f"{path}: the trace is cut short; its last line must be end,ROWS")


@dataclass(frozen=True, slots=True)
class End:
    """The client's end of a connection: its host among those of its direction, from 0, both ports,
    and the connection's round trip [ns].
    """

    direction: str
    host: int
    client_port: int
    server_port: int
    round_trip_ns: int


def ends(path: Path, hosts: int) -> Iterator[End]:
    """Return the client's end of every connection of a trace that is carried by `hosts` a side."""
    for row in read(path):
        if row.first:
            host = ports.host(row.connection, hosts)
            yield End(row.direction, host, *ports.ports(row.connection, hosts), row.round_trip_ns)


def _open(path: Path) -> TextIO:
    try:
        return path.open(encoding="ascii", errors="replace")
    except OSError as error:
        raise WorkloadError(f"cannot read {path}: {error.strerror}") from error


def _header(path: Path, file: TextIO) -> Header:
    name, _, text = file.readline().partition(" ")
    if name != FORMAT:
        raise WorkloadError(f"{path} is no file of the format {FORMAT}")
    try:
        found = json.loads(text)
        header = Header(**{f.name: found[f.name] for f in fields(Header)})
    except (ValueError, KeyError, TypeError) as error:
        raise WorkloadError(f"{path}: the first line is damaged: {error}") from error
    if file.readline() != COLUMNS + "\n":
        raise WorkloadError(f"{path}: the second line must be {COLUMNS}")
    return header


def _row(path: Path, number: int, line: str, before: tuple[str, int] | None) -> Exchange:
    direction, _, rest = line.rstrip("\n").partition(",")
    try:
        connection, *values = map(int, rest.split(","))
        wait_ns, round_trip_ns, request, delay_ns, response = values
    except ValueError:
        connection = -1
    if connection < 0 or min(values) < 0 or direction not in DIRECTIONS or line[-1] != "\n":
        raise WorkloadError(f"{path}:{number}: the trace is cut short or damaged here")
    return Exchange(
        direction,
        connection,
        before != (direction, connection),
        wait_ns,
        round_trip_ns,
        request,
        delay_ns,
        response,
    )
