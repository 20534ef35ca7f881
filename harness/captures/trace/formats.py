# SPDX-License-Identifier: GPL-2.0-only
"""Decodes the fields of events, by the kernel's own files `format`, and writes their table."""

from __future__ import annotations

import csv
import re
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.captures.trace.pages import events

ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
FIELD = re.compile(
    r"field:(?P<type>[^;]*?)\s*\b(?P<name>\w+)(?P<array>\[[^;]*\])?;\s*"
    r"offset:(?P<offset>\d+);\s*size:(?P<size>\d+);\s*signed:(?P<signed>[01]);"
)
SCALARS = {1: "b", 2: "h", 4: "i", 8: "q"}
# Bytes of an IPv4 address, an IPv6 address, and struct sockaddr_in6, which can hold both.
IPV4_BYTES, IPV6_BYTES, SOCKADDR_BYTES = 4, 16, 28
DYNAMIC = "__data_loc"

Reader = Callable[[bytes], object]


@dataclass(frozen=True)
class Format:
    """The name of an event, and a reader for each of its fields."""

    name: str
    fields: Mapping[str, Reader]


def write_table(texts: Mapping[str, str], pages: bytes, t0_ns: int, target: Path) -> None:
    """Write the table of events since the trial's start, in the order of their times.

    Args:
        texts: name of an event -> its file `format`.
        t0_ns: the trial's start on the lab's clock.
    """
    formats = {number(text): Format(name, readers(text)) for name, text in texts.items()}
    columns = list(dict.fromkeys(name for one in formats.values() for name in one.fields))
    found = sorted((event for event in events(pages) if event[0] >= t0_ns), key=lambda x: x[0])
    with target.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, ["time_ns", "event", *columns])
        table.writeheader()
        for time_ns, content in found:
            of = formats[int.from_bytes(content[:2], "little")]
            row = {name: read(content) for name, read in of.fields.items()}
            table.writerow({"time_ns": time_ns - t0_ns, "event": of.name, **row})


def number(text: str) -> int:
    """Return the kernel's number of an event."""
    match = ID.search(text)
    if match is None:
        raise ValueError("a format of an event without its number")
    return int(match[1])


def readers(text: str) -> dict[str, Reader]:
    """Return a reader for each field of an event.

    Two kinds of fields are left out. The fields of all events tell the process that computed.
    Addresses in the kernel's memory mean nothing to a user and differ from kernel to kernel.
    """
    return {
        match["name"]: reader(match)
        for match in FIELD.finditer(text)
        if not match["name"].startswith("common_") and "*" not in match["type"]
    }


def reader(match: re.Match[str]) -> Reader:
    """Return the reader of one field."""
    at, size = int(match["offset"]), int(match["size"])
    if match["type"].startswith(DYNAMIC):
        return lambda content: dynamic(content, at)
    if match["array"] is not None:
        shown = text_of if match["type"] == "char" else bytes_of
        return lambda content: shown(content[at : at + size])
    code = SCALARS[size]
    read = struct.Struct("<" + (code if match["signed"] == "1" else code.upper()))
    return lambda content: read.unpack_from(content, at)[0]


def dynamic(content: bytes, at: int) -> str:
    """Return a text behind the fields; the field has its place and its length, 16 bits each."""
    place, length = struct.unpack_from("<HH", content, at)
    return text_of(content[place : place + length])


def text_of(content: bytes) -> str:
    """Return a text up to its zero byte."""
    return content.partition(b"\0")[0].decode(errors="replace")


def bytes_of(content: bytes) -> str:
    """Return bytes as an address if their number fits an address, else as hex digits."""
    if len(content) == IPV4_BYTES:
        return socket.inet_ntop(socket.AF_INET, content)
    if len(content) == IPV6_BYTES:
        return socket.inet_ntop(socket.AF_INET6, content)
    if len(content) == SOCKADDR_BYTES:
        return sockaddr(content)
    return content.hex()


def sockaddr(content: bytes) -> str:
    """Return address and port."""
    family, port = struct.unpack_from("=H", content)[0], struct.unpack_from("!H", content, 2)[0]
    if family == socket.AF_INET6:
        return f"[{socket.inet_ntop(socket.AF_INET6, content[8:24])}]:{port}"
    return f"{socket.inet_ntop(socket.AF_INET, content[4:8])}:{port}"
