# SPDX-License-Identifier: GPL-2.0-only
"""Two flavors with the same figures: the clients of both trials, held against the kept trials."""

from __future__ import annotations

import pytest

from analysis.kept import Kept
from analysis.kept_trials import FILE, read
from analysis.report import sentences
from harness.judge import studies
from studies.ubrplus_1998 import served

FOLDER = studies.folder("ubrplus_1998")
KEPT = Kept(FOLDER / "results")


def written() -> str:
    sentence = sentences.load(FOLDER / sentences.FILE)["order-tie"]
    return sentences.written(sentence, served.served(KEPT), "here")


@pytest.mark.parametrize("flavor", served.FLAVORS)
def test_the_clients_sum_up_to_the_kept_trial(flavor: str) -> None:
    levels = {**served.PLACE, "flavor": flavor}
    trials = read(KEPT.folder / served.CAMPAIGN / FILE)
    [trial] = [one for one in trials if levels.items() <= one.levels.items()]
    for name in ("answered", "retransmits", "timeouts"):
        found = sum(int(row[name]) for row in served.clients()[flavor])
        assert found == trial.metrics[name]


def test_other_bytes_of_one_client_end_the_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "exactly the same efficiency" in written()
    lines = served.clients()
    first, *others = lines["Reno"]
    moved = {**lines, "Reno": [{**first, "received_bytes": "1"}, *others]}
    monkeypatch.setattr(served, "clients", lambda: moved)
    assert "exactly the same efficiency" not in written()
