# SPDX-License-Identifier: GPL-2.0-only
"""Compiles dumbbell.cc, and runs it."""

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analysis.errors import MissingLibraryError, RecordError
from studies.ubrplus_1998.ns3.options import Options

SOURCE = Path(__file__).with_name("dumbbell.cc")
NEEDED = "ns-3 is needed: apt-get install g++ libns3-dev"
LIBRARIES = ("core", "network", "internet", "point-to-point")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one run.

    received_bytes, timeouts: of each pair; headers count.
    arrived, dropped: packets at the queue under test; most_cells: the largest queue.
    """

    received_bytes: Sequence[int]
    timeouts: Sequence[int]
    arrived: int
    dropped: int
    most_cells: int


def run(schedule: Iterable[str], options: Options) -> Outcome:
    """One trial.

    Raises MissingLibraryError where there is no ns-3, and RecordError where it fails.
    """
    words = [str(word) for option in options.items() for word in option]
    argv = [str(_program()), *words]
    text = "".join(schedule)
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RecordError(f"ns-3 failed with status {done.returncode}: {done.stderr.strip()}")
    return outcome(done.stdout, int(options["pairs"]))


def outcome(text: str, pairs: int) -> Outcome:
    """What dumbbell.cc printed; RecordError where a pair or the queue is missing."""
    lines = [line.split() for line in text.splitlines()]
    found = [tuple(map(int, words[1:])) for words in lines if words[:1] == ["received"]]
    queues = [tuple(map(int, words[1:])) for words in lines if words[:1] == ["queue"]]
    if len(found) != pairs or len(queues) != 1:
        raise RecordError(f"ns-3 told of {len(found)} pairs, not of {pairs}: {lines[-1:]}")
    received, timeouts = zip(*found, strict=True)
    return Outcome(received, timeouts, *queues[0])


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where dumbbell.cc is compiled, until this program ends."""
    return tempfile.TemporaryDirectory(prefix="cellbed-ns3-")


@cache
def _program() -> Path:
    program = Path(_folder().name) / "dumbbell"
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    argv = ["g++", "-std=c++17", "-O2", "-o", str(program), str(SOURCE), *libraries]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise MissingLibraryError(NEEDED) from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "")
        if "ns3/" in first or "lns3" in done.stderr:
            raise MissingLibraryError(NEEDED)
        raise RecordError(f"g++ cannot compile {SOURCE}: {first}")
    return program
