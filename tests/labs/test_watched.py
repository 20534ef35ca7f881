# SPDX-License-Identifier: GPL-2.0-only
"""`run --watch`: a trial that is looked at and held is the same trial."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.watch.server import HEADER
from tests.labs.test_reproducible import assert_same_records
from tests.small import PROJECT, TINY, write_small

pytestmark = pytest.mark.lab

DURATION_S = 100
TEXT = TINY.replace("duration_s = 2", f"duration_s = {DURATION_S}") + (
    "record = { queue_sample_ms = 20, cwnd_sample_ms = 20, drops = true,"
    " throughput_sample_ms = 500 }\n"
)
HELD_AT_S = 10
HELD_S = 2.0


RUN = [str(PROJECT / "cellbed"), "run", "small.toml", "--out"]


@contextmanager
def watched(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`./cellbed run --watch` in a folder, and where its page is: HOST:PORT/SECRET."""
    argv = [*RUN, "watched", "--watch"]
    with subprocess.Popen(argv, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        line = said_until(process, "http://")
        yield process, line.split("http://")[1].split()[0].strip("/")


def stream(address: str, path: str) -> Generator[Any]:
    """Server-sent events; the connection ends with the generator."""
    host, _, secret = address.partition("/")
    with closing(http.client.HTTPConnection(host, timeout=300)) as connection:
        connection.request("GET", f"/{secret}{path}")
        answer = connection.getresponse()
        assert answer.status == 200, path
        with answer:
            yield from (json.loads(line[5:]) for line in answer if line.startswith(b"data:"))


def hold(address: str, trial: str, until_s: float | None) -> None:
    host, _, secret = address.partition("/")
    connection = http.client.HTTPConnection(host, timeout=300)
    headers = {HEADER: "page"}
    connection.request("POST", f"/{secret}/hold/{trial}", json.dumps(until_s), headers)
    assert connection.getresponse().status == 200


def test_looked_at_held_and_the_same(tmp_path: Path) -> None:
    write_small(tmp_path, TEXT)
    with watched(tmp_path) as (process, address):
        states = stream(address, "/events")
        (one,) = next(s["trials"] for s in states if s["trials"] and "live" in s["trials"][0])
        name = one["name"]
        assert one["live"] and one["waits"]
        seen = stream(address, f"/live/{name}")
        next(seen)
        hold(address, name, HELD_AT_S)
        stood = held(seen, HELD_AT_S)
        hold(address, name, 2 * HELD_AT_S)
        further = held(seen, 2 * HELD_AT_S)
        hold(address, name, None)
        for _ in seen:
            pass  # it is looked at until it has ended
        next(s for s in states if s["ended"])
        assert "The page stays" in said_until(process, "The page stays")
        assert process.poll() is None
        states.close()
        process.communicate()
        assert process.returncode == 0
    assert stood["until_s"] < further["until_s"] < DURATION_S
    for shown in (stood, further):
        assert [len(shown["windows"]), len(shown["rates"]["mbit"][0])] == [2, 2]
        # The queue is at most a second behind.
        assert len(shown["queue"]["t"]) >= (shown["until_s"] - 1) / 0.02
    subprocess.run([*RUN, "alone"], cwd=tmp_path, check=True)
    assert_same_records([name], tmp_path / "watched", tmp_path / "alone")


def said_until(process: subprocess.Popen[str], words: str) -> str:
    """The line of standard error that has these words."""
    assert process.stderr is not None
    return next((line for line in process.stderr if words in line), "")


def held(seen: Iterator[object], at_s: float) -> dict[str, Any]:
    """What is shown while it stands at a second: nothing more is told for a while after that."""
    told, moment = dict[str, Any](until_s=0.0), time.monotonic()
    for found in seen:
        if isinstance(found, dict):
            told, moment = found, time.monotonic()
        elif told["until_s"] >= at_s and time.monotonic() - moment > HELD_S:
            return told
    raise AssertionError("it ran to its end")
