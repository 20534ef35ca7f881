# SPDX-License-Identifier: GPL-2.0-only
"""Runs a lab's kernel and ends all its processes when its owner goes, however that dies.

Usage: supervise.py CONTROL_FD COMMAND...

The owner holds the other end of CONTROL_FD, a pipe; its end closes when the owner
closes it or is killed. The lab runs in the supervisor's own session, so what is ended
is this session's process group and nothing else. Exit status: the command's own, or
128 + its signal.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys


def main() -> int:
    control_fd, command = int(sys.argv[1]), sys.argv[2:]
    pid = os.posix_spawn(command[0], command, os.environ)
    pid_fd = os.pidfd_open(pid)
    select.select([control_fd, pid_fd], [], [])
    if not select.select([pid_fd], [], [], 0)[0]:
        os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    # User-Mode Linux leads a group of its own; a child just forked may outlive its end.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGTERM)  # children the kernel left behind
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
