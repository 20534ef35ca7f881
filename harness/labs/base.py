# SPDX-License-Identifier: GPL-2.0-only
"""The lab interface: boot, give it jobs, stream its events, always end.

A lab shares one host directory, its run directory, with the agent inside it:

    inbox/NNNN.json    jobs, in order; each written under another name and renamed
    events.jsonl       what the agent says, one JSON object a line
    results/           what the agent's jobs leave
    console.log        the lab kernel's console
    inbox/watched.json while somebody looks (harness/hold.py)

The agent takes the jobs in the order of their numbers and leaves when it meets one
whose kind is "end".
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from harness.growing import Growing, opened
from harness.hold import Hold
from harness.host import paths
from harness.inbox import FOLDER, give
from harness.labs import shared
from harness.labs.hang import HANG_CPU_S, HANG_IDLE_S, HangWatch
from plan.complaint import first_complaint
from plan.errors import LabError
from plan.plan import Plan, Topology, to_json

Event = dict[str, Any]

POLL_S = 0.05
CONSOLE_BYTES = 1 << 16  # of its end, that is ever shown
MODULES = ["cellbed_tcp"]


@dataclass(frozen=True, kw_only=True)
class LabSpec:
    """What a lab is to be.

    Attributes:
        pairs: client-server pairs that its network will have.
        clock: "virtual" (the clock jumps from timer to timer) or "real".
        seed: of the lab kernel's entropy.
        memory_mib: the lab's memory; only what is touched is taken from the host.
        hang_cpu_s: processor time without an event after which the lab counts as hung.
        hang_idle_s: wall time after which it does when it has not even computed.
        main: what the agent's side executes; empty: the agent.
        terminal: file descriptor of a terminal for the console; None: console.log.
        image: a lab image other than set-up's, and its disk for the vm lab.
        shares: host folders for the lab to mount, read-only, by names that its environment has.
        kernel: folder of a kernel, with its modules, other than set-up's; of the uml lab.
        receiver: folder of another kernel, for the receivers in a lab of their own (linked.py).
        kernel_words: what that kernel is told at its boot beside.
        isolated: refuse to boot where what runs in it could reach more of this machine.
        gdb: where gdb is to stop the kernel, as a function's name; of the uml lab. The kernel
            waits for it.
        only: name and plan of the first trial that it is booted for. A sealed lab (sealed.py)
            runs no other.
    """

    pairs: int
    clock: str = "virtual"
    seed: int = 1
    memory_mib: int = 4096
    hang_cpu_s: float = HANG_CPU_S
    hang_idle_s: float = HANG_IDLE_S
    main: str = ""
    terminal: int | None = None
    image: Path | None = None
    shares: Mapping[str, Path] = field(default_factory=dict)
    kernel: Path | None = None
    receiver: Path | None = None
    kernel_words: str = ""
    isolated: bool = False
    gdb: str = ""
    only: tuple[str, Plan] | None = None


class Lab(ABC):
    """A running lab. Use it as a context manager: leaving ends every process of it.

    Attributes:
        arch: the processor whose products of set-up it uses, as paths.OPTIONS; "": x86-64.
    """

    arch = ""

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        self.spec = spec
        self.run_directory = run_directory.resolve()
        self.hold = Hold(self.run_directory)
        self._jobs = 0
        self._said = Growing(self.run_directory / "events.jsonl")

    @abstractmethod
    def boot(self) -> None:
        """Start the lab's kernel. Raises MissingError or LabError."""

    @abstractmethod
    def poll(self) -> int | None:
        """Exit status of the lab, or None while it runs."""

    @abstractmethod
    def kill(self) -> None:
        """End every process of this lab and no other; harmless when it has ended."""

    @abstractmethod
    def cpu_s(self) -> float:
        """CPU seconds, user and system, that the lab has used so far."""

    def processes(self) -> int:
        """How many processes of this machine the lab has, as far as is known."""
        return 0

    def told(self) -> list[str]:
        """What its kernel and first process are told, the same on every machine."""
        return []

    def kernel_identity(self) -> str:
        """Its kernel by content or version; paths.ABSENT before set-up has made it."""
        return paths.ABSENT

    def damage(self) -> str:
        """What of a running lab was killed from outside, so that what it says is worth nothing.

        Raises:
            LabError: nobody can tell.
        """
        return ""

    def standstill(self) -> str:
        """A sentence, once, when its clock stands still for a program that computes; else ""."""
        return ""

    def glance(self) -> tuple[float, str]:
        """Its clock [s] and the program that has computed most since the last call; 0 and "" where
        nobody can tell.
        """
        return 0.0, ""

    def refuse_damage(self) -> None:
        """Called at each look at the lab, silent or not: who waits for a killed one says nothing.

        Raises:
            LabError: a process of the lab was killed from outside.
        """
        if damage := self.damage():
            raise LabError(f"a process of the lab was killed ({damage})", self.console())

    def stand_still(self, still: bool) -> None:  # noqa: B027
        """Stop all computing of the lab, or let it go on; asked only of one that is exact."""

    @property
    def exact(self) -> bool:
        """Does the lab's clock stand still while it computes? Then nothing can be late."""
        return False

    @property
    def sealed(self) -> bool:
        """Has it all its jobs before it boots? Then it can be given no more."""
        return False

    def __enter__(self) -> Self:
        for name in ("inbox", "results"):
            (self.run_directory / name).mkdir(parents=True, exist_ok=True)
        (self.run_directory / "events.jsonl").touch()
        self.boot()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def submit(self, job: dict[str, Any]) -> None:
        """Put a job behind those already given."""
        self._jobs += 1
        path = self.run_directory / "inbox" / f"{self._jobs:04d}.json"
        give(path, json.dumps(job))

    def submit_network(self, topology: Topology) -> None:
        """The job that comes first: build the network of a plan's topology."""
        self.submit({"kind": "network", "topology": to_json(topology), "modules": self.modules()})

    def modules(self) -> list[str]:
        """The kernel modules that the network's first job puts in."""
        return MODULES

    def submit_trial(self, name: str, plan: Plan) -> None:
        """The job of a trial; what it leaves is in results/NAME.

        Raises:
            LabError: the workload cannot be made ready on the host.
        """
        shared.prepare(plan, self.run_directory)
        self.submit({"kind": "trial", "trial": name, "plan": to_json(plan), "exact": self.exact})

    def take(self, name: str, place: Path) -> None:
        """Move what a job left to a place of the host, where the lab has no way to it.

        Raises:
            OSError: there is none, or the lab has put a link in its results' place.
        """
        with self._results() as results:
            os.rename(name, place, src_dir_fd=results)

    def forget(self, name: str) -> None:
        """Remove what a job left, if it left anything."""
        with suppress(OSError), self._results() as results:
            shutil.rmtree(name, ignore_errors=True, dir_fd=results)

    @contextmanager
    def _results(self) -> Iterator[int]:
        """The results' folder, through no link."""
        folder = os.open(self.run_directory / "results", FOLDER)
        try:
            yield folder
        finally:
            os.close(folder)

    def events(
        self, until: float = math.inf, look: Callable[[], None] = lambda: None
    ) -> Iterator[Event]:
        """Yield events until the lab has ended by itself.

        Args:
            until: a moment of time.monotonic().
            look: called at each look at the lab, silent or not.

        Raises:
            LabError: it panicked, was killed, left with a failure, or hung.
            TimeoutError: that moment came first.
        """
        watch = HangWatch(self.cpu_s, self.spec.hang_cpu_s, self.spec.hang_idle_s)
        while True:
            status = self.poll()
            if self.spec.gdb:
                watch.alive()  # a person thinks
            events = list(self._new_events())
            self.refuse_damage()
            look()
            for event in events:
                self.hold.follow(event)
                yield event
                watch.alive()
            if self.exact and self.hold.changed():
                self.stand_still(self.hold.holds)
            if self.hold.holds:
                watch.alive()
            if status is not None:
                if status != 0:
                    raise LabError(self._why_ended(status), self.console())
                return
            if hung := watch.verdict():
                raise LabError(hung, self.console())
            if time.monotonic() > until:
                raise TimeoutError
            time.sleep(POLL_S)

    def _why_ended(self, status: int) -> str:
        """A lab whose kernel panicked has the reason on its console."""
        said = first_complaint(self.console(CONSOLE_BYTES).splitlines())
        why = f": its kernel said {said[0].strip()}" if said else ""
        return f"the lab ended with status {status}{why}"

    def _new_events(self) -> Iterator[Event]:
        """What the lab has said since; LabError for what is no event."""
        try:
            for line in self._said.lines():
                event = json.loads(line)
                if not isinstance(event, dict) or not isinstance(event.get("event"), str):
                    raise ValueError("not an object that names its event")
                yield event
        except (OSError, ValueError, RecursionError) as error:
            raise LabError(
                f"an event of the lab cannot be read: {error}", self.console()
            ) from error

    def console(self, lines: int = 25) -> str:
        """The end of the lab's console; nothing where what runs in the lab took that away."""
        try:
            with opened(self.run_directory / "console.log") as stream:
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, size - CONSOLE_BYTES))
                text = stream.read(CONSOLE_BYTES).decode(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])
