# SPDX-License-Identifier: GPL-2.0-only
"""The shell: a file of commands is run line by line, a person can interrupt what he began."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.small import PROJECT

pytestmark = pytest.mark.lab

FILE = PROJECT / "studies" / "instrument" / "three-labs.toml"
LABS = ["uml"]
LIMIT_S = 300.0
LINES = """
c1 ping -c 1 s1
# said before: nobody
c1 cat - | wc -c &
nonsense
py 1 / 0
sh printf 'no end'
c2 ping -c 2 -i 0.2 s2
sh tc qdisc show dev sw2-sat
pingall
exit
sh echo never
"""


def argv(lab: str) -> list[str]:
    return [sys.executable, "-m", "harness", "shell", str(FILE), "--lab", lab]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT)}


@pytest.mark.parametrize("lab", LABS)
def test_every_line_of_a_file_is_run(tmp_path: Path, lab: str) -> None:
    done = subprocess.run(
        argv(lab), input=LINES, capture_output=True, text=True, timeout=LIMIT_S,
        cwd=tmp_path, env=environment(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stdout
    wanted = ["1 received", "*** Unknown command: nonsense", "division by zero", "no endPING",
              "2 received", "qdisc clsact", "c1 -> s1", "s1 -> c1", "s5 -> c5",
              "*** 10 of 10 pings were answered"]  # fmt: skip
    places = [said.find(words) for words in wanted]
    assert -1 not in places and places == sorted(places), said
    assert "never" not in said and "mininet>" not in said and "\r" not in said
    assert len(done.stderr.splitlines()) == 1


WEB = PROJECT / "studies" / "web_2003" / "web-small.toml"
# Nobody listens there: a SYN and its answer have passed both queues.
CONNECT = "c1 bash -c 'exec 3<>/dev/tcp/$0/9' s1"


def test_packets_pass_a_queue_of_packets_before_round_trips_of_connections(tmp_path: Path) -> None:
    done = subprocess.run(
        [*argv("uml")[:-3], str(WEB)], input=f"{CONNECT}\nsh tc qdisc show dev sw2-sat\n",
        capture_output=True, text=True, timeout=LIMIT_S, cwd=tmp_path, env=environment(),
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Connection refused" in done.stdout and "qdisc pfifo" in done.stdout
    assert done.stderr.splitlines()[1:] == [
        "in a trial the workload adds a round trip to each connection; here all have only "
        "topology.delay_us = 0"
    ]


class Person:
    """Somebody at a terminal of his own."""

    def __init__(self, cwd: Path, *argv: str) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment()
        )
        os.close(theirs)
        self.seen = ""

    def wait_for(self, pattern: str) -> None:
        """Read on until a pattern has come, and forget what was before its end."""
        end = time.monotonic() + LIMIT_S
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < end, self.seen
            self.seen += os.read(self.ours, 65536).decode(errors="replace")
        self.seen = self.seen[found.end() :]

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


@pytest.mark.parametrize("lab", LABS)
def test_a_person_interrupts_a_command_and_goes_on(tmp_path: Path, lab: str) -> None:
    person = Person(tmp_path, *argv(lab))
    try:
        person.wait_for("mininet> ")
        person.type("c1 ping s1\n")
        person.wait_for("icmp_seq=2 ")
        person.type("\x03")
        person.wait_for(r"(\d+) received")
        person.wait_for("mininet> ")
        person.type("c2 ping -c 1 s2\n")
        person.wait_for("1 received")
        person.wait_for("mininet> ")
        person.type("exit\n")
        assert person.process.wait(timeout=LIMIT_S) == 0
    finally:
        person.close()
