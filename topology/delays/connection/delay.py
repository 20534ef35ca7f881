# SPDX-License-Identifier: GPL-2.0-only
"""Gives each TCP connection its own round trip, after the constant delay.

    before   sat-sw2: comes in -> sat-sw1: netem, goes out
    with it  sat-sw2: comes in -> down0: netem -> down1 -> sat-sw1: fq and program.py, goes out

The other direction is the same. netem must come first, because it is the link if the queue is a
queue of packets. After netem, no packet waits for a packet of another connection.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from subprocess import Popen
from typing import ClassVar, Protocol, Self

from topology import commands, delay
from topology.delays.connection import passages, program, table
from topology.delays.connection.checks import delay_faults, round_trips
from topology.delays.connection.program import STAGES
from topology.run import batch, in_namespace


class Programs(Protocol):
    """Programs that start together. All of them end at the end of the `with`."""

    def start(self, pid: int, argv: Sequence[str]) -> Popen[str]:
        """Start a program in the network namespace of a process; its stdout has its output."""


class Testbed(Protocol):
    """A folder for files, and programs: the part of a trial's lab that this kind needs."""

    folder: Path

    def programs(self) -> AbstractContextManager[Programs]: ...


class Delay(delay.Delay):
    """Makes the pairs of devices. The workload, which knows the round trips, starts the rest.

    The queues and the program must not start earlier. fq drops a packet whose timestamp is the time
    of day, and a receiver that asks for timestamps, such as ping, causes such packets.
    """

    devices: ClassVar[Mapping[str, str]] = {name: stage[2] for name, stage in STAGES.items()}
    of_workload: ClassVar[bool] = True
    since: ClassVar[Mapping[str, tuple[int, int]]] = {"tcx": (6, 6)}
    checks = (round_trips, delay_faults)

    def __enter__(self) -> Self:
        mtu = self.dumbbell.mtu_bytes
        links, lines = [], list[str]()
        for source, target, near, far in STAGES.values():
            links += commands.pair_in_box(near, far, mtu)
            lines += [
                commands.box_delay(near, self.dumbbell.middle),
                commands.no_redirect(source),
                commands.redirect(source, near),
                f"qdisc add dev {far} ingress",
                commands.redirect(far, target),
                f"qdisc del dev {target} root",
            ]
        with in_namespace(self.box_pid):
            batch("ip", links)
            batch("tc", lines)
        return self

    def __exit__(self, *why: object) -> None:
        lines = commands.sat_delay(self.dumbbell.middle)
        for source, target, *_ in STAGES.values():
            lines += [commands.no_redirect(source), commands.redirect(source, target)]
        with in_namespace(self.box_pid):
            batch("tc", lines)
            batch("ip", [f"link del {near}" for _, _, near, _ in STAGES.values()])

    @contextmanager
    def round_trips(
        self, testbed: Testbed, ends: Iterable[tuple[str, int, int, int]]
    ) -> Iterator[dict[str, int]]:
        """Give connections their round trips for the duration of a `with`.

        Args:
            ends: for each connection: the client's address, its port, the server's port, and the
                round trip [ns].

        Returns:
            a dictionary that has the program's counters (program.Counters) after the `with`.
        """
        path, counted = testbed.folder / "round_trips", dict[str, int]()
        table.write(path, (table.Entry(*end) for end in ends))
        with in_namespace(self.box_pid):
            batch("tc", program.queues())
        with testbed.programs() as programs:
            process = programs.start(self.box_pid, program.argv(path))
            await_line(process, "ready\n", "delays")
            yield counted
            process.send_signal(signal.SIGTERM)
            counted |= asdict(program.read(process.communicate()[0]))
        path.unlink()

    @contextmanager
    def seen_round_trips(self, testbed: Testbed) -> Iterator[passages.Passages]:
        """Capture each connection's first two packets on their way through the box.

        Returns:
            the passages of both packets, which are complete after the `with`.
        """
        found = passages.Passages()
        with testbed.programs() as programs:
            seen = []
            for point in passages.POINTS:
                seen.append(programs.start(self.box_pid, passages.argv(point, testbed.folder)))
                await_line(seen[-1], passages.READY, "the capture of round trips")
            yield found
            time.sleep(passages.HANDED_OVER_S)
            for process in seen:
                process.send_signal(signal.SIGTERM)
                complaint = passages.complaint(process.communicate()[0])
                if complaint:
                    raise RuntimeError(f"the capture of round trips did not end well: {complaint}")
        found.read(testbed.folder)


def await_line(process: Popen[str], ready: str, what: str) -> None:
    """Wait until a program says that it is ready.

    Raises:
        RuntimeError: the program ended without this line; the text has `what` and its output.
    """
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if ready in line:
            return
    raise RuntimeError(f"{what} did not begin; it said: {' '.join(said.split()) or 'nothing'}")
