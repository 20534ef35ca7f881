# SPDX-License-Identifier: GPL-2.0-only
"""A step of a build ends with the process that wants it, whatever ends this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.host import step

PROJECT = Path(step.__file__).parents[2]
# A test that runs in the background ignores SIGINT, and so would this process.
WANTS = """
import signal
import sys
from harness.host import step
signal.signal(signal.SIGINT, signal.default_int_handler)
with open(sys.argv[1], "wb") as log:
    step.run(["bash", "-c", 'sleep 60 & echo begun > "$1"; wait', "-", sys.argv[2]], log)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGALRM, signal.SIGINT])
def test_all_its_processes_end(number: signal.Signals, tmp_path: Path) -> None:
    """Each of them holds a pipe open, so that the pipe's end is the end of the last of them."""
    os.mkfifo(tmp_path / "begun")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    argv = [sys.executable, "-c", WANTS, str(tmp_path / "log"), str(tmp_path / "begun")]
    with subprocess.Popen(argv, cwd=PROJECT, close_fds=False, stderr=subprocess.DEVNULL) as wants:
        os.close(writer)
        assert (tmp_path / "begun").read_text() == "begun\n"
        wants.send_signal(number)
        assert os.read(reader, 1) == b""
    os.close(reader)


def test_what_does_not_end_is_killed(tmp_path: Path) -> None:
    stubborn = ["bash", "-c", 'trap "" TERM; echo begun > "$1"; while :; do sleep 1; done', "-"]
    keeper = tmp_path / "keeper.py"
    keeper.write_text(step.KEEPER.read_text().replace("GRACE_S = 10", "GRACE_S = 1"))
    os.mkfifo(tmp_path / "begun")
    argv = [sys.executable, "-IS", keeper, str(os.getpid()), *stubborn, tmp_path / "begun"]
    with subprocess.Popen(argv, start_new_session=True) as kept:
        assert (tmp_path / "begun").read_text() == "begun\n"
        kept.terminate()
        assert kept.wait() == -signal.SIGKILL


@pytest.mark.parametrize("code", [0, 3])
def test_its_exit_code_and_output(code: int, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        assert step.run(["bash", "-c", f"echo said; exit {code}"], log) == code
    assert (tmp_path / "log").read_text() == "said\n"
