# SPDX-License-Identifier: GPL-2.0-only
"""Records kernel events (tracepoints) during the workload, in trace.csv, with exact times.

The kernel writes its events into a ring buffer of this trial. A thread empties the buffer when it
is half full, and again at the end of the workload. It copies the binary buffer, because the
kernel's own text has times in microseconds. The host makes the table (pages.py, formats.py).
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar

from harness import capture
from harness.captures.trace.formats import write_table
from harness.captures.trace.pages import PAGE_BYTES
from plan.facts import Facts, TrialFacts
from plan.near import nearest
from plan.plan import Plan, Topology
from plan.queue import Queue
from plan.schema import Matches

MOUNT = Path("/sys/kernel/tracing")
BUFFER_KIB = 16_384
EMPTIED_AT_PERCENT = 50
PAGES, FORMATS, TABLE = "trace.pages", "trace.json", "trace.csv"
EVENT = r"\w+:\w+"
LOST = re.compile(r"^(?:overrun|dropped events): (\d+)$", re.MULTILINE)
# The Kconfig options that a kernel must have.
OPTIONS = ("FTRACE", "ENABLE_DEFAULT_TRACERS")
CALLS, CALLS_OPTIONS = "calls:", ("CELLBED_CALLS",)  # the events of lab/calls/calls.patch


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The events, as `--trace` names them."""

    trace: Annotated[
        tuple[Annotated[str, Matches(EVENT, "GROUP:EVENT, as tcp:tcp_probe")], ...],
        "The kernel's events that are in trace.csv, such as `tcp:tcp_probe`. With `--trace`,"
        " `./cellbed run` takes the events of the option in place of this key. If the list is not"
        " empty, cellbed builds the trial's kernel with tracing.",
    ] = ()

    def wanted(self, topology: Topology, queue: Queue) -> Wanted:
        return Wanted(trace=tuple(dict.fromkeys(self.trace)))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same settings in the plan."""

    trace: tuple[str, ...] = field(default=(), metadata={"later": True})

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """The options that a kernel must be built with."""
        calls = any(name.startswith(CALLS) for name in self.trace)
        return (OPTIONS if self.trace else ()) + (CALLS_OPTIONS if calls else ())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceFacts(Facts):
    """In lab.json: the number of events that the buffer had no room for."""

    lost_events: int


class TraceError(RuntimeError):
    """The kernel cannot trace, or it has no such event."""


class Capture(capture.Capture[Wanted]):
    """Uses an instance of the kernel's tracing, and a thread that empties its buffer."""

    check: ClassVar[str] = "trace"
    unit: ClassVar[str] = "events"

    def __enter__(self) -> object:
        self._lost: int | None = None
        self._until_end = ExitStack()
        if self.wanted.trace:
            with ExitStack() as begun:
                self._begin(begun)
                self._until_end = begun.pop_all()
        return self

    def _begin(self, begun: ExitStack) -> None:
        self._place = begun.enter_context(instance())
        (self._place / "buffer_size_kb").write_text(str(BUFFER_KIB))
        (self._place / "buffer_percent").write_text(str(EMPTIED_AT_PERCENT))
        (self._place / "trace_clock").write_text("mono")
        formats = {name: found(self._place, name) for name in self.wanted.trace}
        texts = {name: (place / "format").read_text() for name, place in formats.items()}
        (self.site.folder / FORMATS).write_text(json.dumps(texts))
        for place in formats.values():
            (place / "enable").write_text("1")
        begun.enter_context(emptied(self._place, self.site.folder / PAGES))

    def __exit__(self, kind: object = None, *rest: object) -> None:
        if self.wanted.trace:
            (self._place / "tracing_on").write_text("0")
            self._lost = lost_events(self._place)
        self._until_end.close()

    def facts(self) -> dict[str, Any]:
        return {} if self._lost is None else {"trace": {"lost_events": self._lost}}

    @staticmethod
    def missing(facts: TrialFacts) -> int | None:
        """Return the number of events that the buffer had no room for."""
        told = facts.known_by(WithTrace)
        if not told.has("trace") or told.trace is None:
            return None
        return told.trace.lost_events

    @classmethod
    def keep(cls, plan: Plan, raw: Path, t0_ns: int, folder: Path) -> None:
        if (raw / FORMATS).exists():
            formats = json.loads((raw / FORMATS).read_text())
            write_table(formats, (raw / PAGES).read_bytes(), t0_ns, folder / TABLE)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WithTrace(Facts):
    """lab.json of a trial with events."""

    trace: TraceFacts | None


@contextmanager
def instance() -> Iterator[Path]:
    """Make an instance of tracing. In the native lab, the machine may have instances of its own."""
    if not MOUNT.exists():
        raise TraceError(f"record.trace: kernel {os.uname().release} was built without tracing")
    if not (MOUNT / "instances").exists():
        mount_tracefs()
    place = MOUNT / "instances" / f"cellbed-{os.getpid()}"
    place.mkdir()
    try:
        yield place
    finally:
        place.rmdir()


def mount_tracefs() -> None:
    """Mount tracefs without a program.

    Each new program draws random numbers, and these also determine the ports of connections.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(b"tracefs", bytes(MOUNT), b"tracefs", ctypes.c_ulong(0), None):
        raise OSError(ctypes.get_errno(), f"tracefs cannot be mounted at {MOUNT}")


def found(place: Path, name: str) -> Path:
    """Return the folder of an event. TraceError: this kernel has no event of this name."""
    group, _, event = name.partition(":")
    folder = place / "events" / group / event
    if (folder / "format").exists():
        return folder
    known = [
        f"{one.parent.parent.name}:{one.parent.name}" for one in place.glob("events/*/*/format")
    ]
    meant = nearest(name, known)
    what = f"did you mean {meant}?" if meant else f"it has {len(known)} others, as tcp:tcp_probe"
    raise TraceError(f"record.trace: kernel {os.uname().release} has no event {name}; {what}")


def lost_events(place: Path) -> int:
    """Return the number of events that were overwritten or not written."""
    texts = [path.read_text() for path in place.glob("per_cpu/cpu*/stats")]
    return sum(int(number) for text in texts for number in LOST.findall(text))


@contextmanager
def emptied(place: Path, file: Path) -> Iterator[None]:
    """Copy the buffer into a file, page by page, during the `with` and at its end."""
    with ExitStack() as until_end:
        out = until_end.enter_context(file.open("wb"))
        pipes = []
        for path in sorted(place.glob("per_cpu/cpu*/trace_pipe_raw")):
            pipes.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            until_end.callback(os.close, pipes[-1])
        ends, end = os.pipe()
        until_end.callback(os.close, ends)
        thread = threading.Thread(target=follow, args=(pipes, ends, out), daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.close(end)
            thread.join()
            empty(pipes, out)


def follow(pipes: Sequence[int], ends: int, out: BinaryIO) -> None:
    """Empty the buffer each time it is half full, until a pipe is closed."""
    waiting = select.poll()
    for pipe in (*pipes, ends):
        waiting.register(pipe, select.POLLIN)
    while ends not in dict(waiting.poll()):
        empty(pipes, out)


def empty(pipes: Sequence[int], out: BinaryIO) -> None:
    """Copy the present content of the buffer."""
    for pipe in pipes:
        try:
            while page := os.read(pipe, PAGE_BYTES):
                out.write(page.ljust(PAGE_BYTES, b"\0"))
        except BlockingIOError:
            pass
