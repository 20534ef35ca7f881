# SPDX-License-Identifier: GPL-2.0-only
"""Which lines of what commands say are noted: what the lab lacks and nothing else. No lab."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.small import PROJECT

FILE = PROJECT / "lab/mininet/files/usr/lib/python3/dist-packages/mininet/missed.py"
NOTED = [
    ("bash: vconfig: command not found", "command", "vconfig"),
    ("bash: line 3: vconfig: command not found", "command", "vconfig"),
    ("./run.sh: line 3: nmap: command not found", "command", "nmap"),
    ("sh: 1: ITGSend: not found", "command", "ITGSend"),
    ("/bin/sh: 1: ITGSend: not found", "command", "ITGSend"),
    ("sudo: dhcpd: command not found", "command", "dhcpd"),
    ("nohup: failed to run command 'named': No such file or directory", "command", "named"),
    ("\x1b[1;35mModuleNotFoundError\x1b[0m: \x1b[35mNo module named 'polars'\x1b[0m", "python",
     "polars"),
    ("/usr/bin/python: No module named SimpleHTTPServer", "python", "SimpleHTTPServer"),
    ("sysctl: cannot stat /proc/sys/net/ipv4/x: No such file or directory", "sysctl", "net/ipv4/x"),
    ("modprobe: FATAL: Module tcp_probe not found in directory /lib/modules/6.12.117", "module",
     "tcp_probe"),
    ("RTNETLINK answers: Operation not supported", "refused", "Operation not supported"),
    ("ping: socket: Address family not supported by protocol", "refused",
     "Address family not supported by protocol"),
]  # fmt: skip
# What Mininet and scripts meet on any machine.
HARMLESS = [
    'Cannot find device "s1-eth1"',
    "RTNETLINK answers: File exists",
    "RTNETLINK answers: No such file or directory",
    "RTNETLINK answers: No such process",
    "Error: Cannot delete qdisc with handle of zero.",
    "SIOCADDRT: File exists",
    "SIOCDELRT: No such process",
    "h1-eth7: ERROR while getting interface flags: No such device",
    "cat: nofile: No such file or directory",
    "bash: cd: /nowhere: No such file or directory",
    "bash: ./in: No such file or directory",  # which a command reads
    "host not found",
    "HTTP/1.0 404 File not found",
    "iperf: command not found in the manual",
    "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.03 ms",
]


@pytest.fixture
def missed(tmp_path: Path) -> Any:
    """The module, writing to a file of the test."""
    names = runpy.run_path(str(FILE))
    names["note"].__globals__["NOTES"] = str(tmp_path / "notes")
    (tmp_path / "notes").touch()
    return SimpleNamespace(**names, notes=tmp_path / "notes")


@pytest.mark.parametrize(("line", "kind", "name"), NOTED)
def test_what_the_lab_lacks_is_noted(missed: Any, line: str, kind: str, name: str) -> None:
    missed.look(line, ["a", "command"])
    assert missed.notes.read_text() == f"{kind}\t{name}\ta command\n"


@pytest.mark.parametrize("line", HARMLESS)
def test_what_happens_on_any_machine_is_not(missed: Any, line: str) -> None:
    missed.look(line, "cat < ./in")
    assert missed.notes.read_text() == ""


def test_a_program_with_its_folder_is_told_from_a_file(missed: Any) -> None:
    missed.look("bash: ./stp: No such file or directory", "cd /tmp; ./stp > log &")
    assert missed.notes.read_text().startswith("program\t./stp\t")


@pytest.mark.parametrize("command", ["zebra -d > logs/r1 2>&1", 'x >> "logs/r1"', "x 2>logs/r1"])
def test_a_command_whose_output_has_no_folder_is_not_run(missed: Any, command: str) -> None:
    missed.look("bash: logs/r1: No such file or directory", command)
    assert missed.notes.read_text() == f"unwritten\tlogs/r1\t{command}\n"


def test_an_error_of_mininet_is_told_and_noted(missed: Any) -> None:
    told: list[tuple[object, ...]] = []
    missed.telling(lambda *said: told.append(said))("*** Error: no such\tlink:", "s1\nand more\n")
    assert told == [("*** Error: no such\tlink:", "s1\nand more\n")]
    assert missed.notes.read_text() == "error\tError: no such link: s1\t\n"


def test_a_line_that_comes_in_pieces_is_one(missed: Any) -> None:
    node = SimpleNamespace(lastCmd="vconfig add h1-eth0 10")
    for piece in ("bash: vcon", "fig: command not", " found\r\nbash: x: command"):
        missed.listen(node, piece)
    assert missed.notes.read_text() == "command\tvconfig\tvconfig add h1-eth0 10\n"


class Shell:
    """A node whose last command ended with a status."""

    def __init__(self, status: int) -> None:
        self.name, self.lastCmd, self.silent, self.status = "h1", "", True, status

    def cmd(self, text: str) -> str:
        assert text == "echo $?"
        return f"{self.status}\r\n"


@pytest.mark.parametrize(
    ("said", "status", "note"),
    [
        ("\x0117\n\r\n\x7f", 28, "silent\t28\th1 curl -s h2\n"),
        ("\x0117\n\r\n\x7f", 0, ""),
        ("curl: (28) Timeout\r\n", 28, ""),
    ],
)
def test_a_command_that_fails_in_silence_is_noted(
    missed: Any, said: str, status: int, note: str
) -> None:
    node = Shell(status)
    missed.listen(node, said)
    missed.failed(node, "curl -s h2")
    assert missed.notes.read_text() == note


@pytest.mark.parametrize(
    ("name", "note"), [("add_link", "mininet\tadd_link\taddLink()\n"), ("g", "")]
)
def test_a_name_of_mininet_1_is_noted(missed: Any, name: str, note: str) -> None:
    error = missed.old_name(missed, name)
    assert (error.name, str(error)) == (name, f"'SimpleNamespace' object has no attribute '{name}'")
    assert missed.notes.read_text() == note
