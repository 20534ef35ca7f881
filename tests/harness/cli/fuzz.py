# SPDX-License-Identifier: GPL-2.0-only
"""What a fuzz test needs: the command line in this process with no lab, and what it must keep."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import analysis.report  # noqa: F401 (slow to import, which is no input's doing)
from harness.campaign import costs
from harness.cli.program import main
from harness.host import paths
from harness.labs import LABS
from harness.labs.base import Lab
from harness.records import identity
from harness.runners import cluster_servers
from plan.errors import MissingError

EXIT_CODES = {0, 1, 2, 3, 4, 5, 125, *range(129, 134)}  # those of docs/commands.md
FILE_LINE = re.compile(r" *\d+ \|")  # below a message: the line of a file that it is about
LONGEST_S = 120  # of one input; each takes a small part of it, also on a busy machine


class Absent(Lab):
    """A lab that this machine cannot have."""

    def boot(self) -> None:
        raise MissingError("the lab does not exist; run ./cellbed setup")

    def poll(self) -> int | None:
        return 0

    def kill(self) -> None:
        pass

    def cpu_s(self) -> float:
        return 0.0


class HungError(BaseException):
    """An input that takes too long."""


@contextlib.contextmanager
def no_lab(folder: Path) -> Iterator[None]:
    """Nothing boots, serves, or touches what is outside of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(LABS):
            patch.setitem(LABS, name, Absent)
        patch.setattr(identity, "code", lambda lab, kernel=None: f"code of {lab}")
        for known in ("software", "found"):
            patch.setattr(identity, known, lambda lab, *_: {"code": f"code of {lab}"})
        patch.setattr(costs, "file", lambda: folder / "costs.json")
        patch.setattr(
            paths, "places", lambda: {"cache": folder / "cache", "root": folder / "root-1"}
        )
        for server in ("run_scheduler", "run_worker"):
            patch.setattr(cluster_servers, server, lambda *_, **__: None)
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setattr(sys, "stdin", io.StringIO())
        patch.chdir(folder)
        yield


def hung(*_: int | FrameType | None) -> None:
    raise HungError(f"longer than {LONGEST_S} s")


def cellbed(*words: object) -> int:
    """Run a command line in this process; its exit code. AssertionError for what may not be."""
    with pytest.MonkeyPatch.context() as patch:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
        patch.setattr(sys, "argv", ["cellbed", *map(str, words)])
        before = signal.signal(signal.SIGALRM, hung)
        signal.alarm(LONGEST_S)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = exit_code()
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        for stream in (out, err):
            stream.flush()
        lines = err.buffer.getvalue().decode().split("\n")[:-1]  # type: ignore[attr-defined]
    assert code in EXIT_CODES, code
    messages = [line for line in lines if line.startswith("cellbed: ")]
    assert len(messages) == (code != 0), lines
    if code:
        assert len(messages[0]) > len("cellbed: ") and messages[0].isprintable(), lines
        below = lines[lines.index(messages[0]) + 1 :]
        assert all(FILE_LINE.match(line) and line.isprintable() for line in below), lines
    return code


def exit_code() -> int:
    """What the process would end with; any other error is that of the test."""
    try:
        return main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
