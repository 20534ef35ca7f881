# SPDX-License-Identifier: GPL-2.0-only
"""The requested files of one wrk, its command, and its report.

The file mix is the mix of the WWW workload (specweb.py). It is drawn in advance from named streams,
and wrk's script (wrk.lua) gets it as a list. So the load is the same at all factor levels.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from workload import specweb
from workload.errors import WorkloadError
from workload.poisson import bounded
from workload.streams import stream
from workload.wrk.parameters import Parameters

SCRIPT = Path(__file__).with_name("wrk.lua")
_MARK = "cellbed-wrk/1 "
# The least and the largest size of nginx's header without the digits of Content-Length [bytes].
_HEADER_BYTES = (100, 140)
# wrk counts a slower answer as a "timeout", although the answer arrives, and leaves it out of its
# latencies. wrk keeps eight bytes for each microsecond of this time and reads them all several
# times at its end. With 60 s, 100 processes took 75 s of a UML lab's time, and one process hit the
# limit of a UML process's mappings. Only the WWW workload measures latencies.
_TIMEOUT_S = 1


@dataclass(frozen=True, kw_only=True)
class Report:
    """The report of one wrk.

    answered        complete answers
    received_bytes  bytes of these answers and of the one that was cut off, with headers
    *_errors        failed system calls; status_errors: answers other than 2xx and 3xx
    slow            answers that took longer than 1 s
    """

    duration_us: int
    answered: int
    received_bytes: int
    connect_errors: int
    read_errors: int
    write_errors: int
    status_errors: int
    slow: int


def draw_paths(params: Parameters, seed: int, pair: int) -> tuple[str, ...]:
    """Return the paths that the pair asks for, in order."""
    classes = stream(seed, "wrk", "class", pair)
    numbers = stream(seed, "wrk", "file", pair)
    files = bounded(specweb.FILE_MEAN, specweb.FILES[0], specweb.FILES[-1], params.poisson_fit)
    return tuple(
        specweb.path(specweb.class_at(classes.random()), files.at(numbers.random()))
        for _ in range(params.paths)
    )


def _sizes_asked(params: Parameters, seed: int, pair: int, count: int) -> list[int]:
    """Return the sizes of the first `count` requested files.

    wrk draws one more file before these, to inspect a request.
    """
    sizes = [specweb.path_bytes(path) for path in draw_paths(params, seed, pair)]
    return [sizes[number % len(sizes)] for number in range(1, count + 1)]


def unexplained_bytes(params: Parameters, seed: int, pair: int, report: Report) -> int:
    """Return the bytes of a client that its answers cannot explain [bytes].

    The answers explain whole files, a header each, and a part of each answer under way, one per
    connection. With several connections, any of them may be behind the others.
    """
    low_header, high_header = _HEADER_BYTES
    under_way = params.connections
    sizes = _sizes_asked(params, seed, pair, report.answered + under_way)
    open_ones = sizes[-1:] if under_way == 1 else sorted(sizes)[-under_way:]
    low = sum(sizes) - sum(open_ones) + report.answered * low_header
    high = sum(sizes) + len(sizes) * high_header
    return report.received_bytes - min(max(report.received_bytes, low), high)


def write_paths(file: Path, params: Parameters, seed: int, pair: int) -> None:
    """Write the pair's list for the script."""
    text = "\n".join(draw_paths(params, seed, pair)) + "\n"
    file.write_text(text, encoding="ascii")


def argv(params: Parameters, server_address: str, port: int, paths_file: Path) -> list[str]:
    """Return the command for the client host; pass its standard output to `report`."""
    options = {
        "--threads": 1,
        "--connections": params.connections,
        "--duration": f"{params.duration_s}s",
        "--timeout": f"{_TIMEOUT_S}s",
        "--script": SCRIPT,
    }
    words = [str(word) for option in options.items() for word in option]
    arguments = [str(paths_file), str(params.request_bytes)]
    return ["wrk", *words, f"http://{server_address}:{port}", "--", *arguments]


def report(stdout: str) -> Report:
    """Return the figures of a wrk that ran with our script. The figures include its errors."""
    lines = [line for line in stdout.splitlines() if line.startswith(_MARK)]
    if len(lines) != 1:
        last = (stdout.strip().splitlines() or ["(none)"])[-1]
        raise WorkloadError(f"wrk left no report; the last line that it printed is: {last}")
    return Report(**json.loads(lines[0].removeprefix(_MARK)))
