# SPDX-License-Identifier: GPL-2.0-only
"""A program that waits in a loop comes to its time, by whatever it waits (patch 0004)."""

from __future__ import annotations

import pytest

from tests import scripts_in_lab

pytestmark = pytest.mark.lab

# Each loops until virtual time has come to something; no loop sleeps or reads a clock that counts.
WAITS = {
    "times": "until = os.times().elapsed + 0.05\nwhile os.times().elapsed < until: pass",
    "the time in seconds": "time.sleep(0.98 - time.time() % 1)\n"
    "begin = c.time(None)\nwhile c.time(None) == begin: pass",
    "a coarse clock": "until = now(COARSE) + 0.02\nwhile now(COARSE) < until: pass",
    "a coarse clock, asked directly": """
at = (ctypes.c_long * 2)()
def asked(): c.syscall(228, COARSE, at); return at[0] * 10**9 + at[1]
until = asked() + 20_000_000
while asked() < until: pass""",
    "the processor's time": "while now(time.CLOCK_PROCESS_CPUTIME_ID) < 0.05: pass",
    "resource usage": "while sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) < 0.05: pass",
    "uptime": """
def up(): return float(open("/proc/uptime").read().split()[0])
until = up() + 0.02
while up() < until: pass""",
    "a child": "child = subprocess.Popen(['sleep', '0.05'])\nwhile child.poll() is None: pass",
    "a packet": """
ends = socket.socketpair()
later = subprocess.Popen(['sh', '-c', 'sleep 0.05; echo x'], stdout=ends[0])
while not select.select([ends[1]], [], [], 0)[0]: pass""",
    "a timer": "signal.signal(signal.SIGALRM, lambda *_: sys.exit())\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.05)\nwhile signal.getitimer(signal.ITIMER_REAL): pass",
}
BEGIN = (
    "import ctypes, os, resource, select, signal, socket, subprocess, sys, time\n"
    "c, now, COARSE = ctypes.CDLL(None), time.clock_gettime, 6\n"
)
# More connections than a testbed has meet EAGAIN, and the clock has not moved.
EAGAIN = """
read_end, _ = os.pipe2(os.O_NONBLOCK)
begin = time.monotonic_ns()
for _ in range(5000):
    try: os.read(read_end, 1)
    except BlockingIOError: pass
print(time.monotonic_ns() - begin)"""
# Readings of the vDSO's clock are free of system calls only while no loop is known (patch 0011).
READINGS = """
readings, until = 0, time.monotonic_ns() + 50_000_000
while time.monotonic_ns() < until: readings += 1
print(readings)"""
OTHERS = {"EAGAIN": EAGAIN, "readings": READINGS}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, scripts_in_lab.Said]:
    programs = {name: f"{BEGIN}{program}" for name, program in (WAITS | OTHERS).items()}
    scripts = {name: f"cat > x << 'END'\n{x}\nEND\npython3 x\n" for name, x in programs.items()}
    return scripts_in_lab.run(scripts, tmp_path_factory.mktemp("loops"))


@pytest.mark.parametrize("name", WAITS)
def test_a_loop_comes_to_its_time(said: dict[str, scripts_in_lab.Said], name: str) -> None:
    assert (said[name].status, said[name].err) == (0, "")


def test_many_failures_at_one_moment_cost_nothing(said: dict[str, scripts_in_lab.Said]) -> None:
    assert said["EAGAIN"].out == "0\n", said["EAGAIN"].err


def test_a_wait_of_50_ms_takes_few_readings(said: dict[str, scripts_in_lab.Said]) -> None:
    assert int(said["readings"].out) < 1_000_000, said["readings"].err
