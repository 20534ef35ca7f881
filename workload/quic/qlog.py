# SPDX-License-Identifier: GPL-2.0-only
"""Reads qlog files (draft-ietf-quic-qlog-main-schema, version 0.3, JSON text sequences).

Both stacks write recovery:metrics_updated when a value changes, and transport:packet_sent for each
packet. ngtcp2 writes times in whole milliseconds from the first packet of the connection on.
aioquic's are exact; they count from the start of its program's clock (endpoint.py).
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from workload.errors import WorkloadError
from workload.quic.lines import SEPARATOR

COLUMNS = "time_ns,pair,cwnd_bytes,ssthresh_bytes,in_flight_bytes,smoothed_rtt_us".split(",")
SENT, LOST, METRICS = "transport:packet_sent", "recovery:packet_lost", "recovery:metrics_updated"
NAMED = {name: f'"name":"{name}"' for name in (SENT, LOST, METRICS)}  # as both stacks write it
BEGIN = f'{NAMED[SENT]},"data":{{"frames":['
PIECE_BYTES = 1 << 20  # a file is read and written in pieces, see Pieces
EARLIEST = (1980, 1, 1, 0, 0, 0)  # a zip file has a moment for each file


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `time_ns` as its file counts."""

    time_ns: int
    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """One packet that an end sent: moment [ns], kind of its header, its bytes."""

    time_ns: int
    kind: str
    length_bytes: int


class Log:
    """The qlog file of one end, in which events() goes through once; it may be long.

    Attributes:
        path: the file. If it is absent, the end has had no connection, and there are no events.
        sent: the packets that this end sent.
        lost: the number of packets that this end took for lost.
        mended: the number of lines that had to be mended (lines_of()).
        most_flight_bytes: the most data in flight.
        These four grow with events().
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sent: list[Sent] = []
        self.lost = self.mended = self.most_flight_bytes = 0

    def first_sent(self) -> Sent | None:
        """Return the first packet that this end sent, without a look at the rest of the file."""
        log = Log(self.path)
        return next((log.sent[0] for _ in log.events() if log.sent), None)

    def events(self, copy: IO[bytes] | None = None) -> Iterator[Event]:
        """Yield the events that are needed here, and write all lines into `copy`.

        Raises:
            WorkloadError: it is no qlog file, or its last line is cut short.
        """
        lines = lines_of(self.path) if self.path.exists() else ()
        pieces = None if copy is None else Pieces(copy)
        for number, (text, mended) in enumerate(lines, 1):
            self.mended += mended
            if pieces is not None:
                pieces.add(text)
            try:
                found = event(text, is_head=number == 1)
            except (ValueError, KeyError, TypeError) as error:
                place = f"{self.path.name}:{number}"
                raise WorkloadError(f"{place}: not a line of qlog: {error}") from error
            if found is not None:
                self._note(found)
                yield found
        if pieces is not None:
            pieces.flush()

    def _note(self, found: Event) -> None:
        self.lost += found.name == LOST
        if found.name == METRICS:
            flight = found.data.get("bytes_in_flight", 0)
            self.most_flight_bytes = max(self.most_flight_bytes, flight)
        if found.name == SENT:
            header, raw = found.data["header"], found.data["raw"]
            self.sent.append(Sent(found.time_ns, header["packet_type"], raw["length"]))


class Pieces:
    """Writes lines into a file in large pieces.

    Python reads the clock in each write: once for the file's lock, and once for zlib's. In virtual
    time a lab takes many readings at one moment for a loop that waits, and lets time pass. So with
    a write for each line, the trial became longer by an amount that was not the same in each lab.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.waiting = bytearray()

    def add(self, text: str) -> None:
        self.waiting += text.encode()
        if len(self.waiting) >= PIECE_BYTES:
            self.flush()

    def flush(self) -> None:
        self.stream.write(bytes(self.waiting))
        self.waiting.clear()


def lines_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a file, and whether each had to be mended.

    ngtcp2 1.11 does not begin a new event for a packet that only pads a datagram: it writes the
    event of the packet before once more, and then the end of the new one. Such a copy becomes the
    begin of the event of which there is only the end.
    """
    before = last = ""  # the last packet that was sent, and the line that was read last
    mended = False
    # Bytes, because a stream of text reads small pieces.
    with path.open("rb", buffering=PIECE_BYTES) as stream:
        for line in stream:
            text = line.decode()
            if last and last == before and not text.startswith(SEPARATOR):
                time_ms = json.loads(last.lstrip(SEPARATOR))["time"]
                last, mended = f'{SEPARATOR}{{"time":{time_ms},{BEGIN}{text}', True
                continue
            if last:
                yield last, mended
            if NAMED[SENT] in last:
                before = last
            last, mended = text, False
    if last:
        yield last, mended


def event(text: str, *, is_head: bool) -> Event | None:
    """Return what a line says; None: it is the head of its file, or an event of another name.

    Raises:
        ValueError, KeyError, TypeError: it is no line of qlog.
    """
    begin = "{" if is_head else '{"time":'
    if not text.startswith(SEPARATOR + begin) or not text.endswith("}\n"):
        raise ValueError("it is cut short")
    if not is_head and not any(named in text for named in NAMED.values()):
        return None
    found = json.loads(text[len(SEPARATOR) :])
    if not is_head:
        return Event(round(found["time"] * 1e6), found["name"], found["data"])
    if found["qlog_format"] != "JSON-SEQ":
        raise ValueError(f"its format is {found['qlog_format']}")
    return None


def windows(found: Iterable[Event], pair: int, offset_ns: int) -> Iterator[list[object]]:
    """Yield a row of COLUMNS whenever the congestion window or the threshold has another value.

    Args:
        offset_ns: what makes of the file's times those from the trial's start on. What held at the
            start has the time 0.
    """
    values: dict[str, Any] = {}
    before: list[object] = []
    for e in found:
        if e.name != METRICS:
            continue
        values.update(e.data)
        now = [values.get("congestion_window"), values.get("ssthresh")]
        time_ns = e.time_ns + offset_ns
        row = [time_ns, pair, *now, values.get("bytes_in_flight"), microseconds(values)]
        if time_ns >= 0 and before and before[0] < 0:  # type: ignore[operator]
            yield [0, *before[1:]]
        if time_ns >= 0 and (not before or before[2:4] != now):
            yield row
        before = row
    if before and before[0] < 0:  # type: ignore[operator]
        yield [0, *before[1:]]


def microseconds(values: Mapping[str, Any]) -> int | None:
    """Return the smoothed round trip [us]; None before the first measurement."""
    found = values.get("smoothed_rtt")
    return None if found is None else round(found * 1000)


def entry(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    """Return where a file's text goes in a zip file; the same texts make the same archive."""
    info = zipfile.ZipInfo(name, EARLIEST)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.file_size = path.stat().st_size if path.exists() else 0  # as a hint: it may be large
    return archive.open(info, "w")


def store(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Put a file into a zip file piece by piece: it may be larger than the lab's memory."""
    with path.open("rb") as log, entry(archive, name, path) as copy:
        shutil.copyfileobj(log, copy, PIECE_BYTES)
