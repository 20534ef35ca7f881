# SPDX-License-Identifier: GPL-2.0-only
"""What iperf refused is found in what a script printed and in the files that it wrote. No lab."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.scripts import remedies, written
from harness.scripts.host import Heard

TIME = "ERROR: -t value of '66s' not recognized\n"
INTERVAL = "Invalid value of '1s' for -i interval\n"
REMEDY = "takes a number of seconds, without a unit"
SENTENCE = f"iperf -t 66s: iperf refused this and did not run; iperf -t {REMEDY}"
OF_INTERVAL = f"iperf -i 1s: iperf refused this and did not run; iperf -i {REMEDY}"


def test_the_words_of_iperf_in_a_file_are_told_once(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "tmp"
    (work / "logs").mkdir(parents=True)
    other.mkdir()
    (work / "h1out").write_text(f"Running\nstderr:  {TIME}")
    (work / "logs" / "h2out").write_text(f"\xff{TIME}", encoding="latin-1")
    (other / "h3out").write_text(INTERVAL)
    found = remedies.sentences(written.notes([work, other, tmp_path / "none"]))
    assert sorted(found) == sorted([SENTENCE, OF_INTERVAL])


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "other").write_text("iperf -t 66s\n-t value of '66s'\n")
    assert written.notes([tmp_path]) == []


@pytest.mark.parametrize(("said", "sentence"), [(TIME, SENTENCE), (INTERVAL, OF_INTERVAL)])
def test_the_words_of_iperf_in_the_output_are_told(said: str, sentence: str) -> None:
    heard = Heard()
    heard.listen(said[:20])
    heard.listen(said[20:])
    heard.listen(said)
    assert heard.sentences() == [sentence]


def test_a_remedy_is_no_text_that_moves_the_cursor() -> None:
    assert remedies.sentences([["iperf", "-t \x1b[2J", ""]]) == []
