# SPDX-License-Identifier: GPL-2.0-only
"""Keeps a step of a build: ends all its processes when the process that wants the step ends.

Usage: keeper.py PID COMMAND...    (PID: the process that wants it, which is this one's parent)

It needs a group of its own, so it is started with start_new_session. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1
GRACE_S = 10  # in which a make that is ended removes the file that it was writing


def main(parent: int, argv: list[str]) -> int:
    """The exit code of the step."""
    signal.signal(signal.SIGTERM, end)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before it was asked for the signal
        return 128 + signal.SIGTERM
    code = subprocess.Popen(argv, close_fds=False).wait()
    return code if code >= 0 else 128 - code


def end(_number: int, _frame: FrameType | None) -> None:
    """End the group: with SIGTERM, and after a time with SIGKILL, which ends this process, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    signal.alarm(GRACE_S)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
