# SPDX-License-Identifier: GPL-2.0-only
"""Selftests in a lab: a wrong expectation fails, packets are kept and the same, a panic is told.

A program of our own stands for packetdrill: it sends packets into a network namespace of its own.
"""

from __future__ import annotations

import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs.vm import QEMU
from harness.scripts import products
from harness.selftests import lab
from harness.selftests.choice import TOP
from harness.selftests.lab import Work, run
from harness.selftests.outcome import Case, Outcome
from harness.selftests.products import tools

pytestmark = pytest.mark.lab

FOLDER = "net/ours"
RUNNER = """#!/bin/bash
echo TAP version 13
echo 1..1
unshare -n packetdrill -v "$1" > /dev/null && echo ok 1 ipv4 && exit 0
echo not ok 1 ipv4
exit 1
"""
# FILE has how many packets to send and how many it expects to have sent.
PROGRAM = """#!/usr/bin/python3 -IS
import os, socket, sys, time
os.system("ip link add d0 type dummy && ip link set d0 up && ip addr add 10.9.0.1/24 dev d0")
send, expected = map(int, open(sys.argv[-1]).read().split())
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for number in range(send):
        time.sleep(0.25)
        out.sendto(b"%d" % number, ("10.9.0.7", 9))
if send != expected:
    sys.exit(f"{sys.argv[-1]}: expected {expected} packets, but sent {send}")
"""
# As packetdrill does: it waits for ten ticks of times(2), and for 250 us of gettimeofday(2) (96).
WAITS = """#!/usr/bin/python3 -IS
import ctypes, os, sys, time
times, begin_s, end_s = 0, time.monotonic(), os.times().elapsed + 0.095
while os.times().elapsed < end_s:
    times += 1
ticks_s = time.monotonic() - begin_s
call, now, readings = ctypes.CDLL(None).syscall, (ctypes.c_long * 2)(), 0
def now_us():
    call(96, now, None)
    return now[0] * 10**6 + now[1]
begin_us = now_us()
while now_us() - begin_us < 250:
    readings += 1
print(times, ticks_s, readings, file=sys.stderr)
"""
# Zeros in the place of the C library of the first process end it, and the kernel with it.
KILL_INIT = """#!/usr/bin/python3 -IS
with open("/proc/1/maps") as maps, open("/proc/1/mem", "r+b", buffering=0) as memory:
    [line] = [line for line in maps if " r-xp " in line and "libc.so" in line]
    begin, end = (int(word, 16) for word in line.split()[0].split("-"))
    memory.seek(begin)
    memory.write(bytes(end - begin))
"""
# What a machine's udev makes in /dev, and <(COMMAND) needs.
OPENS = """#!/bin/bash -e
cmp <(echo one) <(echo one)
[ "$(echo in | cat /dev/stdin; echo out > /dev/stdout)" = "in
out" ]
[ "$( (echo wrong > /dev/stderr) 2>&1)" = wrong ]
"""
# Opening a file anew would cut off what the test has said before, where its output is a file.
SPEAKS_BY_NAME = """#!/bin/bash
echo first
echo second > /dev/stderr
echo third > /dev/stdout
echo fourth
"""
# In the place of a dummy.
VETH = "type veth peer name d1 && ip link set d1 up && ip link set d0 arp off"
TESTS = {
    "ksft_runner.sh": RUNNER,
    "right.pkt": "3 3",
    "wrong.pkt": "3 4",
}
NSTAT = """#!/bin/sh -e
export NSTAT_HISTORY=/tmp/history
nstat -n
nstat -z IpInReceives
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A tree with a runner and tests, and a program for it."""
    folder = tmp_path_factory.mktemp("selftests")
    place = folder / "tree" / TOP / FOLDER
    place.mkdir(parents=True)
    for name, text in TESTS.items():
        (place / name).write_text(text)
    (place / "ksft_runner.sh").chmod(0o755)
    program = folder / "program" / "drill"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return Work(
        folder=FOLDER, test="right.pkt", limit_s=60, clock="virtual", seed=1,
        image=products.image()[1], kernel=products.kernel(), words=products.WORDS,
        tests=folder / "tree", tools=tools(), packetdrill=program,
    )  # fmt: skip


def times_s(content: bytes) -> list[float]:
    """When the packets of a pcap file with nanoseconds were sent, from the first on [s]."""
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHIIII", content)
    assert (magic, link) == (0xA1B23C4D, 276)
    at, found = 24, []
    while at < len(content):
        s, ns, kept, _ = struct.unpack_from("<IIII", content, at)
        if content[at + 16 : at + 18] in (b"\x08\x00", b"\x08\x06"):  # IPv4 and ARP
            found.append(s + ns / 1e9)
        at += 16 + kept
    return [round(one - found[0], 9) for one in found]


