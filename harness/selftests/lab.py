# SPDX-License-Identifier: GPL-2.0-only
"""Runs one selftest in a lab that is booted for it alone: no test finds another's traces."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from harness.growing import opened
from harness.labs import Lab, LabSpec
from harness.labs.session import session
from harness.selftests.outcome import Outcome, of_packets
from plan.complaint import first_complaint
from plan.errors import LabError

MAIN = "exec bash /cellbed/harness/selftests/inside"
MOST_BYTES = 64 << 20
MEMORY_MIB = 2048
IDLE_S = 600.0  # by this machine's clock, without a sign of life in real time


@dataclass(frozen=True, kw_only=True)
class Work:
    """A test, and what its lab is made of.

    Attributes:
        folder, test: the test, its folder below tools/testing/selftests.
        limit_s: how long it may take, by the lab's clock [s].
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
        hang_idle_s=work.limit_s + IDLE_S,
    )  # fmt: skip
    text = "".join(f"{name}={shlex.quote(value)}\n" for name, value in job.items())
    with session("uml", spec, {"job": text}) as lab:
        try:
            for _ in lab.events():
                pass
        except LabError as error:
            said = first_complaint(lab.console(200).splitlines())
            complaint = "\n".join([*said[:1], str(error), *said])
            return Outcome(output=left(lab, "output"), status=None, complaint=complaint)
        return read(lab)


def read(lab: Lab) -> Outcome:
    """What a test has left."""
    words = left(lab, "status").split()
    if len(words) != len(("begin", "end", "tainted", "status")):
        return Outcome(output=left(lab, "output"), status=None, complaint=unfinished(lab))
    begin, end, _, status = words
    names = sorted(path.name for path in (lab.run_directory / "results").glob("*.pcap"))
    said = left(lab, "dmesg").splitlines()
    packets = {name: content(lab, name) for name in names}
    return Outcome(
        output=left(lab, "output"),
        status=int(status),
        took_s=float(end) - float(begin),
        packets=packets,
        sent=of_packets(packets),
        complaint="\n".join(first_complaint(said)),
    )


def unfinished(lab: Lab) -> str:
    """Why the lab ended before its test."""
    lines = lab.console().splitlines()
    return "the lab ended before the test did: " + " / ".join(lines[-3:])


def left(lab: Lab, name: str) -> str:
    """A text among the results; empty where there is none."""
    return content(lab, name).decode(errors="replace")


def content(lab: Lab, name: str) -> bytes:
    """A file among the results, of which what runs in the lab could have made anything."""
    try:
        with opened(Path(lab.run_directory, "results", name)) as stream:
            found: bytes = stream.read(MOST_BYTES)
            return found
    except OSError:
        return b""
