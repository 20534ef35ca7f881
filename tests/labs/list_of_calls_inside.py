# SPDX-License-Identifier: GPL-2.0-only
"""Makes the same system calls one by one and as a list (patch 0025); prints what each way gave.

Each case is a line of JSON: its name, the results of the calls, and the virtual time that they took
[ns], for both ways.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

LIST_OF_CALLS = 0xCE11BED
# Numbers of x86-64.
CLOSE, SOCKET, CONNECT, SENDTO, RECVFROM, BIND = 3, 41, 42, 44, 45, 49
GETPID, FORK, EPOLL_CTL, EPOLL_PWAIT = 39, 57, 233, 281
MOST = 2**63 - 1
STREAM = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class Entry(ctypes.Structure):
    """A call, as the kernel reads it."""

    _fields_ = (
        ("number", ctypes.c_uint32),
        ("back", ctypes.c_uint16),
        ("into", ctypes.c_uint16),
        ("arguments", ctypes.c_uint64 * 6),
        ("least", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("result", ctypes.c_int64),
    )


@dataclass(frozen=True)
class Call:
    """A call; any result is expected if `least` is below all errors."""

    number: int
    arguments: tuple[int, ...]
    least: int = -MOST
    back: int = 0
    into: int = 0


def failed_or(result: int) -> int:
    """The result as the kernel gives it: a negative error."""
    return -ctypes.get_errno() if result == -1 else result


def one_by_one(calls: Sequence[Call]) -> list[int]:
    """Make the calls; the results of those before, and of, the first unexpected result."""
    results: list[int] = []
    for call in calls:
        arguments = list(call.arguments) + [0] * (6 - len(call.arguments))
        if call.back:
            arguments[call.into] = results[-call.back]
        results.append(failed_or(libc.syscall(call.number, *map(ctypes.c_long, arguments))))
        if results[-1] < call.least:
            break
    return results


@cache
def list_type(count: int) -> type[ctypes.Structure]:
    """A list of calls. Each type takes memory, and so system calls, of Python."""

    class List(ctypes.Structure):
        _fields_ = (
            ("count", ctypes.c_uint32),
            ("done", ctypes.c_uint32),
            ("calls", Entry * count),
        )

    return List


def as_list(calls: Sequence[Call]) -> list[int]:
    """Likewise by a list; an error of the list itself is the last result."""
    given = list_type(len(calls))(count=len(calls))
    for entry, call in zip(given.calls, calls, strict=True):
        entry.number, entry.back, entry.into = call.number, call.back, call.into
        entry.arguments[: len(call.arguments)] = [x % 2**64 for x in call.arguments]
        entry.least, entry.most = call.least, MOST
    status = failed_or(libc.syscall(LIST_OF_CALLS, ctypes.byref(given)))
    results = [entry.result for entry in given.calls[: given.done]]
    return results if status == 0 else [*results, status]


Way = Callable[[Sequence[Call]], list[int]]


def address(port: int) -> tuple[int, ctypes.Array[ctypes.c_char]]:
    """An address of the loopback device, and the memory that holds it."""
    text = b"\x02\x00" + port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    memory = ctypes.create_string_buffer(text, 16)
    return ctypes.addressof(memory), memory


def sockets(way: Way) -> list[int]:
    """Open a socket, use it by the result of its call, fail on purpose, and close it twice."""
    own, _own = address(8123)
    other, _other = address(8124)
    fd = Call(SOCKET, (socket.AF_INET, STREAM, 0))
    calls = [
        fd,
        Call(BIND, (0, own, 16), back=1),
        Call(BIND, (0, own, 16), back=2),
        Call(CONNECT, (0, other, 16), back=3),
        Call(CLOSE, (0,), back=4),
        Call(CLOSE, (0,), back=5),
    ]
    return way(calls)


def stops(way: Way) -> list[int]:
    """The list ends at the second call."""
    return way([Call(CLOSE, (-1,)), Call(CLOSE, (-1,), least=0), Call(CLOSE, (-1,))])


def many_failures(way: Way) -> list[int]:
    """A loop of failures that takes time: more than 10,000, in lists of 100."""
    fd = os.pipe2(os.O_NONBLOCK)[0]
    calls = [Call(RECVFROM, (fd, 0, 1, 0))] * 100
    return [sum(way(calls)) for _ in range(150)]


def many_calls(way: Way) -> list[int]:
    """A loop of calls that takes time: more than 50,000, and none fails."""
    epoll = libc.epoll_create1(0)
    events = ctypes.create_string_buffer(12)
    calls = [Call(EPOLL_PWAIT, (epoll, ctypes.addressof(events), 1, 0))] * 100
    return [sum(way(calls)) for _ in range(650)]


def waits(way: Way) -> list[int]:
    """Two waits, of 5 and 7 ms."""
    epoll = libc.epoll_create1(0)
    events = ctypes.create_string_buffer(12)
    place = ctypes.addressof(events)
    return way([Call(EPOLL_PWAIT, (epoll, place, 1, wait_ms)) for wait_ms in (5, 7)])


def signals(way: Way) -> list[int]:
    """A signal ends the first wait, and its handler runs before the second ends."""
    seen: list[int] = []
    handler_type = ctypes.CFUNCTYPE(None, ctypes.c_int)
    handler = handler_type(lambda _: seen.append(time.monotonic_ns()))
    libc.signal(signal.SIGALRM, handler)
    begin = time.monotonic_ns()
    signal.setitimer(signal.ITIMER_REAL, 0.003)
    results = waits(way)
    libc.signal(signal.SIGALRM, None)
    return [*results, *(at - begin for at in seen)]


def answerer() -> tuple[socket.socket, int]:
    """A process that answers a word with the word and "!": a socket to it, and its number."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        theirs.send(theirs.recv(10) + b"!")
        os._exit(0)
    return ours, child


