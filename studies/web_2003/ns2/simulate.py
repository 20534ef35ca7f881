# SPDX-License-Identifier: GPL-2.0-only
"""Runs ns-2; what became of each exchange, and of the packets at each end of the link."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import MissingLibraryError, RecordError
from studies.web_2003.ns2.options import Options
from studies.web_2003.ns2.traffic import Connection

PROGRAM = "ns"
SCRIPT = Path(__file__).with_name("web.tcl")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange; times in s since the trial's start. The counts are of the server's end.

    last_byte_s: None where the response did not come.
    sent_bytes: payload, what was sent again among it.
    timeouts: of SYN/ACK, response and FIN.
    acks: packets without payload.
    """

    connection: Connection
    begun_s: float
    last_byte_s: float | None
    sent_bytes: int
    timeouts: int
    acks: int


@dataclass(frozen=True, slots=True)
class Port:
    """One direction of the link: packets that came to its queue, and of these dropped, marked."""

    arrived: int
    dropped: int
    marked: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one run: the exchanges in the order of the trace, and the ports "down" and "up"."""

    exchanges: Sequence[Exchange]
    ports: Mapping[str, Port]


def run(trace: Sequence[Connection], options: Options) -> Outcome:
    """Carry a trace in ns-2.

    Raises MissingLibraryError where there is no ns-2, and RecordError where it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        arrivals = Path(folder) / "arrivals"
        arrivals.write_text("".join(one.line() for one in trace), encoding="ascii")
        words = [str(word) for option in options.items() for word in option]
        argv = [PROGRAM, str(SCRIPT), "arrivals", str(arrivals), *words]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise MissingLibraryError("ns-2 is needed: apt-get install ns2") from None
    if done.returncode:
        raise RecordError(f"ns-2 failed with status {done.returncode}: {done.stderr.strip()}")
    return outcome(trace, done.stdout)


def outcome(trace: Sequence[Connection], text: str) -> Outcome:
    """What web.tcl printed; RecordError where an exchange or a port is missing."""
    lines = [line.split() for line in text.splitlines()]
    known = {(words[1], int(words[2])): words[3:] for words in lines if words[:1] == ["exchange"]}
    ports = {words[1]: Port(*map(int, words[2:])) for words in lines if words[:1] == ["queue"]}
    if len(known) < len(trace) or ports.keys() != {"down", "up"}:
        raise RecordError(f"ns-2 told of {len(known)} exchanges, not of {len(trace)}: {lines[-1:]}")
    return Outcome([_exchange(one, known[one.direction, one.number]) for one in trace], ports)


def _exchange(connection: Connection, words: Sequence[str]) -> Exchange:
    begun_s, last_byte_s = map(float, words[:2])
    sent_bytes, timeouts, acks = map(int, words[2:5])
    came = None if last_byte_s < 0 else last_byte_s
    return Exchange(connection, begun_s, came, sent_bytes, timeouts, acks)
