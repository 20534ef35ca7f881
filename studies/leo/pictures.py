# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of its README, from the kept trials: `python -m studies.leo.pictures` draws them.

They are those that `./cellbed study keep` takes from a report. So a picture can be new although the
records of its trials are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analysis import kept_trials
from analysis.report.svg import stand_alone
from analysis.report.write import replace_file
from studies.leo import plots

FOLDER = Path(__file__).parent
SHOWN = re.compile(r"\((results/([\w-]+)/by-sender-(\w+)\.svg)\)")


def pictures() -> Iterator[tuple[Path, str]]:
    """The file and the text of each picture that the README shows."""
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for file, campaign, response in SHOWN.findall(page):
        kept = kept_trials.read(FOLDER / "results" / campaign / kept_trials.FILE)
        cells = kept_trials.cells_of(kept)
        plot = plots.by_sender(cells, response, plots.LABELS[response])
        yield FOLDER / file, stand_alone(plot.svg)


if __name__ == "__main__":
    for path, svg in pictures():
        replace_file(path, svg)
