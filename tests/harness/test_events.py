# SPDX-License-Identifier: GPL-2.0-only
"""Events as lines of a file: what is written is read again, whatever ended the writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import events
from harness.events import CampaignStarted, EventLog, TrialFailed, TrialProgress
from harness.records.whole import append_whole, drop_torn_line

STARTED = CampaignStarted(
    experiment="small", lab="uml", clock="virtual", jobs=2, scheduler=None,
    trials=("a", "b"), finished=("a",),
)  # fmt: skip
FAILED = TrialFailed(trial="b", attempt=1, reason="two\nlines", retried=True)


def log_to(path: Path) -> EventLog:
    return EventLog(lambda line: append_whole(path, line))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / events.NAME
    log = log_to(path)
    for event in (STARTED, FAILED):
        log(event)
    assert [event for _, event in events.read(path)] == [STARTED, FAILED]
    first = json.loads(path.read_text().splitlines()[0])
    assert first["event"] == "campaign-started" and first["format"] == events.FORMAT


def test_every_prefix_of_a_file_can_be_read_and_gone_on_with(tmp_path: Path) -> None:
    """As kill -9 in the middle of a write leaves it."""
    path = tmp_path / events.NAME
    log_to(path)(STARTED)
    whole = path.stat().st_size
    log_to(path)(FAILED)
    data = path.read_bytes()
    for size in range(whole, len(data)):
        path.write_bytes(data[:size])
        assert [event for _, event in events.read(path)] == [STARTED]
        drop_torn_line(path)
        log_to(path)(FAILED)
        assert [event for _, event in events.read(path)] == [STARTED, FAILED]


def test_progress_is_written_once_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    log = log_to(tmp_path / events.NAME)
    for second in range(100):
        now[0] += 0.1
        for trial in ("a", "b"):
            log(TrialProgress(trial=trial, virtual_s=float(second)))
    read = [event for _, event in events.read(tmp_path / events.NAME)]
    assert 18 <= len(read) <= 20


def test_a_field_of_a_later_version_is_left_out() -> None:
    assert events.from_json({**events.to_json(FAILED), "host": "x"}) == FAILED


@pytest.mark.parametrize(
    ("change", "said"),
    [({"event": "trial-lost"}, "event trial-lost: there are campaign-started"),
     ({"event": "trial-started", "trial": "a", "reason": 1}, None),
     ({"event": "trial-ended"}, "event trial-ended: .*missing")],
)  # fmt: skip
def test_what_is_no_event_is_refused(change: dict[str, object], said: str | None) -> None:
    if said is None:
        assert events.from_json(change)
    else:
        with pytest.raises(ValueError, match=said):
            events.from_json(change)
