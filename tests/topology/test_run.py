# SPDX-License-Identifier: GPL-2.0-only
"""Commands, of which some end later than their output."""

from __future__ import annotations

import time

import pytest

from topology.run import CommandError, at_once, run

OUTPUT_ENDS_FIRST = ["sh", "-c", "echo said; exec >&- 2>&-; sleep 0.2; exit $0"]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Each wait between two looks at a command."""
    found: list[float] = []
    real_sleep = time.sleep

    def sleep(seconds: float) -> None:
        found.append(seconds)
        real_sleep(seconds)

    monkeypatch.setattr(time, "sleep", sleep)
    return found


def test_at_once_waits_for_the_end_itself(waits: list[float]) -> None:
    with at_once():
        assert run([*OUTPUT_ENDS_FIRST, "0"]) == "said\n"
    assert waits == []
    assert run([*OUTPUT_ENDS_FIRST, "0"]) == "said\n"
    assert waits


def test_a_status_is_told(waits: list[float]) -> None:
    with at_once(), pytest.raises(CommandError, match="failed with status 3: said$"):
        run([*OUTPUT_ENDS_FIRST, "3"])


def test_a_limit_ends_the_command() -> None:
    begin = time.monotonic()
    with at_once(), pytest.raises(CommandError, match="did not end within 0 s: sh -c "):
        run(["sh", "-c", "exec >&- 2>&-; exec sleep 60"], limit_s=0.2)
    assert 0.2 <= time.monotonic() - begin < 30
