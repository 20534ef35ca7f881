# SPDX-License-Identifier: GPL-2.0-only
"""Runs a lab's kernel and ends all its processes when its owner goes, however that dies.

Usage: python -IS harness/supervisor/__main__.py TOLD COMMAND...

TOLD is a dictionary as Python's marshal writes it, in hexadecimal digits:
    control   descriptor of a pipe of which the owner holds the other end; it closes when the
              owner closes it or is killed. An owner that closes it first writes a byte
    report    descriptor of a pipe for one line: "" when the lab is in its boundary, else why not,
              and "!" before that where it was not started for this reason alone
    one_core  keep to one core (cores.py)
    view      what the lab sees of the host (boundary.View); null: all, it has no boundary
    must      run nothing without a boundary
    fixed     let the command have the same addresses in each run, where that is allowed

The lab runs in the supervisor's own session, so what is ended is this session's process group
and nothing else; within a boundary all is ended with its first process. Of an owner that was
killed, the temporary folder that it made for the lab goes, too. Exit status: the command's own, or
128 + its signal; 3 when it was not started for want of a boundary.

It waits beside the lab for all its life, so it does without modules of the standard library that
take memory: contextlib, json, pathlib, random, signal, socket, and typing take 3 MiB.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))

from harness.supervisor import boundary, cores  # noqa: E402
from harness.supervisor.syscalls import SIGKILL, SIGTERM  # noqa: E402

TYPE_CHECKING = False  # typing has it, too
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
ADDR_NO_RANDOMIZE = 0x40000


def main() -> int:
    told, command = marshal.loads(bytes.fromhex(sys.argv[1])), sys.argv[2:]  # noqa: S302 (the owner's)
    for descriptor in (told["control"], told["report"]):
        os.set_inheritable(descriptor, False)  # it is the supervisor's, not the lab's
    allowed = list(os.sched_getaffinity(0))
    place = cores.take_core(allowed) if told["one_core"] else None
    pid = start(told, command)
    if pid is None:
        return 3
    pid_fd = os.pidfd_open(pid)
    cores.wait([told["control"], pid_fd], pid, place, allowed)
    abandoned = ownerless(told["control"])
    if not select.select([pid_fd], [], [], 0)[0]:
        os.kill(pid, SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    # User-Mode Linux leads a group of its own; a child just forked may outlive its end.
    try:
        os.killpg(pid, SIGKILL)
    except ProcessLookupError:
        pass
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    import signal  # noqa: PLC0415 (now it no longer waits)

    signal.signal(SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), SIGTERM)  # children the kernel left behind
    if abandoned:
        remove_folder()
    return code if code >= 0 else 128 - code


def ownerless(control: int) -> bool:
    """Was the owner killed? One that ends its lab says so with a byte."""
    return bool(select.select([control], [], [], 0)[0]) and not os.read(control, 1)


def remove_folder() -> None:
    """Nobody else is left to do it."""
    from pathlib import Path  # noqa: PLC0415 (what these import takes time)

    from harness.supervisor import abandoned  # noqa: PLC0415

    abandoned.remove(Path.cwd())


def start(told: dict[str, Any], command: list[str]) -> int | None:
    """Start the lab's kernel, within a boundary where that can be; None if it must and cannot."""
    if filtered():
        os.environ["CELLBED_SECCOMP"] = "off"

    def become() -> NoReturn:
        try:
            if told["fixed"]:
                ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
            os.execv(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error}\n".encode())
        finally:
            os._exit(127)

    pid, why_not, must = None, "", told["must"]
    if told["view"]:
        try:
            pid = boundary.start(boundary.View(**told["view"]), become)
        except OSError as error:
            why_not = " ".join(str(error).split())
        except boundary.LostError as error:
            why_not, must = " ".join(["!", *str(error).split()]), True
    if pid is None and not must:
        pid = start_in_the_open(become)
    os.write(told["report"], f"{why_not}\n".encode())
    os.close(told["report"])
    return pid


def filtered() -> bool:
    """Does the host filter this process's system calls already, as a container does?

    Such a filter may answer a call of a program in the lab before the lab's kernel hears of it.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return "\nSeccomp:\t0\n" not in status.read()


def start_in_the_open(become: Callable[[], NoReturn]) -> int:
    """Start the lab's kernel, which ends when this process does, whatever ends it.

    The other processes of a lab end with its kernel: those of User-Mode Linux ask for the
    same signal, and the first process of a namespace takes all others along.
    """
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() == supervisor:  # else it is too late for the signal
            become()
    finally:
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main())
