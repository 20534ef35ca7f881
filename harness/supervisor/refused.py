# SPDX-License-Identifier: GPL-2.0-only
"""The system calls that a lab's processes on the host are refused (seccomp(2)).

What User-Mode Linux needs is small, and differs with the host's C library; so this names what
it does not need and what has led out of namespaces before: mounts and further namespaces,
sockets (one by its path in a shared folder would lead to a service of the host), keys, BPF,
io_uring, modules; and locks, for which a program of the host would wait.

A refused call sends SIGSYS and is not made. The lab kernel's handler lets a call of its own fail
with the error that the filter names. A call of a program inside the lab is the lab kernel's: a
process that stops by SIGSYS tells it the call. No other answer would do. An error would be the
host's answer to the program, and with a filter of its own that tells a listener of the call, a
hostile kernel could let the host make the call, if the answer here were weaker than that.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import struct

from harness.supervisor.syscalls import SECCOMP, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

X86_64 = 0xC000003E
X32_BIT = 0x40000000
SET_FILTER, WITH_SPECULATION = 1, 4
# Offsets in struct seccomp_data.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00030000  # SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP

NAMESPACES = 0x7E020080  # CLONE_NEW*, all of them
CLONE3, CLONE, SOCKETPAIR, SETRLIMIT, PRLIMIT64, FCNTL = 435, 56, 53, 160, 302, 72
LOCKS = [fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW, fcntl.F_SETLEASE]
RLIMIT_CORE, SOCK_STREAM = 4, 1
# As arch/x86/entry/syscalls/syscall_64.tbl numbers them.
NUMBERS = {
    "sockets": [41, 42, 43, 49, 50, 288],  # socket connect accept bind listen accept4
    "mounts": [155, 161, 165, 166, *range(428, 434), 442, 467],  # pivot_root chroot mount umount2
    "namespaces": [272, 308],  # unshare setns
    "keys": [248, 249, 250],
    "the kernel": [175, 176, 313, 246, 320, 321, 298, 103, 169],  # modules kexec bpf perf log boot
    "memory": [310, 311, 323],  # process_vm_readv process_vm_writev userfaultfd
    "others' files": [73, 303, 304, 312, 438, 300, 301],  # flock handle kcmp pidfd_getfd fanotify
    "queues": [425, 426, 427, *range(29, 32), *range(64, 72), *range(240, 246)],  # io_uring IPC
    "the machine": [163, 164, 167, 168, 170, 171, 172, 173, 179, 227, 159, 305, 443],
}


def refuse() -> None:
    """From now on, for this process and all that come of it. It must have no_new_privs.

    Raises:
        OSError: the host's kernel has no such filter.
    """
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions())
    text = ctypes.create_string_buffer(program, len(program))
    # A filter by itself switches off speculation that a kernel of one user has no need to fear,
    # and with it a part of the processor's speed.
    whole = _Program(len(program) // 8, ctypes.addressof(text))
    syscall(SECCOMP, SET_FILTER, WITH_SPECULATION, whole)


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


if TYPE_CHECKING:
    Instruction = tuple[int, int, int, int]


def instructions() -> Iterator[Instruction]:
    """The filter: what is not refused is allowed."""
    yield LOAD, 0, 0, ARCHITECTURE
    yield EQUAL, 1, 0, X86_64
    yield from answer(REFUSE | errno.EPERM)
    yield LOAD, 0, 0, NUMBER
    yield AT_LEAST, 0, 1, X32_BIT
    yield from answer(REFUSE | errno.EPERM)
    for number in sorted(number for numbers in NUMBERS.values() for number in numbers):
        yield EQUAL, 0, 1, number
        yield from answer(REFUSE | errno.EPERM)
    # Its flags lie in memory, where no filter looks; C libraries then take clone.
    yield EQUAL, 0, 1, CLONE3
    yield from answer(REFUSE | errno.ENOSYS)
    yield from when(CLONE, [*argument(0), (ANY_BIT, 0, 1, NAMESPACES)])
    # A pair is connected for good only where it is of streams.
    kind = (AND, 0, 0, 0xF)
    yield from when(SOCKETPAIR, [*argument(1), kind, (EQUAL, 1, 0, SOCK_STREAM)])
    # A core limit of 1 byte keeps the host's core dump helper away (core(5)); it stays.
    yield from when(SETRLIMIT, [*argument(0), (EQUAL, 0, 1, RLIMIT_CORE)])
    new_limit = [*argument(2), (EQUAL, 0, 2, 0), *argument(2, 4), (EQUAL, 1, 0, 0)]
    core = [*argument(1), (EQUAL, 0, len(new_limit) + 1, RLIMIT_CORE)]
    yield from when(FCNTL, [*argument(1), *any_of(LOCKS)])
    yield from when(PRLIMIT64, [*core, *new_limit])
    yield from answer(ALLOW)


def argument(index: int, half: int = 0) -> list[Instruction]:
    """Load the lower half of an argument, or the upper."""
    return [(LOAD, 0, 0, ARGUMENTS + 8 * index + half)]


def any_of(values: Sequence[int]) -> list[Instruction]:
    """The end of a test: is it one of these?"""
    last = len(values) - 1
    return [(EQUAL, last - at, int(at == last), value) for at, value in enumerate(values)]


def when(number: int, test: Sequence[Instruction]) -> Iterator[Instruction]:
    """Refuse a call for which the last instruction of a test goes to the next one."""
    yield EQUAL, 0, len(test) + 2, number
    yield from test
    yield from answer(REFUSE | errno.EPERM)
    yield LOAD, 0, 0, NUMBER


def answer(value: int) -> Iterator[Instruction]:
    yield ANSWER, 0, 0, value