def others(way: Way) -> list[int]:
    """Another process answers between two calls of the list."""
    ours, child = answerer()
    word, answer = ctypes.create_string_buffer(b"word", 4), ctypes.create_string_buffer(10)
    results = way(
        [
            Call(SENDTO, (ours.fileno(), ctypes.addressof(word), 4, 0)),
            Call(RECVFROM, (ours.fileno(), ctypes.addressof(answer), 10, 0)),
        ]
    )
    os.waitpid(child, 0)
    return [*results, *answer.raw]


def yields(way: Way) -> list[int]:
    """A call that fails lets another process run, or not, before the next call."""
    ours, child = answerer()
    word, answer = ctypes.create_string_buffer(b"word", 4), ctypes.create_string_buffer(10)
    time.sleep(0.001)  # the child waits
    results = way(
        [
            Call(SENDTO, (ours.fileno(), ctypes.addressof(word), 4, 0)),
            *[Call(CLOSE, (-1,))] * 3,
            Call(RECVFROM, (ours.fileno(), ctypes.addressof(answer), 10, socket.MSG_DONTWAIT)),
        ]
    )
    os.waitpid(child, 0)
    return results


CASES = (sockets, stops, many_failures, many_calls, waits, signals, others, yields)


def main() -> None:
    """Print a line for each case, then for calls that a list refuses."""
    for case in CASES:
        said: list[list[int]] = []
        for way in (one_by_one, as_list):
            time.sleep(1 - time.monotonic_ns() % 10**9 / 1e9)
            begin = time.monotonic_ns()
            results = case(way)
            said.append([*results, time.monotonic_ns() - begin])
        print("case", json.dumps([case.__name__, *said]), flush=True)
    refused = [as_list([Call(number, ())]) for number in (GETPID, FORK)]
    assert refused == [[-errno.EINVAL]] * 2, refused
    assert as_list([]) == []
    print("refused", flush=True)


if __name__ == "__main__":
    main()
