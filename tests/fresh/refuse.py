# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program of an ordinary user that may mount nothing and make no namespace.

Ubuntu 24.04 and Docker have it so. Usage, as root: refuse.py PROGRAM ARGUMENT...
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

CALLS = {"mount": 165, "umount2": 166, "unshare": 272, "setns": 308, "open_tree": 428,
         "move_mount": 429, "fsopen": 430, "fsmount": 432}  # fmt: skip
LOAD, EQUAL, GIVE = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
SECCOMP, FILTER = 22, 2
NO_NEW_PRIVILEGES = 38
USER = 1000


def main() -> None:
    steps = [(LOAD, 0, 0, 0)]
    for number in CALLS.values():
        steps += [(EQUAL, 0, 1, number), (GIVE, 0, 0, REFUSE | errno.EPERM)]
    steps.append((GIVE, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *x) for x in steps))
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SECCOMP, FILTER, whole, 0, 0):  # as root, before the program is another user's
        sys.exit(os.strerror(ctypes.get_errno()))
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    os.execvp(sys.argv[1], sys.argv[1:])


main()
