# SPDX-License-Identifier: GPL-2.0-only
"""Mistakes that people make in an experiment, each with its message: mistakes.txt.

`python -m tests.harness.design.mistakes` writes the messages again; read them before you keep them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from harness.design import experiment
from harness.design.trials import planned
from plan.errors import UsageError

PAGE = Path(__file__).with_suffix(".txt")
NAME = "buffers.toml"
GOOD = """name = "buffers"
title = "what a buffer costs"
seeds = 2
[factors]
buffer = [250, 1000]
queue.policy = ["plain", "epd"]
[base]
topology = { pairs = 4, rate_bit_per_s = 45_000_000, delay_us = 50_000, mss_bytes = 1024 }
queue = { threshold = 0.8 }
tcp = { flavor = "sack", window_bytes = 262_140, ssthresh_bytes = 65_535 }
workload = { kind = "iperf", duration_s = 20, reverse = true }
[[rule]]
when = { buffer = 250 }
set = { queue.buffer_cells = 250 }
[[rule]]
when = { buffer = 1000 }
set = { queue.buffer_cells = 1000 }
"""


@dataclass(frozen=True)
class Mistake:
    """What stands in GOOD, what somebody wrote in its place, and the message with its note."""

    right: str
    wrong: str
    message: str = ""
    note: str = ""

    def text(self) -> str:
        return GOOD.replace(self.right, self.wrong, 1)


def mistakes() -> Iterator[Mistake]:
    """Those of the page: four lines each, the first two with - and + before them."""
    for block in PAGE.read_text(encoding="utf-8").split("\n\n")[1:]:
        right, wrong, message, note, *_ = [*block.rstrip("\n").split("\n"), ""]
        yield Mistake(unquoted(right[2:]), unquoted(wrong[2:]), message, note)


def unquoted(line: str) -> str:
    return line.replace("\\n", "\n").replace("\\t", "\t")


def quoted(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t")


def told(mistake: Mistake, folder: Path) -> Mistake:
    """The same with the message that is given now; "": none is."""
    with chdir(folder):
        path = Path(NAME)
        path.write_text(mistake.text(), encoding="utf-8")
        try:
            planned(experiment.load(path), path)
        except UsageError as error:
            note = "\n".join(getattr(error, "__notes__", []))
            return replace(mistake, message=str(error), note=note)
    return replace(mistake, message="", note="")


def write(found: list[Mistake]) -> None:
    header = PAGE.read_text(encoding="utf-8").split("\n\n")[0]
    blocks = [
        f"- {quoted(m.right)}\n+ {quoted(m.wrong)}\n{m.message}\n{m.note}".rstrip("\n")
        for m in found
    ]
    PAGE.write_text("\n\n".join([header, *blocks]) + "\n", encoding="utf-8")


def renew() -> None:
    with tempfile.TemporaryDirectory() as name:
        write([told(mistake, Path(name)) for mistake in mistakes()])


if __name__ == "__main__":
    sys.exit(renew())
