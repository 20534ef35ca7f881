# SPDX-License-Identifier: GPL-2.0-only
"""What a lab leaves of a test is read: warnings without a message, packets after a hang. No lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from harness.labs import Lab
from harness.selftests.lab import Work, ended_early, outcomes, read
from harness.selftests.outcome import Outcome


class Left:
    """A lab that has ended."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.run_directory = folder
        for name, text in files.items():
            file = folder / "results" / "0" / name.replace("_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def console(self, _: int = 0) -> str:
        return "its last words\n"


def lab(folder: Path, **files: str) -> Lab:
    return cast(Lab, cast(Any, Left(folder, **files)))


def ended(folder: Path, **files: str) -> Outcome:
    found = read(lab(folder, **files), 45, 0)
    assert found is not None
    return found


@pytest.mark.parametrize("tainted", [512, 128, 16384, 4096 | 512])
def test_a_warning_that_the_log_has_lost_is_a_failure(tmp_path: Path, tainted: int) -> None:
    dmesg = "[ 9.0] later lines\n"
    found = ended(tmp_path, status=f"1.0 2.0 {tainted} 0", dmesg=dmesg, output="ok\n")
    said = f"WARNING: the kernel is tainted ({tainted}), but its log has lost the message"
    assert (found.verdict, found.why) == ("fail", said)


def test_a_module_that_is_not_of_the_tree_is_no_failure(tmp_path: Path) -> None:
    found = ended(tmp_path, status="1.0 2.0 4096 0", output="ok\n")
    assert (found.verdict, found.complaint) == ("pass", "")


def test_a_warning_in_the_log_is_told_in_its_words(tmp_path: Path) -> None:
    found = ended(tmp_path, status="1.0 2.0 512 0", dmesg="a\nWARNING: CPU: 0\nb\n")
    assert found.complaint == "WARNING: CPU: 0\nb"


def test_packets_of_a_lab_that_ended_early_are_kept(tmp_path: Path) -> None:
    of = lab(tmp_path, output="half\n", **{"1_pcap": "packets"})
    assert read(of, 45, 0) is None
    found = ended_early(of, "it hangs", 0)
    assert (found.status, found.output) == (None, "half\n")
    assert found.packets == {"1.pcap": b"packets"}


@pytest.mark.parametrize(
    ("begun", "complaint", "verdicts"),
    [
        (2, "", ["pass", "pass"]),  # the second left traces behind
        (2, "a panic", ["pass", "fail"]),
        (3, "", ["pass", "pass", "fail"]),  # the third ended the lab
        (3, "a panic", ["pass", "pass", "fail"]),
        (0, "it does not boot", ["fail"]),
    ],
)
def test_what_ended_a_lab_is_a_fault_of_its_last_test_alone(
    tmp_path: Path, begun: int, complaint: str, verdicts: list[str]
) -> None:
    """And tests that it has not begun have no outcome. The third has none of its own."""
    of = lab(tmp_path)
    for number in range(begun):
        (folder := tmp_path / "results" / str(number)).mkdir(parents=True)
        if number < 2:
            (folder / "status").write_text("1.0 2.0 0 0")
    work = Work(
        folder="net", test="x.pkt", limit_s=9, clock="virtual", seed=1, image=tmp_path,
        kernel=tmp_path, words="", tests=tmp_path, tools=tmp_path, packetdrill=None,
    )  # fmt: skip
    found = outcomes(of, [work] * 4, complaint)
    assert [one.verdict for one in found] == verdicts
    if verdicts[-1] == "fail":
        assert found[-1].why.startswith(complaint or "the lab ended before the test did")
