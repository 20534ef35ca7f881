# SPDX-License-Identifier: GPL-2.0-only
"""How the lab of a Mininet script ends: by a signal to the command, and with a full memory; and
how a process with threads does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.test_scripts import LIMIT_S, cellbed, without_silence, write
from tests.small import PROJECT

pytestmark = pytest.mark.lab

WAITING = """
import subprocess
print("begun", flush=True)
subprocess.run(["sleep", "inf"])
"""
FULL = """
import subprocess
argv = "dd if=/dev/zero of=/dev/null ibs=400M obs=399M count=2".split()
print("dd:", subprocess.run(argv).returncode)
"""
# Who waits has a real-time priority, as what reads a script's output. It removes the process's
# entries of /proc while the last thread still removes its own.
THREADS = """
import os, signal, threading, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
for turn in range(3):
    child = os.fork()
    if not child:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        for _ in range(8):
            threading.Thread(target=time.sleep, args=(100,)).start()
        time.sleep(100)
    time.sleep(0.1)
    tasks = os.listdir(f"/proc/{child}/task")
    for task in tasks:
        open(f"/proc/{child}/task/{task}/stat").close()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(len(tasks), "threads ended", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_folder_of_the_lab(tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path, {"waiting.py": WAITING})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # On the virtual clock nothing would wait for ever.
    argv = [sys.executable, "-m", "harness", "mininet", "--clock", "real", "waiting.py"]
    with subprocess.Popen(
        argv, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(temporary)},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores SIGHUP
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        assert [*temporary.iterdir()]
        running.send_signal(number)
        assert running.wait(LIMIT_S) == 128 + number
    assert not [*temporary.iterdir()]


def test_a_process_that_a_full_memory_ends_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"full.py": FULL})
    done = cellbed(tmp_path, "mininet", "--memory", "512", "full.py")
    assert (done.returncode, done.stdout) == (0, "dd: -9\n"), done.stderr
    assert without_silence(done.stderr) == (
        "cellbed: the lab's memory was full (512 MiB), so its kernel killed the process dd;"
        " --memory MIB gives more\n"
    )


def test_who_waits_for_a_process_with_threads_does_not_stop_the_clock(tmp_path: Path) -> None:
    """The kernel's own loop waited for a thread that never came to run: the clock stood still."""
    write(tmp_path, {"threads.py": THREADS})
    done = cellbed(tmp_path, "mininet", "--limit", "20", "threads.py")
    assert (done.returncode, done.stdout) == (0, "9 threads ended\n" * 3), done.stderr
    assert without_silence(done.stderr) == ""
