# SPDX-License-Identifier: GPL-2.0-only
"""gdb stops a lab's kernel where it is told to, and the trial has the same tables as without."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

pytestmark = pytest.mark.lab

# The buffer holds less than a window: segments are lost.
TEXT = """
name = "stopped"
title = "one sender, a small buffer"
[factors]
tcp.flavor = ["cubic"]
[base]
topology = { pairs = 1, rate_bit_per_s = 10_000_000, delay_us = 5_000, mss_bytes = 1024 }
queue = { policy = "plain", buffer_cells = 300 }
tcp.window_bytes = 65_535
tcp.ssthresh_bytes = 65_535
record.drops = true
workload = { kind = "iperf", duration_s = 1 }
"""
TOLD = re.compile(rb"Type in another terminal: gdb -x (\S+)")


def tables(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*.csv")}


def argv(folder: Path, out: str, *words: str) -> list[str]:
    file = str(folder / "stopped.toml")
    return [str(PROJECT / "cellbed"), "run", file, "--out", str(folder / out), *words]


def test_a_breakpoint_shows_who_sends_a_segment_again(tmp_path: Path) -> None:
    (tmp_path / "stopped.toml").write_text(TEXT)
    subprocess.run(argv(tmp_path, "without"), check=True, capture_output=True, timeout=600)
    words = argv(tmp_path, "with", "--gdb", "tcp_retransmit_skb")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        told = next(filter(None, map(TOLD.search, run.stderr)))
        ask = ["-ex", "backtrace", "-ex", "delete", "-ex", "detach"]
        gdb = subprocess.run(
            ["gdb", "-nx", "-batch", "-x", told[1].decode(), *ask],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        said = run.stderr.read().decode()
    assert run.returncode == 0, said
    frames = re.findall(r"^#\d+ .* in (\w+)", gdb.stdout, re.MULTILINE)
    assert frames[0] == "tcp_retransmit_skb" and "tcp_ack" in frames, gdb.stdout + gdb.stderr
    assert tables(tmp_path / "with") == tables(tmp_path / "without") != {}


def test_gdb_sees_one_trial(tmp_path: Path) -> None:
    (tmp_path / "stopped.toml").write_text(TEXT)
    words = argv(tmp_path, "out", "--gdb", "tcp_ack", "--seeds", "2")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 2
    assert "--gdb needs one trial that has no record yet, and there are 2;" in done.stderr
