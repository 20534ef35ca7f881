# SPDX-License-Identifier: GPL-2.0-only
"""What a selftest has said: its KTAP, its verdict, its packets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# What the exit status of a selftest says (tools/testing/selftests/kselftest.h).
SKIPPED = 4
TIMED_OUT = 124
UPTIME_S = 0.02  # the error of a duration between two times of /proc/uptime
LINE = re.compile(r"(not )?ok (\d+)(?: -)? ([^#]*?)\s*(?:# *(.*))?$")
# Of what a test says, what tells of a failure; the rest names what goes well.
FAULT = re.compile(r"\b(FAIL(ED)?|ERROR|[Ee]rror|Exception)\b|not found|No such file")
SKIP = re.compile("skip", re.IGNORECASE)
NO_REASON = re.compile(r"K?TAP version|1\.\.|#(?! Exception\| \w+: )")
DIGITS = 16
MOST_SAID = 300  # characters of a line, which a test may make of any length
VERDICTS = ("pass", "fail", "skip")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A line of a test's own KTAP."""

    name: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run of one test.

    Attributes:
        output: what it said, both streams.
        status: its exit status; None: the lab ended before it did.
        took_s: by the lab's clock.
        limit_s: after which the runner ends a test, by the lab's clock.
        packets: of each run of packetdrill, a pcap file.
        sent: a digest of all packets and their times.
        complaint: what the kernel or the lab said, where that is a fault in itself.
        killed: names of processes that the lab's kernel killed because its memory was full.
        host_s, cpu_s: of its lab, by this machine's clock and of its processors [s].
        tests_in_lab: how many tests this lab ran, one after another.
    """

    output: str
    status: int | None
    took_s: float = 0.0
    limit_s: int = 0
    packets: Mapping[str, bytes] = field(default_factory=dict)
    complaint: str = ""
    sent: str = ""
    killed: Sequence[str] = ()
    host_s: float = 0.0
    cpu_s: float = 0.0
    tests_in_lab: int = 1

    @property
    def verdict(self) -> str:
        """pass, fail or skip."""
        if self.complaint or self.status is None:
            return "fail"
        return {0: "pass", SKIPPED: "skip"}.get(self.status, "fail")

    @property
    def timed_out(self) -> bool:
        """Did the runner end it? A test may end with the same status by itself."""
        return self.status == TIMED_OUT and self.took_s >= self.limit_s - UPTIME_S

    @property
    def cases(self) -> list[Case]:
        """Those that it names itself."""
        found = map(LINE.match, self.output.splitlines())
        return [case(match) for match in found if match]

    @property
    def left_out(self) -> str:
        """What a test that passed says it has skipped, first; empty if it says nothing of this."""
        return next((line for line in self.output.splitlines() if SKIP.search(line)), "")

    @property
    def why(self) -> str:
        """The first thing that was said of a failure, shortened; of many the first."""
        told = self._why
        return told if len(told) <= MOST_SAID else f"{told[: MOST_SAID - 3]}..."

    @property
    def _why(self) -> str:
        if self.complaint:
            return self.complaint.splitlines()[0]
        if self.killed and self.verdict == "fail":
            names = ", ".join(self.killed)
            return f"the lab's memory was full, so its kernel killed {names}"
        said = [line for line in self.output.splitlines() if not LINE.match(line)]
        told = [line for line in said if line.strip() and not NO_REASON.match(line)]
        if self.timed_out:
            last = f"; it said last: {told[-1]}" if told else ""
            return f"it reached its limit{last}"
        wanted = SKIP if self.status == SKIPPED else FAULT
        faults = [line for line in told if wanted.search(line)]
        return [*faults, *told, f"exit status {self.status}"][0]

    def differences(self, other: Outcome) -> list[str]:
        """In what another run of the test differs: output (with its verdict), duration, packets."""
        compared = {
            "output": (self.said, other.said),
            "duration": (f"{self.took_s:.2f}", f"{other.took_s:.2f}"),
            "packets": (self.sent, other.sent),
        }
        return [what for what, (ours, theirs) in compared.items() if ours != theirs]

    @property
    def said(self) -> str:
        """A digest of the verdict and all that was said."""
        return digest(f"{self.status} {self.complaint}\n{self.output}".encode())


def case(match: re.Match[str]) -> Case:
    """What a line says, whose directive may be SKIP or XFAIL."""
    failed, _, name, directive = match.groups()
    word = (directive or "").upper()
    if word.startswith("SKIP"):
        return Case(name=name, verdict="skip")
    expected = word.startswith("XFAIL")
    return Case(name=name, verdict="fail" if failed and not expected else "pass")


def printable(text: str) -> str:
    """A text of lines, in which what else would steer a terminal is written as an escape."""
    return "".join(
        x if x.isprintable() or x in "\n\t" else x.encode("unicode_escape").decode() for x in text
    )


def of_packets(packets: Mapping[str, bytes]) -> str:
    """A digest of all packets and their times."""
    return digest(b"".join(name.encode() + x for name, x in sorted(packets.items())))


def digest(content: bytes) -> str:
    """Short enough for a table."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]
