# SPDX-License-Identifier: GPL-2.0-only
"""examples/README.md: `python -m tests.gallery` runs each example and renews its page and pictures.

An example is a file examples/NAME.toml. Its page has the comment at its top, its text, the figures
of its trials, and pictures of the trials with the first seed as a report draws them.
tests/test_gallery.py compares.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from analysis import read_campaign
from analysis.records import Trial
from analysis.report import link_plots, path_plots, trial_plots, video_plots
from analysis.report.drawing import Drawing
from analysis.report.svg import stand_alone
from harness.api.experiment import Experiment
from harness.design import experiment
from harness.design.trials import planned
from tests import deep_space, multipath, video
from tests.small import PROJECT

FOLDER = PROJECT / "examples"
PAGE = FOLDER / "README.md"
DRAWN = (path_plots.rate, path_plots.delay)
OF_A_STILL_PATH = (trial_plots.sojourns, trial_plots.pairs)
OF_LINKS = (link_plots.routes, link_plots.queues)
OF_PATHS = (link_plots.routes,)
OF_PAGES = (trial_plots.windows,)
OF_VIDEO = (video_plots.rates, video_plots.buffers)
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-only -->
# Examples

Each example is one short file. The first command runs an example. The second command replays the
example on a [live page](../docs/watch.md); before its first use, type `./cellbed setup
--library`:

    ./cellbed run examples/handover.toml
    ./cellbed watch results/handover

Begin with [a train through a tunnel](#a-train-through-a-tunnel) or [a
handover](#a-handover-each-15-s): each is one trial. Some other examples need another kernel, and
their first run builds it. Their text says so. An example in its own folder compares [TCP and
QUIC](quic/README.md).

- **Paths.** In most examples, the path is a [moving path](../docs/moving-paths.md): the link
  changes during the trial. The page has a picture of the delay only if the delay changes.
- **Efficiency.** It compares the received payload with what a link of the rate
  `topology.rate_bit_per_s` can carry. A moving path often has another rate.
- **Pictures.** The command `./cellbed report results/NAME` also draws the pictures of this page.
  To see them, open `results/NAME/report/report.html` and press the line of a trial. The rate of
  the link counts all bits of the cells, so it is higher than the throughput, which counts IP
  packets. Only the rate of a packet-delivery trace counts packets.
"""


def names() -> list[str]:
    """The examples."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def run(name: str, folder: Path) -> Sequence[Trial]:
    """The trials of an example; their records are in folder/NAME.

    Their names are those of their plans alone: the ids in a picture come from a trial's name, and
    must not change with the software.
    """
    file = FOLDER / f"{name}.toml"
    Experiment.from_file(file).run(folder / name, progress=False)
    found = read_campaign(folder / name)
    assert not found.invalid
    names = {
        (
            frozenset((key, str(level)) for key, level in one.factors.items()),
            one.plan.seed,
        ): one.name
        for one in planned(experiment.load(file), file)
    }
    return [
        replace(trial, name=names[frozenset(trial.factors.items()), trial.seed])
        for trial in found.trials
    ]


def pictures(trials: Sequence[Trial]) -> Iterator[tuple[str, str, str]]:
    """The end of the name, what is to be seen, and the file, of each picture of the first seed."""
    shown = [trial for trial in trials if trial.seed == trials[0].seed]
    for trial in shown:
        level = " ".join(trial.factors.values())
        for draw in drawn(trial):
            drawing = draw(trial)
            assert drawing is not None, trial.name
            svg = stand_alone(trial_plots.plot(trial, drawing).svg)
            if len(shown) == 1:
                yield drawing.kind, drawing.alt, svg
            else:
                yield f"{level}-{drawing.kind}", f"{level}: {drawing.alt}", svg


def drawn(trial: Trial) -> Sequence[Callable[[Trial], Drawing | None]]:
    """What is drawn of a trial."""
    if trial.series("connections"):
        return OF_PATHS
    if trial.plan.topology.layout().named:
        return OF_LINKS
    if trial.series("requests"):
        return OF_PAGES
    if trial.series("segments"):
        return OF_VIDEO
    path = trial.plan.topology.path
    if not path:
        return OF_A_STILL_PATH
    # The picture of a delay that never changes would be a constant line.
    delays = (path.way(way).delays_us for way in path_plots.WAYS)
    return DRAWN if any(len(set(found)) > 1 for found in delays) else DRAWN[:1]


def figures(trials: Sequence[Trial]) -> str:
    """The figures of the trials, in a sentence or a few."""
    [trial, *others] = trials
    if trial.series("connections"):
        return multipath.figures(trials)
    if trial.plan.topology.layout().named:
        return shares(trials)
    if trial.series("segments"):
        return video.figures(trials)
    if others:
        return deep_space.figures(trials)
    efficiency = trial.metrics["efficiency"]
    again = trial.metrics["retransmits"]
    return (
        f"With seed {trial.seed}, the efficiency is {efficiency:.4f}, and {sent_again(again)}."
        f" All {len(trial.checks)} checks passed."
    )


def sent_again(segments: float | None) -> str:
    """How many segments the senders sent again, as the end of a sentence."""
    if not segments:
        return "the senders sent no segment again"
    return f"the senders sent {segments:,.0f} segment{'s' if segments > 1 else ''} again"


def cost(text: str) -> str:
    """What the first run of an example costs beside its trials; "": nothing."""
    kernel = re.search(r'^lab\.kernel = "(.*)"$', text, re.MULTILINE)
    if not kernel and 'kind = "mptcp"' not in text:
        return ""
    runs = f"runs on Linux {kernel[1]}" if kernel else "needs a kernel with MPTCP"
    return (
        f" This example {runs}. Its first run builds this kernel, which takes"
        " about 4 to 8 minutes on two cores. Later runs use the same kernel."
    )


def shares(trials: Sequence[Trial]) -> str:
    """What the long pair of a parking lot got, level by level, over the seeds."""
    levels: dict[str, list[float]] = {}
    for trial in trials:
        share = trial.metrics["of_share_long"]
        assert share is not None
        levels.setdefault(" ".join(trial.factors.values()), []).append(share)
    told = " ".join(
        f"With `{level}`, the long flow received {min(found):.3f} to {max(found):.3f} of this"
        " share."
        for level, found in levels.items()
    )
    [checks] = {len(trial.checks) for trial in trials}
    return (
        "The max-min fair share of the long flow is half of a link."
        f" {told} The ranges are over seeds {trials[0].seed} to {trials[-1].seed}. All {checks}"
        f" checks of each trial passed. The pictures show seed {trials[0].seed}."
    )


def section(name: str, shown: Sequence[tuple[str, str]], told: str) -> str:
    """The part of the page about an example; shown: kind and alt of each picture."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    about = " ".join(re.findall(r"^# (?!SPDX)(.*)$", text, re.MULTILINE))
    found = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    assert found, name
    body = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    images = "".join(f"\n![{alt}]({name}-{kind}.svg)\n" for kind, alt in shown)
    return f"\n## {found[1]}\n\n{about}\n\n```toml\n{body}```\n\n{told}{cost(text)}\n{images}"


def renew(chosen: Sequence[str]) -> None:
    """Run all examples anew and write the page with its pictures."""
    page = HEAD
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            trials = run(name, Path(folder))
            shown = []
            for kind, alt, svg in pictures(trials):
                (FOLDER / f"{name}-{kind}.svg").write_text(svg, encoding="utf-8")
                shown.append((kind, alt))
            page += section(name, shown, figures(trials))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew(names()))
