# SPDX-License-Identifier: GPL-2.0-only
"""Mininet's mn and scripts in a lab: what they say, leave and write, and what bounds them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.host import paths
from harness.scripts import products
from tests.labs.test_shell import Person
from tests.read_only import read_only
from tests.small import PROJECT

pytestmark = pytest.mark.lab

LIMIT_S = 600.0
NETWORK = """
import os, random, sys
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), link=TCLink, waitConnected=True)
net.start()
one, two = net.hosts
print(one.cmd("ping -c 2", two.IP()))
open("seen", "w").write(f"{random.random()} {two.cmd('ip neigh')} {open('input.txt').read()}")
open("/tmp/also", "w").write(sys.argv[1])
os.mkdir("/tmp/mounted")
assert os.system("mount -t tmpfs none /tmp/mounted && touch /tmp/mounted/inside") == 0
print(sys.stdin.read(), file=sys.stderr)
net.stop()
sys.exit(7)
"""
BAD = {
    "raises": ("raise ValueError('a mistake')", 1, "ValueError: a mistake"),
    "hangs": ("import time; time.sleep(1e9)", 4, "ended: it reached its limit of 9 s of the lab"),
    "spins": ("while True: pass", 4, " s and said nothing: hung"),
    "forks": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        4, "ended: it had 1",  # and some more, of 150 processes
    ),
    "fills": (
        "with open('big', 'wb') as file:\n    while True: file.write(bytes(65536))",
        1, "cellbed: its folder is full in the lab (8 MiB); --disk MIB gives more",
    ),
}  # fmt: skip
BOUNDS = ["--limit", "9", "--processes", "150", "--disk", "8"]


def write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def cellbed(
    folder: Path, *words: str, text: str = "", before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "harness", *words],
        input=text, capture_output=True, text=True, timeout=LIMIT_S, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip


def without_silence(text: str) -> str:
    """What is the same on every machine: on a busy one a script says nothing for longer."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("cellbed: no output for "))


