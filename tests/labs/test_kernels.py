# SPDX-License-Identifier: GPL-2.0-only
"""Kernels in the lab: another version runs, a history is bisected, a fault is told. Slow.

The first run fetches and builds Linux 6.1 (2 minutes of two idle cores, where nothing of it is
there); CELLBED_SLOW_TESTS=1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis import records
from analysis.compare import segments
from harness.kernels import names, store
from tests.small import PROJECT, TINY

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]

BASE = "6.1"
CUBIC = "net/ipv4/tcp_cubic.c"
# Titles, and what each replaces. One changes what a sender does.
COMMITS = [
    ("tcp_input: a word on duplicate ACKs", "net/ipv4/tcp_input.c", "/* "),
    ("tcp_output: a word on the Nagle test", "net/ipv4/tcp_output.c", "/* "),
    ("fq: a word on pacing", "net/sched/sch_fq.c", "/* "),
    ("tcp_cubic: a smaller beta", CUBIC, "beta __read_mostly = 717;"),
    ("tcp_rate: a word on samples", "net/ipv4/tcp_rate.c", "/* "),
    ("tcp_recovery: a word on RACK", "net/ipv4/tcp_recovery.c", "/* "),
    ("tcp_timer: a word on backoff", "net/ipv4/tcp_timer.c", "/* "),
    ("veth: a word on queues", "drivers/net/veth.c", "/* "),
]
GUILTY = "tcp_cubic: a smaller beta"
DROP_TAIL = TINY.replace(
    'policy = "plain", buffer_cells = 300', 'kind = "drop-tail", limit_packets = 12'
)
CUBIC_FILE = DROP_TAIL.replace('["SACK"]', '["CUBIC"]').replace('= "sack"', '= "cubic"')


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Debian's source, and eight commits over it."""
    folder = tmp_path_factory.mktemp("k") / "tree"
    store.ready(BASE)
    shutil.copytree(names.debian(BASE)[0], folder, symlinks=True)
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "Debian's")
    for title, path, old in COMMITS:
        text = (folder / path).read_text()
        new = "beta __read_mostly = 512;" if title == GUILTY else f"/* {title} */\n/* "
        assert old in text, path
        (folder / path).write_text(text.replace(old, new, 1))
        git(folder, "commit", "-q", "-a", "-m", title)
    yield folder
    shutil.rmtree(folder)


def cellbed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *words], capture_output=True, text=True, cwd=folder,
        timeout=3600, env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip


