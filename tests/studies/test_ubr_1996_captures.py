# SPDX-License-Identifier: GPL-2.0-only
"""Bytes in order beside bytes that came: the counts, and the sentences that rest on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.kept import Kept
from analysis.report import sentences
from analysis.tcp import ACK, SYN
from harness.judge import studies
from studies.ubr_1996 import captures
from tests.analysis.test_goodput import BEGIN_NS, CLIENT, SERVER, frame, written

FOLDER = studies.folder("ubr_1996")
KEPT = Kept(FOLDER / "results")


def second(at_s: int) -> int:
    return BEGIN_NS + at_s * 1_000_000_000


def test_what_left_the_queue_in_the_measured_time(tmp_path: Path) -> None:
    """Pair 1 loses its first segment, which comes at last; pair 2 sends a segment again."""
    path = written(
        tmp_path / "down.pcap",
        (0.1, frame(SERVER, 1, SYN, 99)),
        (0.1, frame(SERVER, 2, SYN, 7)),
        (0.5, frame(SERVER, 1, ACK, 100 + 512, payload_bytes=512)),
        (0.6, frame(SERVER, 2, ACK, 8, payload_bytes=500)),
        (1.5, frame(SERVER, 1, ACK, 100, payload_bytes=512)),
        (1.6, frame(CLIENT, 1, ACK, 1, 100 + 1024)),
        (1.7, frame(SERVER, 2, ACK, 8, payload_bytes=500)),
        (2.5, frame(SERVER, 2, ACK, 508, payload_bytes=500)),
    )
    assert captures.carried(path, second(0), second(1)) == (1012, 0)
    assert captures.carried(path, second(1), second(2)) == (512, 500)
    assert captures.carried(path, second(1), second(3)) == (1012, 500)


@pytest.mark.parametrize(
    ("column", "of"),
    [
        ("efficiency", lambda value: value + 1e-9),
        ("new_bytes", lambda value: value * 1.02),
        ("in_order_bytes", lambda value: value * 0.9),
    ],
)
def test_other_counts_are_not_explained_so(
    monkeypatch: pytest.MonkeyPatch, column: str, of: object
) -> None:
    sentence = sentences.load(FOLDER / sentences.FILE)["held"]
    assert "So the bytes above" in sentences.written(sentence, captures.held(KEPT), "here")
    assert callable(of)
    rows = [{**row, column: repr(of(float(row[column])))} for row in captures.counts()]
    monkeypatch.setattr(captures, "counts", lambda: rows)
    assert "So the bytes above the limit" not in sentences.written(
        sentence, captures.held(KEPT), "here"
    )
