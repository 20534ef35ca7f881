# SPDX-License-Identifier: GPL-2.0-only
"""Runs one selftest in a lab that is booted for it alone: no test finds another's traces."""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.growing import opened
from harness.inbox import FOLDER
from harness.labs import Lab, LabSpec
from harness.labs.session import session
from harness.scripts.job import BUILT_IN
from harness.scripts.job import KILLED as OUT_OF_MEMORY
from harness.selftests.outcome import TIMED_OUT, Outcome, of_packets, printable
from harness.selftests.watch import Watch
from plan.complaint import first_complaint
from plan.errors import LabError

MAIN = "exec bash /cellbed/harness/selftests/inside"
KILLED = 137  # of timeout(1), when the test had not heeded its first signal
MOST_BYTES = 64 << 20
PCAP = re.compile(r"\d+\.pcap")  # as lab/selftests/tools/recorder.c names them
MEMORY_MIB = 2048
# By this machine's clock, without any computing. In virtual time a lab that waits computes.
IDLE_S = {"virtual": 120.0, "real": 600.0}
LIMIT_CPU_S = 600.0
# Of /proc/sys/kernel/tainted, as in the file `inside`: a warning, an oops, a soft lockup.
FAULTS = 512 | 128 | 16384


@dataclass(frozen=True, kw_only=True)
class Work:
    """A test, and what its lab is made of.

    Attributes:
        folder, test: the test, its folder below tools/testing/selftests.
        limit_s: how long it may take, by the lab's clock [s].
        limit_cpu_s: how much processor time its lab may use [s].
        clock: "virtual" or "real".
        image, kernel: folders.
        words: what the kernel is told.
        tests, tools: folders of the tree's tests and of the lab's programs for them.
        packetdrill: the program; None: there is none.
    """

    folder: str
    test: str
    limit_s: int
    clock: str
    seed: int
    image: Path
    kernel: Path
    words: str
    tests: Path
    tools: Path
    packetdrill: Path | None
    limit_cpu_s: float = LIMIT_CPU_S

    @property
    def name(self) -> str:
        """As kselftest has it."""
        return f"{self.folder}: {self.test}"


def run(work: Work) -> Outcome:
    """Boot, run, end.

    Raises:
        MissingError: there is no lab.
    """
    shares = {"tests": work.tests, "tools": work.tools}
    job = {"FOLDER": work.folder, "TEST": work.test, "LIMIT_S": str(work.limit_s)}
    if work.packetdrill is not None:
        shares["packetdrill"] = work.packetdrill.parent
        job["PACKETDRILL"] = work.packetdrill.name
    spec = LabSpec(
        pairs=0, clock=work.clock, seed=work.seed, memory_mib=MEMORY_MIB, main=MAIN,
        image=work.image, kernel=work.kernel, kernel_words=work.words, shares=shares,
        hang_cpu_s=math.inf, hang_idle_s=idle_s(work),
    )  # fmt: skip
    text = "".join(f"{name}={shlex.quote(value)}\n" for name, value in job.items())
    begin = time.monotonic()
    with session("uml", spec, {"job": text, **built_in(work.kernel)}) as lab:
        watch = Watch(lab, work.limit_cpu_s)
        try:
            for _ in lab.events(look=watch.look):
                pass
            found = read(lab, work.limit_s)
        except LabError as error:
            said = first_complaint(lab.console(200).splitlines())
            complaint = "\n".join([*said[:1], str(error), *said])
            found = ended_early(lab, complaint)
    return replace(found, host_s=time.monotonic() - begin, cpu_s=watch.cpu_s)


def idle_s(work: Work) -> float:
    """How long the lab may do nothing, by this machine's clock [s]."""
    return IDLE_S[work.clock] + (work.limit_s if work.clock == "real" else 0)


def built_in(kernel: Path) -> dict[str, bytes]:
    """What modprobe needs to know of the modules that are built into a kernel, by file names."""
    places = [kernel / name for name in BUILT_IN]
    if not all(place.exists() for place in places):  # that of scripts has the whole build
        places = [kernel / "build" / name for name in BUILT_IN]
    return {place.name: place.read_bytes() for place in places if place.exists()}


def read(lab: Lab, limit_s: int) -> Outcome:
    """What a test has left, that may have taken so long by the lab's clock."""
    words = left(lab, "status").split()
    try:
        begin_s, end_s = map(float, words[:2])
        tainted, status = map(int, words[2:])
    except ValueError:  # a test may have written anything there
        return ended_early(lab, unfinished(lab))
    late = status == KILLED and end_s - begin_s >= limit_s
    said = left(lab, "dmesg").splitlines()
    if tainted & FAULTS and not first_complaint(said):
        said = [f"WARNING: the kernel is tainted ({tainted}), but its log has lost the message"]
    packets = recorded(lab)
    return Outcome(
        output=left(lab, "output"),
        status=TIMED_OUT if late else status,
        took_s=end_s - begin_s,
        limit_s=limit_s,
        packets=packets,
        sent=of_packets(packets),
        complaint="\n".join(first_complaint(said)),
        killed=killed(left(lab, "killed")),
    )


def killed(said: str) -> list[str]:
    """The names of the processes that a kernel killed because its memory was full, each once."""
    return list(dict.fromkeys(OUT_OF_MEMORY.findall(said)))


def ended_early(lab: Lab, complaint: str) -> Outcome:
    """What a test has left whose lab ended before it did."""
    packets = recorded(lab)
    return Outcome(output=left(lab, "output"), status=None, packets=packets, complaint=complaint)


def unfinished(lab: Lab) -> str:
    """Why the lab ended before its test."""
    lines = lab.console().splitlines()
    why = "; its memory was full" if OUT_OF_MEMORY.search(lab.console()) else ""
    return f"the lab ended before the test did{why}: " + " / ".join(lines[-3:])


def recorded(lab: Lab) -> dict[str, bytes]:
    """The files of packets: all of them together have at most MOST_BYTES."""
    found, rest = {}, MOST_BYTES
    with suppress(OSError), folder_of(lab) as folder:
        for name in sorted(name for name in os.listdir(folder) if PCAP.fullmatch(name)):
            found[name] = content(lab, name, rest)
            rest -= len(found[name])
            if not rest:
                break
    return found


def left(lab: Lab, name: str) -> str:
    """A text among the results, which a terminal may show; empty where there is none."""
    return printable(content(lab, name).decode(errors="replace"))


def content(lab: Lab, name: str, most: int = MOST_BYTES) -> bytes:
    """A file among the results, of which what runs in the lab could have made anything."""
    with (
        suppress(OSError),
        folder_of(lab) as folder,
        opened(Path(f"/proc/self/fd/{folder}", name)) as stream,
    ):
        found: bytes = stream.read(most)
        return found
    return b""


@contextmanager
def folder_of(lab: Lab) -> Iterator[int]:
    """The results' folder, through no link.

    Raises:
        OSError: there is none.
    """
    folder = os.open(lab.run_directory / "results", FOLDER)
    try:
        yield folder
    finally:
        os.close(folder)
