# SPDX-License-Identifier: GPL-2.0-only
"""Tells whether a program is ready, from its output or from /proc, without entering a namespace."""

from pathlib import Path
from subprocess import Popen, TimeoutExpired

from workload.errors import WorkloadError

_LISTEN = "0A"
LAST_WORDS_S = 5  # for what a program says before it ends
LAST_CHARACTERS = 300


def await_line(process: Popen[str], what: str) -> None:
    """Wait for a program's first line, "ready".

    Raises RuntimeError with `what` and the end of the program's output if it does not come.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    if line == "ready\n":
        return
    try:
        line += process.communicate(timeout=LAST_WORDS_S)[0]
    except TimeoutExpired:
        process.kill()
        line += process.communicate()[0]
    raise not_begun(what, line)


def not_begun(what: str, said: str) -> RuntimeError:
    """Return the error of a program that has said this and did not begin."""
    return RuntimeError(f"{what} did not begin: {last_words(said) or 'it ended without a word'}")


def told(process: Popen[str], what: str) -> str:
    """Wait until a program ends; return what it said.

    Raises:
        RuntimeError: it failed; the text has `what` and the end of what it said.
    """
    said = process.communicate()[0]
    if process.returncode:
        raise RuntimeError(f"{what} failed: {last_words(said)}")
    return said


def last_words(said: str) -> str:
    """Return the end of what a program has said, in one line: of a traceback, its cause."""
    return " ".join(said.split())[-LAST_CHARACTERS:]


def listening(proc_net_tcp: str, port: int) -> bool:
    """Return whether a socket listens on `port`, by the text of a /proc/PID/net/tcp (or tcp6)."""
    ends = (line.split()[1:4] for line in proc_net_tcp.splitlines()[1:])
    return any(
        state == _LISTEN and int(local.rpartition(":")[2], 16) == port
        for local, _remote, state in ends
    )


def is_listening(pid: int, port: int) -> bool:
    """Return whether a socket listens on TCP `port`, IPv4 or IPv6, in the namespace of `pid`."""
    net = Path(f"/proc/{pid}/net")
    try:
        texts = [(net / "tcp").read_text()]
        if (net / "tcp6").exists():  # a kernel without IPv6 lacks this file
            texts.append((net / "tcp6").read_text())
    except OSError as error:
        raise WorkloadError(f"process {pid} has ended: {error.strerror}") from error
    return any(listening(text, port) for text in texts)
