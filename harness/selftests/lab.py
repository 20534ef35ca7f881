# SPDX-License-Identifier: GPL-2.0-only
"""Runs selftests in a lab: one test alone, or several in turn, of which each has its namespaces."""

from __future__ import annotations

import itertools
import math
import os
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.growing import opened
from harness.inbox import FOLDER
from harness.labs import Lab, LabSpec
from harness.labs.session import session
from harness.labs.stock import OWN
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
        limit_cpu_s: how much processor time it may use [s], if it is the first with its lab's boot.
        clock: "virtual" or "real".
        image, kernel: folders.
        words: what the kernel is told.
        tests, tools: folders of the tree's tests and of the lab's programs for them.
        packetdrill: the program; None: there is none.
        lab: "uml", or "vm" with its own kernel.
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
    lab: str = "uml"
    limit_cpu_s: float = LIMIT_CPU_S

    @property
    def shared(self) -> Work:
        """What tests have in common that may share a lab."""
        return replace(self, folder="", test="", limit_s=0)


def run(works: Sequence[Work]) -> list[Outcome]:
    """Boot a lab, run the tests in it in turn, and end it.

    Args:
        works: tests with the same `shared`.

    Returns:
        The outcomes of those that it began: the first at least, and in their order. A crash, the
        limit of the processor time and a test that left traces end the lab. The rest need another.

    Raises:
        MissingError: there is no lab.
    """
    shared = works[0]
    shares = {"tests": shared.tests, "tools": shared.tools}
    if shared.packetdrill is not None:
        shares["packetdrill"] = shared.packetdrill.parent
    spec = LabSpec(
        pairs=0, clock=shared.clock, seed=shared.seed, memory_mib=MEMORY_MIB, main=MAIN,
        image=shared.image, kernel=shared.kernel if shared.lab == OWN else None,
        kernel_words=shared.words, shares=shares,
        hang_cpu_s=math.inf, hang_idle_s=idle_s(works),
    )  # fmt: skip
    begin = time.monotonic()
    with session(shared.lab, spec, {"job": job(works), **built_in(shared.kernel)}) as lab:
        watch = Watch(lab, shared.limit_cpu_s, lambda: begun(lab))
        complaint = ""
        try:
            for _ in lab.events(look=watch.look):
                pass
        except LabError as error:
            said = first_complaint(lab.console(200).splitlines())
            complaint = "\n".join([*said[:1], str(error), *said])
        found = outcomes(lab, works, complaint)
    host_s = time.monotonic() - begin
    return [
        replace(one, host_s=host_s, cpu_s=watch.cpu_s, tests_in_lab=len(found)) for one in found
    ]


def job(works: Sequence[Work]) -> str:
    """What `inside` is to run, as words of bash."""
    arrays = {
        "FOLDERS": [work.folder for work in works],
        "TESTS": [work.test for work in works],
        "LIMITS_S": [str(work.limit_s) for work in works],
    }
    text = "".join(f"{name}=({shlex.join(words)})\n" for name, words in arrays.items())
    if (program := works[0].packetdrill) is not None:
        text += f"PACKETDRILL={shlex.quote(program.name)}\n"
    return text


def outcomes(lab: Lab, works: Sequence[Work], complaint: str) -> list[Outcome]:
    """What the tests have left that a lab began.

    Args:
        complaint: why the lab ended early; empty if it did not. It is of the last of them.
    """
    last = min(max(begun(lab), 1), len(works)) - 1
    found = []
    for number, work in enumerate(works[: last + 1]):
        early = complaint if number == last else ""
        one = None if early else read(lab, work.limit_s, number)
        found.append(one or ended_early(lab, early or unfinished(lab), number))
    return found


def begun(lab: Lab) -> int:
    """How many tests a lab has begun."""
    with suppress(OSError), folder_of(lab) as folder:
        names = set(os.listdir(folder))
        return next(number for number in itertools.count() if str(number) not in names)
    return 0


