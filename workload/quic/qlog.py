# SPDX-License-Identifier: GPL-2.0-only
"""Reads qlog files (draft-ietf-quic-qlog-main-schema, version 0.3, JSON text sequences).

Both stacks write recovery:metrics_updated when a value changes, and transport:packet_sent for each
packet. ngtcp2 writes times in whole milliseconds from the first packet of the connection on.
aioquic's are exact; they count from the start of its program's clock (endpoint.py).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workload.errors import WorkloadError
from workload.quic.lines import SEPARATOR

COLUMNS = "time_ns,pair,cwnd_bytes,ssthresh_bytes,in_flight_bytes,smoothed_rtt_us".split(",")
SENT = '"name":"transport:packet_sent"'
BEGIN = f'{SENT},"data":{{"frames":['
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


def read(path: Path) -> tuple[list[str], int]:
    """Return the lines of a file, and how many of them had to be mended.

    ngtcp2 1.11 does not begin a new event for a packet that only pads a datagram: it writes the
    event of the packet before once more, and then the end of the new one. Such a copy becomes the
    begin of the event of which there is only the end.
    """
    lines: list[str] = []
    mended = 0
    with path.open(encoding="utf-8") as stream:
        for text in stream:
            if text.startswith(SEPARATOR) or not is_copied(lines):
                lines.append(text)
                continue
            time_ms = json.loads(lines.pop().lstrip(SEPARATOR))["time"]
            lines.append(f'{SEPARATOR}{{"time":{time_ms},{BEGIN}{text}')
            mended += 1
    return lines, mended


def is_copied(lines: Sequence[str]) -> bool:
    """Return whether the last line is a copy of the last packet that was sent before it."""
    before = (text for text in reversed(lines[:-1]) if SENT in text)
    return bool(lines) and lines[-1] == next(before, None)


def events(lines: Iterable[str], name: str = "qlog") -> Iterator[Event]:
    """Yield the events of a file's lines; `name` is the file's, for errors.

    Raises:
        WorkloadError: it is no qlog file, or its last line is cut short.
    """
    for number, text in enumerate(lines, 1):
        try:
            found = json.loads(text.lstrip(SEPARATOR))
            if number > 1:
                yield Event(round(found["time"] * 1e6), found["name"], found["data"])
            elif found["qlog_format"] != "JSON-SEQ":
                raise ValueError(f"its format is {found['qlog_format']}")
        except (ValueError, KeyError, TypeError) as error:
            raise WorkloadError(f"{name}:{number}: not a line of qlog: {error}") from error


def sent(found: Iterable[Event]) -> list[Sent]:
    """Return the packets that this end sent."""
    return [
        Sent(e.time_ns, e.data["header"]["packet_type"], e.data["raw"]["length"])
        for e in found
        if e.name == "transport:packet_sent"
    ]


def windows(found: Iterable[Event], pair: int, offset_ns: int) -> Iterator[list[object]]:
    """Yield a row of COLUMNS whenever the congestion window or the threshold has another value.

    Args:
        offset_ns: what makes of the file's times those from the trial's start on. What held at the
            start has the time 0.
    """
    values: dict[str, Any] = {}
    before: list[object] = []
    for e in found:
        if e.name != "recovery:metrics_updated":
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


def microseconds(values: Mapping[str, Any]) -> int | None:
    """Return the smoothed round trip [us]; None before the first measurement."""
    found = values.get("smoothed_rtt")
    return None if found is None else round(found * 1000)


def lost(found: Iterable[Event]) -> int:
    """Return the number of packets that this end took for lost."""
    return sum(e.name == "recovery:packet_lost" for e in found)


def pack(files: Mapping[str, Sequence[str]], target: Path) -> None:
    """Put the lines of files under these names into a zip file; the same give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, "".join(files[name]))
