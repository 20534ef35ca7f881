# SPDX-License-Identifier: GPL-2.0-only
"""Pages of the kernel's ring buffer become a table: times, lengths, fields. No lab."""

from __future__ import annotations

import csv
import socket
import struct
from pathlib import Path

from harness.captures.trace import Capture, lost_events
from harness.captures.trace.formats import write_table
from harness.captures.trace.pages import PAGE_BYTES, events
from plan.facts import TrialFacts, read

FORMAT = """name: made
ID: 77
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:const void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;
\tfield:__u8 saddr[sizeof(struct sockaddr_in6)];\toffset:16;\tsize:28;\tsigned:0;
\tfield:__u8 daddr[4];\toffset:44;\tsize:4;\tsigned:0;
\tfield:int error;\toffset:48;\tsize:4;\tsigned:1;
\tfield:__u32 snd_cwnd;\toffset:52;\tsize:4;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;

print fmt: "%d", REC->error
"""
OTHER = """name: other
ID: 78
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;
"""


def word(kind: int, delta: int) -> bytes:
    return struct.pack("<I", delta << 5 | kind)


def page(time_ns: int, *parts: bytes, flags: int = 0) -> bytes:
    data = b"".join(parts)
    return (struct.pack("<QQ", time_ns, len(data) | flags) + data).ljust(PAGE_BYTES, b"\xff")


def test_events_of_a_page_have_times_and_contents() -> None:
    long = bytes(range(200))
    found = page(
        1_000_000_000,
        word(2, 5) + b"12345678",  # of two words, 5 ns later
        word(30, 7) + struct.pack("<I", 1),  # 2**27 + 7 ns later
        word(29, 1) + struct.pack("<I", 8) + b"gone",  # an event that was taken back
        word(0, 3) + struct.pack("<I", 4 + len(long)) + long,
        word(31, 9) + struct.pack("<I", 20),  # at 20 * 2**27 + 9 ns
        word(1, 0) + b"last",
        word(29, 0),  # no more
        word(1, 1) + b"none",
        flags=1 << 31,  # events were lost before
    )
    at = 1_000_000_005
    assert list(events(found + page(5, word(1, 1) + b"next"))) == [
        (at, b"12345678"),
        (at + (1 << 27) + 7 + 3, long),
        ((20 << 27) + 9, b"last"),
        (6, b"next"),
    ]


def made(error: int) -> bytes:
    """An event of FORMAT, with a text behind it."""
    saddr = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 5201) + bytes([10, 1, 0, 2])
    fixed = struct.pack("<HHIQ28s4siIHH", 77, 0, 1, 2**60, saddr, bytes([10, 2, 0, 2]), error,
                        4_000_000_000, 60, 6)  # fmt: skip
    return fixed + b"cubic\0" + bytes(2)


def event(delta: int, content: bytes) -> bytes:
    return word(len(content) // 4, delta) + content


def test_the_table_has_the_fields_that_the_kernel_names(tmp_path: Path) -> None:
    other = struct.pack("<HHI8s", 78, 0, 1, b"iperf3\0\0")
    pages = page(100, event(0, made(-110)), event(50, made(0)), event(1, other))
    write_table({"a:made": FORMAT, "a:other": OTHER}, pages, 120, tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream)) == [
            {
                "time_ns": "30", "event": "a:made", "saddr": "10.1.0.2:5201",
                "daddr": "10.2.0.2", "error": "0", "snd_cwnd": "4000000000", "name": "cubic",
                "comm": "",
            },
            {
                "time_ns": "31", "event": "a:other", "saddr": "", "daddr": "", "error": "",
                "snd_cwnd": "", "name": "", "comm": "iperf3",
            },
        ]  # fmt: skip
    write_table({"a:made": FORMAT, "a:other": OTHER}, pages, 0, tmp_path / "trace.csv")
    assert ",-110,4000000000,cubic," in (tmp_path / "trace.csv").read_text()


def test_events_without_room_are_missing(tmp_path: Path) -> None:
    for number, text in enumerate(
        ("overrun: 3\ndropped events: 4\n", "overrun: 0\nread events: 9\n")
    ):
        folder = tmp_path / "per_cpu" / f"cpu{number}"
        folder.mkdir(parents=True)
        (folder / "stats").write_text(f"entries: 5\n{text}")
    assert lost_events(tmp_path) == 7
    told = read(TrialFacts, {"trace": {"lost_events": 7}})
    assert Capture.missing(told) == 7 and Capture.missing(read(TrialFacts, {})) is None