def test_all_hosts_of_a_tree_answer(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--topo", "tree,2", "--test", "pingall")
    assert done.returncode == 0, done.stderr
    assert "0% dropped (12/12 received)" in done.stderr  # where Mininet logs


def test_a_network_can_be_started_twice(tmp_path: Path) -> None:
    """mn's test "all" does so."""
    words = ["--topo", "single,2", "--link", "tc,bw=10", "--test", "all", "--limit", "60"]
    done = cellbed(tmp_path, "mn", *words)
    assert done.returncode == 0, done.stderr
    assert "*** Results: 0% dropped (2/2 received)" in done.stderr
    assert "completed in " in done.stderr


def test_the_prompt_reads_what_is_not_a_terminal(tmp_path: Path) -> None:
    done = cellbed(tmp_path, "mn", "--switch", "ovsbr", text="h1 ping -c 1 h2\nh1 ip route\n")
    assert done.returncode == 0, done.stderr
    assert "1 received" in done.stderr and "10.0.0.0/8" in done.stderr


PROMPT = """
import sys
from mininet.cli import CLI
from mininet.log import setLogLevel
from mininet.net import Mininet

setLogLevel("info")
net = Mininet(controller=None)
net.addLink(net.addHost("h1"), net.addHost("h2"))
if sys.argv[1:]:
    net.start()
    CLI(net, script=sys.argv[1])
    net.stop()
else:
    net.interact()
"""
# More of them than Python reads at a time. Were they a node's input, cat would have them.
COMMANDS = "h1 ping -c 2 h2\nh2 sleep 2 &\nh2 wait\n" + "# a comment\n" * 2000 + "h1 echo is next\n"
PERSON = """
import pexpect, sys
person = pexpect.spawn("python3 prompt.py", logfile=sys.stdout.buffer)
person.expect("mininet> ")
person.sendline("h1 cat")
for key in "a word\\n":
    person.send(key)
person.expect("a word.*a word")
person.sendcontrol("c")
for line in ("h1 ping -c 2 h2", "h1 echo is next"):
    person.expect("mininet> ")
    person.sendline(line)
person.expect("mininet> ")
person.sendeof()
person.expect(pexpect.EOF)
"""
ASKED = {
    "its own": "python3 prompt.py",
    "a file": "python3 prompt.py < commands",
    "a pipe": "cat commands | python3 prompt.py",
    "a pipe that stays": "(head -1 commands; tail -1 commands; sleep 9) | python3 prompt.py",
    "a script": "python3 prompt.py commands < /dev/null",
    "a person": "python3 person.py",
}


def test_the_prompt_waits_for_its_nodes_whatever_its_input_is(tmp_path: Path) -> None:
    lines = [f"{command} > '{name}' 2>&1" for name, command in ASKED.items()]
    write(tmp_path / "theirs", {
        "prompt.py": PROMPT, "commands": COMMANDS, "person.py": PERSON, "all.sh": "\n".join(lines),
    })  # fmt: skip
    words = ["mininet", "--limit", "120", "--out", "out", "theirs/all.sh"]
    done = cellbed(tmp_path, *words, text=COMMANDS)
    assert done.returncode == 0, done.stderr
    for name in ASKED:
        said = (tmp_path / "out" / "work" / name).read_text()
        assert "2 received" in said and "is next" in said, (name, said)


RULES = """
import subprocess, time
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), waitConnected=True)
net.start()
one, two = net.hosts
switch = net.switches[0]

def answered():
    return one.cmd(f"ping -c 1 -W 1 {two.IP()}").count("1 received")

def sh(command):
    subprocess.run(command, shell=True, check=True)

answered()
for count in range(20):
    time.sleep(count * 0.0007)
    seen = [answered()]
    sh("ovs-ofctl add-flow s1 priority=65000,icmp,actions=drop")
    seen.append(answered())
    switch.dpctl("del-flows", "icmp")
    seen.append(answered())
    print(*seen)
switch.dpctl("add-flow", "priority=65000,actions=NORMAL")
for count in range(5):
    seen = [answered()]
    sh("ovs-vsctl set port s1-eth1 tag=5")
    seen.append(answered())
    sh("ovs-vsctl remove port s1-eth1 tag 5")
    seen.append(answered())
    print(*seen)
net.stop()
"""


def test_the_next_packet_meets_what_a_script_changed_at_a_switch(tmp_path: Path) -> None:
    write(tmp_path, {"rules.py": RULES})
    done = cellbed(tmp_path, "mininet", "rules.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1 0 1"] * 25


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
        assert not (tmp_path / name / "tmp" / "mounted").exists()
        said[name] = (done.stdout, without_silence(done.stderr), seen)
    assert said["one"] == said["two"] and said["one"][2] != said["three"][2]
    assert sorted(os.listdir(tmp_path / "code")) == ["input.txt", "network.py"]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_script_ends_with_a_sentence(tmp_path: Path, name: str) -> None:
    code, status, sentence = BAD[name]
    (tmp_path / "bad.py").write_text(code)
    done = cellbed(tmp_path, "mininet", *BOUNDS, "bad.py")
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr.splitlines()[-1]
    assert done.stderr.count("virtual time stands still at ") == (name == "spins")


SPINS = """
import subprocess, time
time.sleep(2.5)
subprocess.run(["python3", "-c", "while True: pass"])
"""


def until(folder: Path, words: Sequence[str], *texts: str) -> list[str]:
    """The first lines with these texts, in their order, on standard error of a command that Ctrl-C
    then ends.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "harness", *words], cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & ignores it
    ) as running:  # fmt: skip
        assert running.stderr is not None
        found = [next(line for line in running.stderr if text in line) for text in texts]
        ended = running.poll()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=LIMIT_S)
    assert (ended, running.returncode) == (None, 130)
    return found


def test_a_program_that_stops_the_clock_is_named_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "spins.py").write_text(SPINS)
    said, silent = until(tmp_path, ["mininet", "spins.py"], "stands still", "no output for ")
    assert "because the program python3 -c while True: pass computes without waiting" in said
    assert "; the lab's clock: 2.6 s; busiest program: python3 -c while True: pass" in silent


def test_a_storm_is_named_at_once_though_switches_ask_a_controller(tmp_path: Path) -> None:
    """Half of the packets are these questions. On a busy machine a tenth of a second takes long."""
    words = ["mn", "--topo", "torus,3,3", "--test", "pingall"]
    [said] = until(tmp_path, words, "broadcast storm")
    assert said.startswith("cellbed: broadcast storm at 0.")


# Nothing here waits: a sender without a queue, a start of a program, and a question asked again.
BUSY = """
import re, socket, subprocess, time
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), waitConnected=True)
net.start()
one, two = net.hosts
pings = re.findall(r"time=([0-9.]+) ms", one.cmd("ping -c 4 -i 0.2", two.IP()))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin = time.time()
for _ in range(10000):
    sender.sendto(b"x", ("127.0.0.1", 9))
