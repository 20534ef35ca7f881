# SPDX-License-Identifier: GPL-2.0-only
"""examples/README.md: `python -m tests.gallery` runs each example and renews its page and pictures.

An example is a file examples/NAME.toml. Its page has the comment at its top, its text, the figures
of its trial, and pictures of the trial as its report draws them. tests/test_gallery.py compares.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis import read_campaign
from analysis.records import Trial
from analysis.report import path_plots, trial_plots
from analysis.report.svg import stand_alone
from harness.api.experiment import Experiment
from tests.small import PROJECT

FOLDER = PROJECT / "examples"
PAGE = FOLDER / "README.md"
DRAWN = (path_plots.rate, path_plots.delay)
OF_A_STILL_PATH = (trial_plots.sojourns, trial_plots.pairs)
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-only -->
# Examples

Each example is one short file, and one trial. Most examples have a [moving
path](../docs/moving-paths.md). Run an example, and see it again in the live page:

    ./cellbed run examples/handover.toml
    ./cellbed watch results/handover

The efficiency compares with `topology.rate_bit_per_s`, which a moving path often does not have. The
command `./cellbed report results/NAME` draws these pictures, too. The rate of the link counts all
bits of the cells, so it lies above the throughput in IP packets. Only the rate of a
trace counts packets.
"""


def names() -> list[str]:
    """The examples."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def run(name: str, folder: Path) -> Trial:
    """The one trial of an example; its record is in folder/NAME."""
    Experiment.from_file(FOLDER / f"{name}.toml").run(folder / name, progress=False)
    [trial] = read_campaign(folder / name).trials
    return trial


def pictures(trial: Trial) -> Iterator[tuple[str, str, str]]:
    """The end of the name, what is to be seen, and the file, of each picture."""
    for draw in DRAWN if trial.plan.topology.path else OF_A_STILL_PATH:
        drawing = draw(trial)
        assert drawing is not None, trial.name
        yield drawing.kind, drawing.alt, stand_alone(trial_plots.plot(trial, drawing).svg)


def figures(trial: Trial) -> str:
    """A sentence with the figures of a trial."""
    efficiency = trial.metrics["efficiency"]
    again = trial.metrics["retransmits"]
    return (
        f"With seed {trial.seed}, the efficiency is {efficiency:.4f}, and the senders sent"
        f" {again:,.0f} segments again. All {len(trial.checks)} checks passed."
    )


def section(name: str, shown: Sequence[tuple[str, str]], told: str) -> str:
    """The part of the page about an example; shown: kind and alt of each picture."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    about = " ".join(re.findall(r"^# (?!SPDX)(.*)$", text, re.MULTILINE))
    found = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    assert found, name
    body = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    images = "".join(f"\n![{alt}]({name}-{kind}.svg)\n" for kind, alt in shown)
    return f"\n## {found[1]}\n\n{about}\n\n```toml\n{body}```\n\n{told}\n{images}"


def renew(chosen: Sequence[str]) -> None:
    """Run all examples anew and write the page with its pictures."""
    page = HEAD
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            trial = run(name, Path(folder))
            shown = []
            for kind, alt, svg in pictures(trial):
                (FOLDER / f"{name}-{kind}.svg").write_text(svg, encoding="utf-8")
                shown.append((kind, alt))
            page += section(name, shown, figures(trial))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew(names()))
