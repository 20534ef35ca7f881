# SPDX-License-Identifier: GPL-2.0-only
"""Mininet's mn and scripts in a lab: what they say, leave and write, and what bounds them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.test_shell import Person
from tests.small import PROJECT

pytestmark = pytest.mark.lab

LIMIT_S = 600.0
NETWORK = """
import random, sys
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), link=TCLink, waitConnected=True)
net.start()
one, two = net.hosts
print(one.cmd("ping -c 2", two.IP()))
open("seen", "w").write(f"{random.random()} {two.cmd('ip neigh')} {open('input.txt').read()}")
open("/tmp/also", "w").write(sys.argv[1])
print(sys.stdin.read(), file=sys.stderr)
net.stop()
sys.exit(7)
"""
BAD = {
    "raises": ("raise ValueError('a mistake')", 1, "ValueError: a mistake"),
    "hangs": ("import time; time.sleep(1e9)", 4, "ended: 9 s of the lab's clock were over"),
    "spins": ("while True: pass", 4, " s and said nothing: hung"),
    "forks": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        4, "said nothing: hung; it had 1",  # and some more
    ),
    "fills": (
        "with open('big', 'wb') as file:\n    while True: file.write(bytes(65536))",
        1, "cellbed: its folder is full: --disk 8 [MiB]",
    ),
}  # fmt: skip
BOUNDS = ["--limit", "9", "--processes", "150", "--disk", "8"]


def cellbed(folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *words], input=text, capture_output=True, text=True,
        timeout=LIMIT_S, cwd=folder, env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip


def test_all_hosts_of_a_tree_answer(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--topo", "tree,2", "--test", "pingall")
    assert done.returncode == 0, done.stderr
    assert "0% dropped (12/12 received)" in done.stderr  # where Mininet logs


def test_the_prompt_reads_what_is_not_a_terminal(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--switch", "ovsbr", text="h1 ping -c 1 h2\nh1 ip route\n")
    assert done.returncode == 0, done.stderr
    assert "1 received" in done.stderr and "10.0.0.0/8" in done.stderr


def test_a_person_has_the_prompt(tmp_path: Path) -> None:
    person = Person(tmp_path, sys.executable, "-m", "harness", "mn", "--switch", "ovsbr")
    try:
        person.wait_for("mininet> ")
        person.type("h1 ping h2\n")
        person.wait_for("icmp_seq=2 ")
        person.type("\x03")
        person.wait_for("mininet> ")
        person.type("exit\n")
        assert person.process.wait(timeout=LIMIT_S) == 0
    finally:
        person.close()


def test_a_script_repeats_byte_for_byte_until_the_seed_changes(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "network.py").write_text(NETWORK)
    (tmp_path / "code" / "input.txt").write_text("from its folder")
    said = {}
    for name, seed in (("one", "1"), ("two", "1"), ("three", "2")):
        done = cellbed(
            tmp_path, "mininet", "--seed", seed, "--out", name, "code/network.py", "a word",
            text="from outside",
        )  # fmt: skip
        assert done.returncode == 7, done.stderr
        assert "2 received" in done.stdout and "from outside" in done.stderr
        seen = (tmp_path / name / "work" / "seen").read_text()
        assert "from its folder" in seen
        assert (tmp_path / name / "tmp" / "also").read_text() == "a word"
        said[name] = (done.stdout, done.stderr, seen)
    assert said["one"] == said["two"] and said["one"][2] != said["three"][2]
    assert sorted(os.listdir(tmp_path / "code")) == ["input.txt", "network.py"]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_script_ends_with_a_sentence(tmp_path: Path, name: str) -> None:
    code, status, sentence = BAD[name]
    (tmp_path / "bad.py").write_text(code)
    done = cellbed(tmp_path, "mininet", *BOUNDS, "bad.py")
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr.splitlines()[-1]


SERVICES = """#!/bin/sh
sudo -n true
controller ptcp: & /usr/sbin/sshd -D &
sleep 1
ss -ltn | awk '{print $4}'
ssh-keyscan 127.0.0.1
"""


def test_services_that_scripts_start(tmp_path: Path) -> None:
    """The reference controller at its own port; sshd; sudo, which asks for the machine's name."""
    (tmp_path / "services.sh").write_text(SERVICES)
    done = cellbed(tmp_path, "mininet", "services.sh")
    assert "0.0.0.0:6633" in done.stdout and "0.0.0.0:22" in done.stdout
    assert "127.0.0.1 ssh-ed25519 " in done.stdout, done.stderr
    assert "unable to resolve" not in done.stderr


def test_a_processor_of_which_a_host_has_a_share(tmp_path: Path) -> None:
    code = "from mininet.node import CPULimitedHost\nCPULimitedHost('h1', cpu=.5).configDefault()"
    (tmp_path / "share.py").write_text(code)
    done = cellbed(tmp_path, "mininet", "share.py")
    assert done.returncode == 0
    assert "CPULimitedHost: this lab has no control groups" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mininet", "absent.py"], "absent.py: no such file"),
        (["mininet", "--package", "no/name", "here.py"], "--package no/name: not the name"),
        (["mininet", "--out", "full", "here.py"], "--out full: holds something"),
        (["mn", "--limit", "0", "--test", "none"], "'--limit'"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "here.py").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    done = cellbed(tmp_path, *words)
    assert done.returncode == 2
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1
