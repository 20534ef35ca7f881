# SPDX-License-Identifier: GPL-2.0-only
"""Runs a command as most containers do: personality() sets nothing that a container may not.

Usage: python3 refused.py COMMAND...
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

PERSONALITY = 135  # x86-64
NO_RANDOM_LAYOUT = 0x0040000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
NUMBER, ARGUMENT = 0, 16  # struct seccomp_data
ALLOW, ERROR = 0x7FFF0000, 0x00050000
SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2

PROGRAM = [
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 0, 3, PERSONALITY),
    (LOAD, 0, 0, ARGUMENT),
    (EQUAL, 0, 1, NO_RANDOM_LAYOUT),
    (RETURN, 0, 0, ERROR | errno.EPERM),
    (RETURN, 0, 0, ALLOW),
]


def refuse() -> None:
    """From now on, for this process and all that it begins."""
    code = b"".join(struct.pack("HBBI", *one) for one in PROGRAM)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(PROGRAM), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((SET_NO_NEW_PRIVS, 1, 0, 0, 0), (SET_SECCOMP, FILTER, program, 0, 0)):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse()
    os.execvp(sys.argv[1], sys.argv[1:])
