# SPDX-License-Identifier: GPL-2.0-only
"""The interface to the C client of a WWW trial (programs/): its input, its records as plain data.

`make -C workload OUT=DIR` makes the client. `prepare` writes its specification. `argv` is the
command (one process drives all client hosts). `t0_ns` and `progress` read the lines that it prints
while it runs. `read` returns all its records and checks them against each other.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workload.errors import WorkloadError
from workload.www.parameters import NS_PER_S, Parameters
from workload.www.schedule import Request

FORMAT = "cellbed-www/1"
FLOWS_HEADER = (
    "pair,received_bytes,scheduled_bytes,requests,sent,answered,header_bytes,"
    "part_bytes,unread_bytes,retransmits,timeouts,cwnd_segments,ssthresh_segments,srtt_us,peer_window_bytes"
)
REQUESTS_HEADER = (
    "pair,batch,request,class,file,size_bytes,due_ns,sent_ns,first_byte_ns,last_byte_ns,status"
)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The two ends of a pair.

    client_netns  file of the client's network namespace (/proc/PID/ns/net)
    server_netns  the server's, for the sender's counters at the end; None: they are not read
    """

    pair: int
    client_netns: str
    server_address: str
    server_port: int = 80
    server_netns: str | None = None


@dataclass(frozen=True, kw_only=True)
class Flow:
    """One connection after its trial. The last six fields are the sender's (None: not read).

    received_bytes   TCP payload received in order since t0, with HTTP headers [bytes]
    scheduled_bytes  all requested files, also those that are due later [bytes]
    header_bytes     HTTP headers of the begun answers, as far as the client read them [bytes]
    part_bytes       read bytes of the body that was incomplete at the end [bytes]
    unread_bytes     received bytes that the client had not read at the end [bytes]
    timeouts         retransmission timeouts (from kernel 6.7 on; else 0)
    srtt_us          smoothed round-trip time [us]
    peer_window_bytes  the client's receive window as the sender last heard it [bytes]
    """

    pair: int
    received_bytes: int
    scheduled_bytes: int
    requests: int
    sent: int
    answered: int
    header_bytes: int
    part_bytes: int
    unread_bytes: int
    retransmits: int | None
    timeouts: int | None
    cwnd_segments: int | None
    ssthresh_segments: int | None
    srtt_us: int | None
    peer_window_bytes: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one request; times [ns] since t0; None: it did not happen in time."""

    request: Request
    sent_ns: int | None
    first_byte_ns: int | None
    last_byte_ns: int | None
    status: int | None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The client's last line.

    t0_ns                     start of the trial, CLOCK_MONOTONIC of the lab [ns]
    outstanding               requests that were sent and not fully answered at the end
    max_late_ns               longest time from a request's due time until it had left [ns]
    max_read_bytes            largest amount of unread bytes in one connection [bytes]
    min_receive_buffer_bytes  smallest SO_RCVBUF of all connections [bytes]
    max_window_bytes          largest window that a connection may advertise [bytes]
    broken                    connections that the client lost before the end, and the causes
    """

    pairs: int
    t0_ns: int
    duration_ns: int
    requests: int
    sent: int
    answered: int
    outstanding: int
    received_bytes: int
    max_late_ns: int
    max_read_bytes: int
    min_receive_buffer_bytes: int
    max_window_bytes: int
    broken: list[str]


@dataclass(frozen=True, kw_only=True)
class Record:
    """All records of a WWW trial."""

    summary: Summary
    flows: tuple[Flow, ...]
    answers: tuple[Answer, ...]


def unexplained_bytes(record: Record) -> list[int]:
    """Return for each flow the received bytes that its requests do not explain [bytes].

    A flow should receive headers, the whole files that were answered (by their requested sizes),
    the part of the begun file, and the unread bytes. If an answer is cut short, the result is
    negative.
    """
    files = dict.fromkeys((flow.pair for flow in record.flows), 0)
    for answer in record.answers:
        if answer.last_byte_ns is not None:
            files[answer.request.pair] += answer.request.size_bytes
    return [
        f.received_bytes - f.header_bytes - files[f.pair] - f.part_bytes - f.unread_bytes
        for f in record.flows
    ]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """State at a whole second of the trial; `read_bytes` counts what the client has read."""

    second: int
    answered: int
    outstanding: int
    read_bytes: int


def spec_text(params: Parameters, pairs: Sequence[Pair], requests: Sequence[Request]) -> str:
    """Return the client's specification (programs/spec.h describes the format)."""
    lines = [FORMAT, f"request_bytes {params.request_bytes}"]
    lines += [
        f"pair {p.pair} {p.client_netns} {p.server_address} {p.server_port} {p.server_netns or '-'}"
        for p in pairs
    ]
    lines += [
        f"request {r.pair} {r.batch} {r.request} {r.file_class} {r.file} {r.size_bytes}"
        f" {r.due_ns} {r.path}"
        for r in requests
    ]
    return "\n".join(lines) + "\n"