sent = time.time() - begin
begin = time.time()
subprocess.check_call(["true"])
print(*pings[1:], sent, time.time() - begin)
net.stop()
"""


def test_computing_takes_the_time_of_a_real_machine(tmp_path: Path) -> None:
    write(tmp_path / "busy", {"busy.py": BUSY})
    ran = cellbed(tmp_path / "busy", "mininet", "busy.py")
    assert ran.returncode == 0, ran.stderr
    *pings, sent, started = map(float, ran.stdout.split())
    assert all(0.03 <= ms <= 0.1 for ms in pings), pings
    assert 0.05 <= sent <= 0.1  # 5 us for a call of Python at least, and 1 us for a packet
    assert 0.001 <= started <= 0.01


SERVICES = """#!/bin/sh
sudo -n true
controller ptcp: & /usr/sbin/sshd -D &
sleep 1
ss -ltn | awk '{print $4}'
ssh-keyscan 127.0.0.1
"""


@pytest.mark.parametrize("words", [["mininet", "here.py"], ["mn", "--test", "none"]])
def test_a_cache_that_cannot_be_written_serves_scripts(tmp_path: Path, words: list[str]) -> None:
    """As docs/guides/classroom.md shares what set-up and a first script made."""
    (tmp_path / "here.py").write_text("print('it ran')")
    products.require("uml", "virtual", [])
    cache = paths.places()["cache"]
    done = cellbed(tmp_path, *words, before=read_only(cache))
    assert done.returncode == 0, done.stderr
    assert "it ran" in done.stdout or "completed in" in done.stderr


def test_services_that_scripts_start(tmp_path: Path) -> None:
    """The reference controller at its own port; sshd; sudo, which asks for the machine's name."""
    (tmp_path / "services.sh").write_text(SERVICES)
    done = cellbed(tmp_path, "mininet", "services.sh")
    assert "0.0.0.0:6633" in done.stdout and "0.0.0.0:22" in done.stdout
    assert "127.0.0.1 ssh-ed25519 " in done.stdout, done.stderr
    assert "unable to resolve" not in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mininet", "absent.py"], "absent.py: this file does not exist"),
        (["mininet", "--package", "no/name", "here.py"], "--package no/name is not the name"),
        (["mininet", "--python2", "--lab", "native", "here.py"], "--lab native is this machine"),
        (["mininet", "--out", "full", "here.py"], "--out full: this folder is not empty"),
        (
            ["mininet", "--out", "here.py/x", "here.py"],
            "--out here.py/x: this folder cannot be written",
        ),
        (["mininet", "--out", "here.py", "here.py"], "--out here.py: this is a file"),
        (["mininet", "pipe.py"], "pipe.py: this is a pipe or a device"),
        (["mininet", "--seeds", "3", "here.py"], "no such option '--seeds'"),
        (["mininet", "--limit", "nan", "here.py"], "'--limit': 'nan' is not a number"),
        (["mn", "--limit", "0", "--test", "none"], "'--limit'"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "here.py").write_text("")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    done = cellbed(tmp_path, *words)
    assert done.returncode == 2
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1
