# SPDX-License-Identifier: GPL-2.0-only
"""What a lab leaves of a test is read: warnings without a message, packets after a hang. No lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from harness.labs import Lab
from harness.selftests.lab import ended_early, read


class Left:
    """A lab that has ended."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.run_directory = folder
        (folder / "results").mkdir()
        for name, text in files.items():
            (folder / "results" / name.replace("_", ".")).write_text(text)

    def console(self, _: int = 0) -> str:
        return "its last words\n"


def lab(folder: Path, **files: str) -> Lab:
    return cast(Lab, cast(Any, Left(folder, **files)))


@pytest.mark.parametrize("tainted", [512, 128, 16384, 4096 | 512])
def test_a_warning_that_the_log_has_lost_is_a_failure(tmp_path: Path, tainted: int) -> None:
    dmesg = "[ 9.0] later lines\n"
    found = read(lab(tmp_path, status=f"1.0 2.0 {tainted} 0", dmesg=dmesg, output="ok\n"), 45)
    said = f"WARNING: the kernel is tainted ({tainted}), but its log has lost the message"
    assert (found.verdict, found.why) == ("fail", said)


def test_a_module_that_is_not_of_the_tree_is_no_failure(tmp_path: Path) -> None:
    found = read(lab(tmp_path, status="1.0 2.0 4096 0", output="ok\n"), 45)
    assert (found.verdict, found.complaint) == ("pass", "")


def test_a_warning_in_the_log_is_told_in_its_words(tmp_path: Path) -> None:
    found = read(lab(tmp_path, status="1.0 2.0 512 0", dmesg="a\nWARNING: CPU: 0\nb\n"), 45)
    assert found.complaint == "WARNING: CPU: 0\nb"


def test_packets_of_a_lab_that_ended_early_are_kept(tmp_path: Path) -> None:
    of = lab(tmp_path, output="half\n", **{"1_pcap": "packets"})
    for found in (read(of, 45), ended_early(of, "it hangs")):
        assert (found.status, found.output) == (None, "half\n")
        assert found.packets == {"1.pcap": b"packets"}
