# SPDX-License-Identifier: GPL-2.0-only
"""The file of a trace: a text that the host writes once and the programs of each trial read.

    cellbed-packmime/1 {"seed": 1, "load_percent": 80.0, … }
    direction,connection,wait_ns,round_trip_ns,request_bytes,server_delay_ns,response_bytes
    down,0,10294000,67312000,411,5311000,2319
    …
    end,250012

Each row is one exchange. The rows of the direction down are first, then the rows of up. Connections
are numbered from 0 in the order of their starts, and the exchanges of a connection follow one
another. In a connection's first row, `wait_ns` is its start since the trial's start. In later rows,
it is the time since the last byte of the previous response. The last line has the number of rows; a
file without this line is cut short.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NamedTuple, TextIO

from workload.errors import WorkloadError
from workload.packmime import ports
from workload.packmime.traffic import Traffic

FORMAT = "cellbed-packmime/1"
COLUMNS = "direction,connection,wait_ns,round_trip_ns,request_bytes,server_delay_ns,response_bytes"
DIRECTIONS = ("down", "up")


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of a trace.

    parameters       the input of the draw (Traffic as a dictionary)
    duration_ns      from the trial's start to the last connection's start [ns]
    connections      number of connections, down and up
    exchanges        number of exchanges in both directions together
    model_rate       the rate for which the model's shapes were drawn [connections/s]
    offered_percent  the load that the trace offers, down and up, without losses [%]
    """

    seed: int
    parameters: dict[str, float | str]
    duration_ns: int
    connections: tuple[int, int]
    exchanges: int
    model_rate: float
    offered_percent: tuple[float, float]


def place(folder: Path, traffic: Traffic, seed: int) -> Path:
    """Return the file of a trace. All trials of a load and seed share it.

    folder: the folder that host and lab share.
    """
    text = json.dumps([asdict(traffic), seed], sort_keys=True)
    return folder / f"packmime-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class Exchange(NamedTuple):
    """One row (see above); `first`: whether it is its connection's first exchange."""

    direction: str
    connection: int
    first: bool
    wait_ns: int
    round_trip_ns: int
    request_bytes: int
    server_delay_ns: int
    response_bytes: int


def read_header(path: Path) -> Header:
    """Return the header of a trace without reading its rows.

    Raises WorkloadError if the file is not a trace.
    """
    with _open(path) as file:
        return _header(path, file)


def read(path: Path) -> Iterator[Exchange]:
    """Yield the rows of a trace.

    Raises WorkloadError if the file is not a trace, is cut short, or has a wrong row.
    """
    with _open(path) as file:
        _header(path, file)
        before = "", -1
        for rows, line in enumerate(file):
            if line.startswith("end,"):
                if line == f"end,{rows}\n" and not file.read(1):
                    return
                break
            row = _row(path, rows + 3, line, before)
            before = row[:2]
            yield row
    raise WorkloadError(f"{path}: the trace is cut short; its last line must be end,ROWS")


class End(NamedTuple):
    """The client's end of a connection: its host's index among the hosts of its direction, from 0,
    both ports, and the connection's round trip [ns].
    """

    direction: str
    host: int
    client_port: int
    server_port: int
    round_trip_ns: int


def ends(path: Path, hosts: int) -> Iterator[End]:
    """Yield the client's end of each connection of a trace with `hosts` hosts on each side."""
    for direction, number, first, _, round_trip_ns, *_ in read(path):
        if first:
            host = ports.host(number, hosts)
            yield End(direction, host, *ports.ports(number, hosts), round_trip_ns)


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


def _row(path: Path, number: int, line: str, before: tuple[str, int]) -> Exchange:
    """Return a line's row; `before` is the connection of the row before it."""
    direction, *cells = line.split(",")
    try:
        connection, wait_ns, round_trip_ns, request, delay_ns, response = map(int, cells)
    except ValueError:
        connection = -1
    if connection < 0 or "-" in line or direction not in DIRECTIONS or line[-1] != "\n":
        raise WorkloadError(f"{path}:{number}: the trace is cut short or damaged here")
    first = before != (direction, connection)
    return Exchange(
        direction, connection, first, wait_ns, round_trip_ns, request, delay_ns, response
    )
