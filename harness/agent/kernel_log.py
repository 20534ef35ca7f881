# SPDX-License-Identifier: GPL-2.0-only
"""The log of the lab's kernel: a kernel that warns is not the kernel that a trial is about."""

from __future__ import annotations

import os
from contextlib import suppress

from plan.complaint import first_complaint

DEVICE = "/dev/kmsg"
RECORD_BYTES = 8192  # the kernel gives a record at a time, and refuses less room than it needs
SHOWN_LINES = 12


class KernelComplaintError(RuntimeError):
    """What the kernel said, from its complaint on."""


class KernelLog:
    """What the kernel says from now on."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with suppress(PermissionError):  # a container may not read the log of its machine
            self._descriptor = os.open(DEVICE, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._descriptor, 0, os.SEEK_END)

    def refuse_complaints(self) -> None:
        """Raises KernelComplaintError where the kernel has complained since it was last asked."""
        if said := first_complaint(self._lines()):
            first, *more = said[:SHOWN_LINES]
            raise KernelComplaintError("\n".join([f"the lab's kernel complained: {first}", *more]))

    def _lines(self) -> list[str]:
        found: list[str] = []
        while self._descriptor is not None:
            try:
                record = os.read(self._descriptor, RECORD_BYTES)
            except BlockingIOError:
                return found
            except BrokenPipeError:  # records were written over before they were read
                continue
            head, _, text = record.decode(errors="replace").partition(";")
            found.append(text.splitlines()[0] if text else head)
        return found
