# SPDX-License-Identifier: GPL-2.0-only
"""A congestion control in BPF (struct_ops) runs at the prompt of the vm lab: its boot is slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small import PROJECT, write_tiny

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
PROGRAM = "/cellbed/tests/labs/mine.bpf.c"
LINES = f"""
sh clang -O2 -g -target bpf -mcpu=v3 -I/usr/include/x86_64-linux-gnu -c {PROGRAM} -o /tmp/mine.o
sh bpftool struct_ops register /tmp/mine.o
sh iperf3 -s -D; sleep 1; iperf3 -c 127.0.0.1 -t 1 -C bpf_mine; echo status $?
exit
"""


def test_a_program_is_registered_and_sends(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "shell", str(write_tiny(tmp_path)), "--lab", "vm"],
        input=LINES.lstrip(), capture_output=True, text=True, timeout=900, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Registered tcp_congestion_ops mine" in done.stdout
    assert "receiver" in done.stdout and "\nstatus 0" in done.stdout, done.stdout