def test_a_history_is_bisected(history: Path, tmp_path: Path) -> None:
    """By the exit code of compare alone."""
    (tmp_path / "cubic.toml").write_text(CUBIC_FILE)
    begin = time.monotonic()
    git(history, "bisect", "start", "HEAD", f"HEAD~{len(COMMITS)}")
    compare = [sys.executable, "-m", "harness", "compare", str(tmp_path / "cubic.toml")]
    levels = ["--kernel", f"{BASE},git:{history}@HEAD", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        ["git", "-C", str(history), "bisect", "run", *compare, *levels], text=True, timeout=3600,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, capture_output=True, check=False,
    )  # fmt: skip
    found = re.search(r"^(\w+) is the first bad commit", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    assert git(history, "show", "-s", "--format=%s", found[1]) == GUILTY
    steps = done.stdout.count(" of trials\n")
    assert steps == 3 and "byte-identical" in done.stdout
    print(f"{steps} steps, {(time.monotonic() - begin) / steps:.0f} s each")
    git(history, "bisect", "reset")


def test_the_record_says_which_kernel_ran(tmp_path: Path) -> None:
    """And that of the lab's own kernel is as it is without the option."""
    (tmp_path / "cubic.toml").write_text(CUBIC_FILE)
    done = cellbed(tmp_path, "run", "cubic.toml", "--kernel", f"{BASE},{names.SET_UP}")
    assert done.returncode == 0, done.stderr
    trials = [json.loads(p.read_text()) for p in tmp_path.glob("results/*/trials/*/trial.json")]
    software = {trial["factors"]["kernel"]: trial["software"] for trial in trials}
    assert software[BASE]["release"].startswith(f"{BASE}.")
    assert "release" not in software[names.SET_UP]
    assert cellbed(tmp_path, "run", "cubic.toml", "--out", "plain").returncode == 0
    [plain] = [json.loads(p.read_text()) for p in tmp_path.glob("plain/trials/*/trial.json")]
    assert plain["software"] == software[names.SET_UP] and list(plain["factors"]) == ["flavor"]


def test_sources_start_at_their_moments_on_each_kernel(tmp_path: Path) -> None:
    """The lab reads its counters at time 0, and on 6.1 each reading once held the sources up."""
    together = CUBIC_FILE.replace('kind = "iperf"', 'kind = "iperf", start_jitter_us = 0')
    assert together != CUBIC_FILE
    (tmp_path / "cubic.toml").write_text(together)
    argv = ["run", "cubic.toml", "--kernel", f"{BASE},{names.SET_UP}", "--pcap", "down"]
    done = cellbed(tmp_path, *argv)
    assert done.returncode == 0, done.stderr
    syns: dict[str, list[tuple[str, int]]] = {}
    for trial in records.read_campaign(next(tmp_path.glob("results/*"))).trials:
        first = {one.pair: one.segments[0] for one in reversed(segments.connections(trial))}
        of_pairs = [(one.flags, one.time_ns) for _, one in sorted(first.items())]
        syns[trial.factors["kernel"]] = of_pairs
    assert len(syns[BASE]) == 2 and syns[BASE] == syns[names.SET_UP]
    assert all(flags == "S" and time_ns < 1_000_000 for flags, time_ns in syns[BASE])


def test_a_historical_sender_needs_a_newer_kernel(tmp_path: Path) -> None:
    (tmp_path / "sack.toml").write_text(DROP_TAIL)
    done = cellbed(tmp_path, "run", "sack.toml", "--kernel", BASE)
    assert done.returncode == 2 and "has no module cellbed_tcp" in done.stderr
    assert "cong_control() took fewer arguments before" in done.stderr
    assert done.stderr.endswith("; cubic and linux-reno run on any kernel\n")
    assert not (tmp_path / "results").exists()


def test_a_source_that_does_not_build(history: Path) -> None:
    """The compiler's words, and 125, by which git bisect skips a commit; then it is mended."""
    path = history / CUBIC
    text = path.read_text()
    undeclared = "int calls(void);\nint calls(void) { return no_such_function(); }\n"
    for broken, why in (("int broken(\n", ""), (undeclared, "implicit declaration of function")):
        path.write_text(text + broken)
        done = cellbed(history, "kernel", "build", f"path:{history}")
        assert done.returncode == 125, done.stderr
        last = done.stderr.splitlines()[-1]
        assert re.search(rf"does not build: .*tcp_cubic\.c:\d+:\d+: error: {why}", last)
    path.write_text(text + "/* mended */\n")
    begin = time.monotonic()
    done = cellbed(history, "kernel", "build", f"path:{history}")
    assert done.returncode == 0, done.stderr
    print(f"after one changed file: {time.monotonic() - begin:.0f} s")
    assert git(history, "status", "--porcelain") == f"M {CUBIC}"
    path.write_text(text)


def test_a_kernel_ticks_as_often_as_its_name_says(tmp_path: Path) -> None:
    """As a program in the lab reads it."""
    (tmp_path / "cubic.toml").write_text(CUBIC_FILE)
    done = cellbed(tmp_path, "run", "cubic.toml", "--kernel", f"{BASE},hz=250,{BASE}")
    assert done.returncode == 0, done.stderr
    found = {}
    for path in tmp_path.glob("results/*/trials/*/trial.json"):
        lab = json.loads(path.with_name("lab.json").read_text())
        found[json.loads(path.read_text())["factors"]["kernel"]] = lab["versions"]["hz"]
    assert found[f"{BASE} hz 250"] == "250" != found[BASE]
    assert {one.hz for one in store.built() if one.name == f"{BASE},hz=250"} == {250}
