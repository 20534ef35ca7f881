# SPDX-License-Identifier: GPL-2.0-only
"""Two uml labs as one: senders and receivers of different kernels on one link (harness/linked)."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from harness.labs.base import POLL_S, Event, Lab, LabSpec
from harness.labs.uml import UmlLab
from harness.linked.merge import merge
from harness.linked.wire import SIDES
from plan.errors import LabError
from plan.plan import Topology

MAIN = "cd /cellbed && exec python3 -B -m harness.linked.agent"
# The module's names of the FIFOs into and from the wire, in each lab's run directory.
INTO, FROM = "wire-into", "wire-from"
FAILED = ("failed", "trial-failed")


class LinkedLabs(Lab):
    """The senders' lab and the receivers' lab. Neither is of use without the other.

    What the harness follows is the senders' lab. A failure of either ends both.
    """

    def __init__(self, spec: LabSpec, run_directory: Path) -> None:
        kernels = {"senders": spec.kernel, "receivers": spec.receiver}
        folders = {side: run_directory / side for side in SIDES}
        for folder in folders.values():
            folder.mkdir()
        super().__init__(spec, folders["senders"])
        self.labs = {
            side: UmlLab(
                replace(spec, main=f"{MAIN} {side}", kernel=kernels[side], receiver=None), folder
            )
            for side, folder in folders.items()
        }
        self.senders, self.receivers = (self.labs[side] for side in SIDES)
        self.hold = self.senders.hold
        self._ended = threading.Semaphore(0)  # trials, in the receivers' lab
        self._failure: Exception | None = None
        self._until_end = ExitStack()

    def __enter__(self) -> Self:
        one, other = (lab.run_directory for lab in self.labs.values())
        for near, far in ((one, other), (other, one)):
            os.mkfifo(near / INTO)
            os.link(near / INTO, far / FROM)
        with ExitStack() as begun:
            for lab in self.labs.values():
                begun.enter_context(lab)
            self._until_end = begun.pop_all()
        threading.Thread(target=self._follow_receivers, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._until_end.close()

    def boot(self) -> None:
        """The labs boot as they are entered."""

    def _follow_receivers(self) -> None:
        try:
            for event in self.receivers.events():
                refuse_failure("receivers", event)
                if event["event"] == "trial-end":
                    self._ended.release()
        except Exception as failure:  # noqa: BLE001 (raised where the senders are followed)
            self._failure = failure

    def _look(self) -> None:
        if self._failure is not None:
            raise self._failure

    def events(
        self, until: float = math.inf, look: Callable[[], None] = lambda: None
    ) -> Iterator[Event]:
        """Those of the senders' lab; the end of a trial when it has ended in both."""

        def look_at_both() -> None:
            self._look()
            look()

        for event in self.senders.events(until, look_at_both):
            refuse_failure("senders", event)
            if event["event"] == "trial-end":
                while not self._ended.acquire(timeout=POLL_S):
                    look_at_both()
                    if time.monotonic() > until:
                        raise TimeoutError
            yield event

    def poll(self) -> int | None:
        found = [lab.poll() for lab in self.labs.values()]
        if any(found):
            return next(status for status in found if status)
        return None if None in found else 0

    def kill(self) -> None:
        for lab in self.labs.values():
            lab.kill()

    def cpu_s(self) -> float:
        return sum(lab.cpu_s() for lab in self.labs.values())

    def processes(self) -> int:
        return sum(lab.processes() for lab in self.labs.values())

    def damage(self) -> str:
        return self.senders.damage() or self.receivers.damage()

    def standstill(self) -> str:
        return self.senders.standstill() or self.receivers.standstill()

    def glance(self) -> tuple[float, str]:
        return self.senders.glance()

    def stand_still(self, still: bool) -> None:
        for lab in self.labs.values():
            lab.stand_still(still)

    @property
    def exact(self) -> bool:
        return True

    def submit(self, job: dict[str, Any]) -> None:
        for lab in self.labs.values():
            lab.submit(job)

    def submit_network(self, topology: Topology) -> None:
        for lab in self.labs.values():
            lab.submit_network(topology)

    def take(self, name: str, place: Path) -> None:
        """Make one trial's results of both labs'; LabError where they are no halves of one."""
        parts = {side: place.with_name(side) for side in SIDES}
        for side, lab in self.labs.items():
            lab.take(name, parts[side])
        try:
            merge(parts["senders"], parts["receivers"], place)
        except (ValueError, KeyError) as error:
            raise LabError(f"{type(error).__name__}: {error}") from error

    def forget(self, name: str) -> None:
        for lab in self.labs.values():
            lab.forget(name)

    def console(self, lines: int = 25) -> str:
        return "\n".join(
            f"the {side}' lab:\n{said}"
            for side, lab in self.labs.items()
            if (said := lab.console(lines))
        )


def refuse_failure(side: str, event: Event) -> None:
    """A trial that fails in one lab waits for ever in the other: both have to end."""
    if event["event"] in FAILED:
        raise LabError(f"the {side}' lab: {event['error']}")