def idle_s(works: Sequence[Work]) -> float:
    """How long the lab may do nothing, by this machine's clock [s]."""
    clock = works[0].clock
    return IDLE_S[clock] + (max(work.limit_s for work in works) if clock == "real" else 0)


def built_in(kernel: Path) -> dict[str, bytes]:
    """What modprobe needs to know of the modules that are built into a kernel, by file names."""
    places = [kernel / name for name in BUILT_IN]
    if not all(place.exists() for place in places):  # that of scripts has the whole build
        places = [kernel / "build" / name for name in BUILT_IN]
    return {place.name: place.read_bytes() for place in places if place.exists()}


def read(lab: Lab, limit_s: int, test: int) -> Outcome | None:
    """What a test of this number has left, that may have taken so long; None: it did not end."""
    words = left(lab, test, "status").split()
    try:
        begin_s, end_s = map(float, words[:2])
        tainted, status = map(int, words[2:])
    except ValueError:  # a test may have written anything there
        return None
    late = status == KILLED and end_s - begin_s >= limit_s
    said = left(lab, test, "dmesg").splitlines()
    if tainted & FAULTS and not first_complaint(said):
        said = [f"WARNING: the kernel is tainted ({tainted}), but its log has lost the message"]
    packets = recorded(lab, test)
    return Outcome(
        output=left(lab, test, "output"),
        status=TIMED_OUT if late else status,
        took_s=end_s - begin_s,
        limit_s=limit_s,
        packets=packets,
        sent=of_packets(packets),
        complaint="\n".join(first_complaint(said)),
        killed=killed(left(lab, test, "killed")),
    )


def killed(said: str) -> list[str]:
    """The names of the processes that a kernel killed because its memory was full, each once."""
    return list(dict.fromkeys(OUT_OF_MEMORY.findall(said)))


def ended_early(lab: Lab, complaint: str, test: int) -> Outcome:
    """What a test has left whose lab ended before it did."""
    packets = recorded(lab, test)
    return Outcome(
        output=left(lab, test, "output"), status=None, packets=packets, complaint=complaint
    )


def unfinished(lab: Lab) -> str:
    """Why the lab ended before its test."""
    lines = lab.console().splitlines()
    why = "; its memory was full" if OUT_OF_MEMORY.search(lab.console()) else ""
    return f"the lab ended before the test did{why}: " + " / ".join(lines[-3:])


def recorded(lab: Lab, test: int) -> dict[str, bytes]:
    """The files of packets: all of them together have at most MOST_BYTES."""
    found, rest = {}, MOST_BYTES
    with suppress(OSError), folder_of(lab, test) as folder:
        for name in sorted(name for name in os.listdir(folder) if PCAP.fullmatch(name)):
            found[name] = content(lab, test, name, rest)
            rest -= len(found[name])
            if not rest:
                break
    return found


def left(lab: Lab, test: int, name: str) -> str:
    """A text among the results, which a terminal may show; empty where there is none."""
    return printable(content(lab, test, name).decode(errors="replace"))


def content(lab: Lab, test: int, name: str, most: int = MOST_BYTES) -> bytes:
    """A file among the results, of which what runs in the lab could have made anything."""
    with (
        suppress(OSError),
        folder_of(lab, test) as folder,
        opened(Path(f"/proc/self/fd/{folder}", name)) as stream,
    ):
        found: bytes = stream.read(most)
        return found
    return b""


@contextmanager
def folder_of(lab: Lab, test: int | None = None) -> Iterator[int]:
    """The folder of the results, or of the test of this number in it, through no link.

    Raises:
        OSError: there is none.
    """
    with ExitStack() as stack:
        folder = os.open(lab.run_directory / "results", FOLDER)
        stack.callback(os.close, folder)
        if test is not None:
            folder = os.open(str(test), FOLDER, dir_fd=folder)
            stack.callback(os.close, folder)
        yield folder
