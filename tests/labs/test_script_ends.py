# SPDX-License-Identifier: GPL-2.0-only
"""How the lab of a Mininet script ends: by a signal to the command, and with a full memory."""

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
