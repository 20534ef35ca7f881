# SPDX-License-Identifier: GPL-2.0-only
"""Ctrl-C in the first moments of a command ends it with a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
# A shell that a signal has ended has this status, too, for its caller.
ENDED = (130, -signal.SIGINT)


def pressed_early() -> None:
    """Hold Ctrl-C back, as ./cellbed does, and press it before the program begins."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # this test may run in the background
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_while_python_starts_is_answered() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "harness", "kernel", "list"], capture_output=True, text=True,
        check=False, preexec_fn=pressed_early, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "cellbed: interrupted\n")


def test_ctrl_c_before_python_starts_is_answered(tmp_path: Path) -> None:
    presses = tmp_path / "awk"  # lab/paths calls it, to find where set-up's products are
    presses.write_text("#!/bin/sh\nkill -INT 0\n")
    presses.chmod(0o755)
    done = subprocess.run(
        [PROJECT / "cellbed", "kernel", "list"], capture_output=True, text=True, check=False,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode in ENDED and done.stderr == "cellbed: interrupted\n"
