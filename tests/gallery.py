# SPDX-License-Identifier: GPL-2.0-only
"""examples/README.md: `python -m tests.gallery [NAME ...]` runs the examples, or only these.

It renews their pictures and their parts of the page. An example is a file examples/NAME.toml. Its
part has the comment at its top, its text, the figures of its trials, and pictures of the trials
with the first seed as a report draws them.
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
from tests import deep_space, multipath, spread, video
from tests.small import PROJECT
from topology.shapes.leaf_spine import LeafSpine

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

Each example is one short file. The first command runs an example. The second command plays it on
a [live page](../docs/watch.md); before its first use, type `./cellbed setup --library`:

    ./cellbed run examples/handover.toml
    ./cellbed watch results/handover

The live page shows the handovers: the rate and the delays of the path, with the throughput, the
windows of the senders and the queue. Press **Play**, or drag the time.

| about | examples |
| --- | --- |
| satellites | [a handover](#a-handover-each-15-s), [passes on a low orbit](#passes-of-satellites-on-a-low-orbit), [the space station](#a-pass-of-the-space-station), [a shell](#satellites-of-a-shell) |
| mobile links | [a train](#a-train-through-a-tunnel), [a random rate](#a-mobile-link), [a packet-delivery trace](#a-packet-delivery-trace), [video](#video-over-a-mobile-link) |
| several bottlenecks or paths | [cross flows](#a-long-flow-against-cross-flows), [a data center](#equal-paths-in-a-data-center) |
| a phone with two links, and MPTCP | [both links](#two-access-links-for-one-connection), [a common bottleneck](#two-subflows-in-one-bottleneck), [a change of the link](#from-wi-fi-to-lte), [a link that fades](#wi-fi-that-fades) |
| low delay (L4S) | [two queues](#two-queues-for-two-kinds-of-senders) |
| QUIC and TCP | [another planet](#a-planet-four-light-minutes-away), [web pages](quic/README.md) in a folder of its own |

Begin with the train or the handover: each is one trial. Some examples need another kernel, and
their first run builds it. Their text says so.

- **Keys.** [experiments.md](../docs/experiments.md) has all keys of an example's file, and
  [flavors.md](../docs/flavors.md) all senders.
- **Checks.** A trial checks its own result. For example, a check compares the delay of each packet
  with the delay of the path.
- **Paths.** In most examples, the path is a [moving path](../docs/moving-paths.md): the link
  changes during the trial. The page has a picture of the delay only if the delay changes.
- **Efficiency.** It compares the received payload with what a link of the rate
  `topology.rate_bit_per_s` can carry. A moving path often has another rate.
- **Pictures.** The command `./cellbed report results/NAME` also draws the pictures of this page.
  To see them, open `results/NAME/report/report.html` and press the line of a trial. The rate of
  the link counts all bits of the cells, so it is higher than the throughput, which counts IP
  packets. Only the rate of a packet-delivery trace counts packets.
"""  # noqa: E501 (a row of a table is a line)


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
        return OF_LINKS if trial.series("queue") else OF_PATHS
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
    layout = trial.plan.topology.layout()
    if isinstance(layout, LeafSpine):
        return spread.figures(trials)
    if layout.named:
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
    body = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    images = "".join(f"\n![{alt}]({name}-{kind}.svg)\n" for kind, alt in shown)
    return f"{heading(name)}{about}\n\n```toml\n{body}```\n\n{told}{cost(text)}\n{images}"


def heading(name: str) -> str:
    """The first line of an example's part of the page."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    found = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    assert found, name
    return f"\n## {found[1]}\n\n"


def parts() -> dict[str, str]:
    """Name of an example -> its part of the page as it is."""
    page = PAGE.read_text(encoding="utf-8")
    starts = {name: page.find(heading(name)) for name in names()}
    ends = sorted([*starts.values(), len(page)])
    return {
        name: page[start : ends[ends.index(start) + 1]]
        for name, start in starts.items()
        if start >= 0
    }


def renew(chosen: Sequence[str]) -> None:
    """Run the chosen examples anew, draw them and write their parts of the page."""
    found = parts()
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            trials = run(name, Path(folder))
            shown = []
            for kind, alt, svg in pictures(trials):
                (FOLDER / f"{name}-{kind}.svg").write_text(svg, encoding="utf-8")
                shown.append((kind, alt))
            found[name] = section(name, shown, figures(trials))
    page = HEAD + "".join(found[name] for name in names() if name in found)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(renew(sys.argv[1:] or names()))
