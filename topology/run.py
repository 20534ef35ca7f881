# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands, given as argv lists, in this namespace or another one."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

TIMEOUT_S = 600
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
_AT_ONCE = ContextVar("_AT_ONCE", default=False)


class CommandError(RuntimeError):
    """A command failed; the text has the command and its output in one line."""


def run(argv: Sequence[str], stdin: str = "", limit_s: float = TIMEOUT_S) -> str:
    """Run a command and return its standard output.

    Raises:
        CommandError: its exit status was not 0, or it took longer than `limit_s`.
    """
    try:
        status, said, complaint = _finished(argv, stdin, limit_s)
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            f"the command did not end within {limit_s:.0f} s: {' '.join(argv)[:200]}"
        ) from error
    if status != 0:
        words = " ".join((complaint or said).split())[:300]
        raise CommandError(f"{' '.join(argv)[:200]} failed with status {status}: {words}")
    return said


@contextmanager
def at_once() -> Iterator[None]:
    """Let run() return at the moment when the command ends, for the duration of a `with`.

    Outside of it, run() first reads the command's output to its end. If the command itself has not
    ended by then, run() looks again after 1 ms, 2 ms, 4 ms and so on (subprocess.Popen). In virtual
    time, the output and the command end at the same moment. But on Linux 6.1, the scheduler lets
    the reader of the output go first, so each run() takes 1 ms there. On Linux 6.12 and 7.3, the
    command goes first, and run() takes no time.
    """
    before = _AT_ONCE.set(True)
    try:
        yield
    finally:
        _AT_ONCE.reset(before)


class _Noticed(subprocess.Popen[str]):
    """A command of which wait() notices the end at once, also with a time limit."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.poll() is None:
            self._await_end(timeout)
        return super().wait(timeout)

    def _await_end(self, limit_s: float) -> None:
        process = os.pidfd_open(self.pid)
        try:
            ended = select.poll()
            ended.register(process, select.POLLIN)
            ended.poll(max(0.0, limit_s) * 1000)
        finally:
            os.close(process)


def _finished(argv: Sequence[str], stdin: str, limit_s: float) -> tuple[int, str, str]:
    """Run a command to its end; return its exit status, its output and its complaints."""
    kind: type[subprocess.Popen[str]] = _Noticed if _AT_ONCE.get() else subprocess.Popen
    pipe = subprocess.PIPE
    with kind(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT) as command:
        try:
            said, complaint = command.communicate(stdin, timeout=limit_s)
        except BaseException:
            command.kill()
            raise
        return command.returncode, said, complaint


def batch(tool: str, lines: Sequence[str]) -> None:
    """Run many lines through one `ip -batch` or `tc -batch`; raise at the first failure."""
    if lines:
        run([tool, "-batch", "-"], "\n".join(lines) + "\n")


@contextmanager
def in_turn() -> Iterator[Callable[[int], None]]:
    """Yield what enters the network namespace of a process; come home at the end of the `with`.

    For many namespaces one after the other, this takes half of the calls of in_namespace().
    """
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        yield _enter
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(home)


def _enter(pid: int) -> None:
    away = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        os.setns(away, os.CLONE_NEWNET)
    finally:
        os.close(away)


@contextmanager
def in_namespace(pid: int) -> Iterator[None]:
    """Enter the network namespace of a process for the duration of a `with`."""
    with in_turn() as enter:
        enter(pid)
        yield
