# SPDX-License-Identifier: GPL-2.0-only
"""The lines of a script and of a program beside it come in the order in which they were written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.labs.test_scripts import LIMIT_S, without_silence, write
from tests.small import PROJECT

pytestmark = pytest.mark.lab

ROUNDS = 100
# The program that sleeps ends each twenty rounds. Linux's fair server then held back the reader.
SCRIPT = f"""
import os, socket, subprocess

with socket.create_connection(("127.0.0.1", 9000)) as other:
    for number in range({ROUNDS}):
        os.write(1, b"script %d\\n" % number)
        os.write(2, b"error %d\\n" % number)
        subprocess.run(f"echo child {{number}}; echo its error {{number}} >&2", shell=True)
        other.sendall(b"x")
        other.recv(1)
        if number % 20 == 10:
            subprocess.run(["sleep", "3"])
"""
BESIDE = """
import os, socket

with socket.create_server(("127.0.0.1", 9000)) as server:
    other, _ = server.accept()
    number = 0
    while other.recv(1):
        os.write(1, b"turn %d\\n" % number)
        number += 1
        other.sendall(b"x")
"""
LINES = ("script {}", "error {}", "child {}", "its error {}", "[beside.py] turn {}")
WRITTEN = [line.format(number) for number in range(ROUNDS) for line in LINES]


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """This machine has as many programs more that compute."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.parametrize("programs", [0, 8])
def test_lines_keep_the_order_of_the_labs_clock(tmp_path: Path, programs: int) -> None:
    write(tmp_path, {"script.py": SCRIPT, "beside.py": BESIDE})
    command = ("mininet", "--beside", "python3 beside.py", "script.py")
    with busy(programs):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=LIMIT_S, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT)},
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert without_silence(done.stdout).splitlines() == WRITTEN
