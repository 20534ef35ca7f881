# SPDX-License-Identifier: GPL-2.0-only
"""What begins in parts and fails at the second leaves nothing of the first. No lab."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import capture
from harness.agent import queues
from harness.agent.queues import LoadedQueues
from harness.captures import pcap
from tests import made_plans


class Queue:
    """Of both directions; there is room for one."""

    def __init__(self) -> None:
        self.loaded: list[object] = []

    def at(self, direction: str) -> Queue:
        return self

    def load(self, port: Any) -> None:
        if port.direction == "up":
            raise RuntimeError("no room")
        self.loaded.append(port)

    def unload(self, port: Any) -> None:
        self.loaded.remove(port)


def test_a_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "port", lambda *at: SimpleNamespace(name=at[2], direction=at[2]))
    queue = Queue()
    plan: Any = SimpleNamespace(queue=queue, topology=made_plans.plan().topology)
    network: Any = None
    with pytest.raises(RuntimeError, match="no room"), LoadedQueues(network, plan):
        pass
    assert queue.loaded == []


class Recorder(capture.Programs[Any]):
    """A program that runs, and one that there is not."""

    def commands(self) -> Sequence[Sequence[str]]:
        return [["sleep", "1000"], ["/no/such/program"]]

    @classmethod
    def keep(cls, *_: Any) -> None:
        """Nothing."""


def site(**more: Any) -> Any:
    return SimpleNamespace(**more)


def test_a_program() -> None:
    recorder = Recorder(None, site())
    with pytest.raises(FileNotFoundError):
        recorder.__enter__()
    assert [process.returncode for process in recorder._processes] == [-9]


def test_a_series(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []

    class Table(capture.Series[Any]):
        file, columns = "x.csv", ("x",)

        @property
        def period_ns(self) -> int:
            return 1

        @contextmanager
        def opened(self) -> Iterator[None]:
            opened.append("begin")
            try:
                yield
            finally:
                opened.append("end")

        def rows(self) -> list[list[object]]:
            return []

        @classmethod
        def keep(cls, *_: Any) -> None:
            """Nothing."""

    def refused(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError, match="new thread"):
        Table(None, site(folder=tmp_path)).__enter__()
    assert opened == ["begin", "end"]


def test_a_capture_of_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[str]] = []

    def start(_: object, port: Any) -> subprocess.Popen[str]:
        if begun:
            raise pcap.CaptureError("capture of up: no such device")
        begun.append(subprocess.Popen(["sleep", "1000"], text=True, stderr=subprocess.PIPE))
        return begun[0]

    monkeypatch.setattr(pcap.Capture, "_start", start)
    ports = [SimpleNamespace(name=way, direction=way) for way in ("down", "up")]
    wanted = pcap.Wanted(pcap=("down", "up"))
    with pytest.raises(pcap.CaptureError, match="no such device"):
        pcap.Capture(wanted, site(ports=ports)).__enter__()
    assert begun[0].returncode == -9