def prepare(
    out_dir: Path, params: Parameters, pairs: Sequence[Pair], requests: Sequence[Request]
) -> None:
    """Make `out_dir` and write the specification into it."""
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / "www.spec").write_text(spec_text(params, pairs, requests), encoding="ascii")


def argv(
    program: Path,
    out_dir: Path,
    params: Parameters,
    *,
    lead_ns: int = NS_PER_S,
    low_water_bytes: int = 32768,
    connect_ns: int = 30 * NS_PER_S,
) -> list[str]:
    """Return the command. The trial begins on a whole second, at least `lead_ns` after the last
    connection is established, for which the client waits for `connect_ns`.
    """
    options = {
        "--spec": out_dir / "www.spec",
        "--out": out_dir,
        "--duration-ns": params.duration_ns,
        "--lead-ns": lead_ns,
        "--low-water": low_water_bytes,
        "--connect-timeout-ns": connect_ns,
    }
    return [str(program), *(str(word) for option in options.items() for word in option)]


def t0_ns(line: str) -> int | None:
    """Return the start of the trial [ns, CLOCK_MONOTONIC] if `line` announces it."""
    words = line.split()
    return int(words[1]) if len(words) == 2 and words[0] == "t0" else None


def progress(line: str) -> Progress | None:
    """Return the content of a progress line; None for any other line."""
    words = line.split()
    if len(words) != 5 or words[0] != "progress":
        return None
    second, answered, outstanding, read_bytes = map(int, words[1:])
    return Progress(
        second=second, answered=answered, outstanding=outstanding, read_bytes=read_bytes
    )


def summary(stdout: str) -> Summary:
    """Return the summary from the client's whole standard output."""
    lines = [line for line in stdout.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise WorkloadError("www_client ended early and left no summary")
    found = json.loads(lines[0])
    if found.pop("format", None) != FORMAT:
        raise WorkloadError(f"www_client's summary is not in the format {FORMAT}")
    try:
        return Summary(**found)
    except TypeError as error:
        raise WorkloadError(f"www_client's summary is of another version: {error}") from error


def read(out_dir: Path, stdout: str) -> Record:
    """Return the client's record from its output directory and standard output.

    Raises WorkloadError if a file is missing or cut short, or if the parts disagree.
    """
    totals = summary(stdout)
    record = Record(
        summary=totals,
        flows=tuple(_flow(row) for row in _rows(out_dir / "flows.csv", FLOWS_HEADER)),
        answers=tuple(_answer(row) for row in _rows(out_dir / "requests.csv", REQUESTS_HEADER)),
    )
    _check(record)
    return record


def _check(record: Record) -> None:
    totals, flows, answers = record.summary, record.flows, record.answers
    agree = {
        "pairs": len(flows) == totals.pairs,
        "requests": len(answers) == totals.requests == sum(f.requests for f in flows),
        "sent": sum(a.sent_ns is not None for a in answers) == totals.sent,
        "answered": sum(a.last_byte_ns is not None for a in answers) == totals.answered,
        "received_bytes": sum(f.received_bytes for f in flows) == totals.received_bytes,
    }
    for name, ok in agree.items():
        if not ok:
            raise WorkloadError(f"www_client's tables and its summary give different {name}")


def _rows(file: Path, header: str) -> Iterator[dict[str, int | None]]:
    columns = header.split(",")
    try:
        text = file.read_text(encoding="ascii")
    except OSError as error:
        raise WorkloadError(f"cannot read {file}: {error.strerror}") from error
    lines = list(csv.reader(text.splitlines()))
    if not lines or lines[0] != columns:
        raise WorkloadError(f"{file}: the first line must be {header}")
    if not text.endswith("\n"):
        raise WorkloadError(f"{file}: the last line is cut short")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise WorkloadError(
                f"{file}:{number}: the line has {len(line)} columns, but must have {len(columns)}"
            )
        try:
            cells = [int(cell) if cell else None for cell in line]
        except ValueError as error:
            raise WorkloadError(f"{file}:{number}: {error}") from error
        yield dict(zip(columns, cells, strict=True))


def _flow(row: dict[str, int | None]) -> Flow:
    return Flow(**row)  # type: ignore[arg-type]


def _answer(row: dict[str, int | None]) -> Answer:
    cells = list(row.values())
    return Answer(Request(*cells[:7]), *cells[7:])  # type: ignore[arg-type]