def test_what_a_script_expects_decides_and_packets_are_the_same_again(work: Work) -> None:
    def ran(test: str) -> Outcome:
        [outcome] = run([replace(work, test=test)])
        return outcome

    right, again, wrong = ran("right.pkt"), ran("right.pkt"), ran("wrong.pkt")
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert wrong.cases == [Case(name="ipv4", verdict="fail")]
    assert wrong.why == "./wrong.pkt: expected 4 packets, but sent 3"
    assert right.took_s == pytest.approx(0.75, abs=0.02)
    assert (again.said, again.packets) == (right.said, right.packets)
    times = times_s(right.packets["1.pcap"])
    assert len(times) >= 3 and {0.0, 0.25, 0.5} <= {round(one, 2) for one in times}


def test_loops_that_wait_for_the_clock_make_few_calls(work: Work, tmp_path: Path) -> None:
    (tmp_path / "drill").write_text(WAITS)
    (tmp_path / "drill").chmod(0o755)
    [found] = run([replace(work, packetdrill=tmp_path / "drill")])
    times, ticks_s, readings = map(float, found.output.splitlines()[2].split())
    assert 8 <= times <= 12 and ticks_s == pytest.approx(0.1, abs=0.011), found.output
    assert 20 <= readings <= 50, found.output


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/bin/sh\nexec /run/tools/power-off\n", "the lab ended before the test did"),
        ("#!/bin/sh\nexec sleep 100000\n", "it reached its limit"),
        ("#!/bin/sh\nwhile :; do :; done\n", "it has used "),
        ("#!/bin/bash\nb() { b | b & }\nb\nwhile :; do :; done\n", "it has used "),
        (KILL_INIT, "Kernel panic - not syncing: Attempted to kill init!"),
    ],
)
def test_an_early_end_is_a_failure_and_told(
    work: Work, tmp_path: Path, script: str, why: str
) -> None:
    found = ended(work, tmp_path, script, limit_cpu_s=8)
    assert found.verdict == "fail" and found.why.startswith(why), found


def test_a_test_finds_its_open_files_in_dev(work: Work, tmp_path: Path) -> None:
    found = ended(work, tmp_path, OPENS, limit_cpu_s=60)
    assert found.verdict == "pass", found.output


def test_what_a_test_says_by_the_names_in_dev_keeps_the_rest(work: Work, tmp_path: Path) -> None:
    outcome = ended(work, tmp_path, SPEAKS_BY_NAME, 300)
    assert (outcome.verdict, outcome.output) == ("pass", "first\nsecond\nthird\nfourth\n")


def test_nstat_takes_no_file_of_a_test_for_one_from_before_the_boot(
    work: Work, tmp_path: Path
) -> None:
    found = ended(work, tmp_path, NSTAT, limit_cpu_s=60)
    assert "aged out" not in found.output and "IpInReceives" in found.output, found


def test_a_test_that_fills_the_memory_is_told(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "MEMORY_MIB", 256)  # a process that fills 2 GiB needs many mappings
    found = ended(work, tmp_path, "#!/bin/sh\nexec tail /dev/zero\n", limit_cpu_s=60)
    assert found.why == "the lab's memory was full, so its kernel killed tail", found


def ended(work: Work, tree: Path, script: str, limit_cpu_s: float) -> Outcome:
    """A run of a test that is this script."""
    place = tree / TOP / FOLDER
    place.mkdir(parents=True)
    (place / "ends.py").write_text(script)
    (place / "ends.py").chmod(0o755)
    one = replace(work, tests=tree, test="ends.py", limit_s=2, limit_cpu_s=limit_cpu_s)
    [outcome] = run([one])
    return outcome


@pytest.mark.skipif(
    not (paths.places()["vm"] / "complete").exists() or shutil.which(QEMU) is None,
    reason="the vm lab is not set up: lab/setup --vm",
)
def test_debians_own_kernel_runs_scripts_too(work: Work, tmp_path: Path) -> None:
    """Both in one lab, each in its namespaces: the second finds no device of the first."""
    (work.tests / TOP / "kselftest").mkdir(exist_ok=True)
    drill = tmp_path / "drill"
    # Else Python leaves compiled modules behind; and this kernel has no dummy.
    drill.write_text(PROGRAM.replace("-IS", "-ISB").replace("type dummy", VETH))
    drill.chmod(0o755)
    stock = replace(
        work, lab="vm", clock="real", kernel=paths.stock_kernel(), image=vm_image(),
        packetdrill=drill,
    )  # fmt: skip
    right, wrong = run([stock, replace(stock, test="wrong.pkt")])
    assert (right.verdict, wrong.verdict) == ("pass", "fail"), (right, wrong)
    assert wrong.why == "./wrong.pkt: expected 4 packets, but sent 3"
    times = times_s(right.packets["1.pcap"])
    assert len(times) >= 3 and times[-1] >= 0.5


def vm_image() -> Path:
    """The image of scripts, with its disk beside it."""
    return products.require("vm", "real", ()).image
