# SPDX-License-Identifier: GPL-2.0-only
"""examples/quic/README.md: `python -m tests.quic_page [RESULTS]` renews its table and its picture.

Without RESULTS it runs the experiment, which takes some minutes on two cores. RESULTS is the
folder of a run of examples/quic/web-quic.toml.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import read_campaign
from analysis.records import Trial
from analysis.report.svg import colour, stand_alone, style, to_svg
from analysis.statistics import estimate
from harness.api.experiment import Experiment
from tests.small import PROJECT

FOLDER = PROJECT / "examples" / "quic"
FILE = FOLDER / "web-quic.toml"
PAGE = FOLDER / "README.md"
PICTURE = FOLDER / "web-quic-times.svg"
BEGIN, END = "<!-- results -->\n", "<!-- end -->\n"
SHARES = (0.5, 0.75)
NAMES = {
    "tcp": "HTTP/1.1, CUBIC of the kernel",
    "ngtcp2": "HTTP/3, CUBIC of ngtcp2",
    "aioquic": "HTTP/3, CUBIC of aioquic",
}

Cells = Mapping[tuple[str, str], Sequence[Trial]]


def cells_of(folder: Path) -> Cells:
    """The trials of each protocol and loss, in the order of the experiment; all must be valid."""
    campaign = read_campaign(folder)
    design = Experiment.from_file(FILE)
    first, count = design.design.first_seed, design.design.seeds
    seeds = range(first, first + count)
    assert not [trial.name for trial in campaign.invalid if trial.seed in seeds]
    found: dict[tuple[str, str], list[Trial]] = {}
    for loss in design.factors["loss"]:
        for protocol in design.factors["protocol"]:
            found[str(protocol), str(loss)] = [
                trial for trial in campaign.trials
                if (trial.factors["protocol"], trial.factors["loss"]) == (protocol, loss)
                and trial.seed in seeds
            ]  # fmt: skip
    assert {len(trials) for trials in found.values()} == {count}, "a trial is missing"
    return found


def times_s(trial: Trial) -> list[float]:
    """From the moment at which each request was due to its last byte [s]; inf: it did not come."""
    rows = trial.series("requests")
    assert rows
    return sorted(
        (row["last_byte_ns"] - row["due_ns"]) / 1e9  # type: ignore[operator]
        if row["last_byte_ns"] is not None else math.inf
        for row in rows
    )  # fmt: skip


def at_share(times: Sequence[float], share: float) -> float:
    """The shortest time in which this share of the requests was answered."""
    return times[math.ceil(share * len(times)) - 1]


def interval(values: Sequence[float], form: str) -> str:
    """The mean of the seeds' values with half of its interval of 95 %."""
    found = estimate(values)
    assert found.half_width is not None
    return f"{found.mean:{form}} ± {found.half_width:{form}}"


def row(protocol: str, loss: str, trials: Sequence[Trial]) -> str:
    times = [times_s(trial) for trial in trials]
    shares = [interval([at_share(one, share) for one in times], ".3f") for share in SHARES]
    open_percent = [100 * sum(map(math.isinf, one)) / len(one) for one in times]
    cells = [loss, NAMES[protocol], *shares, interval(open_percent, ".1f")]
    return f"| {' | '.join(cells)} |\n"


def table(cells: Cells) -> str:
    """The table of the page, and the sentences about its trials."""
    head = (
        "| losses of the path | protocol and sender | half of the requests (s) | three quarters (s)"
        " | unanswered at the end (%) |\n| --- | --- | --- | --- | --- |\n"
    )
    rows = "".join(row(*key, trials) for key, trials in cells.items())
    every = [trial for trials in cells.values() for trial in trials]
    seeds = len(next(iter(cells.values())))
    requests = sum(len(times_s(trial)) for trial in every)
    return (
        f"{head}{rows}\nThe table has {len(every)} trials: {seeds} seeds for each line. The"
        f" {len(every)} trials together have {requests:,} requests. All trials passed all checks."
        " A number before ± is the mean over the seeds, and the number after ± is half of its 95 %"
        " interval.\n"
    )


def paint(axes: Axes, cells: Cells, loss: str) -> None:
    for place, protocol in enumerate(NAMES):
        times = sorted(t for trial in cells[protocol, loss] for t in times_s(trial))
        done = [time for time in times if math.isfinite(time)]
        share = [(n + 1) / len(times) for n in range(len(done))]
        axes.step(done, share, where="post", color=colour(place), lw=1.2, label=protocol)
    axes.set_xscale("log")
    axes.set(xlabel="time (s)", ylim=(0, 1), title=f"losses: {loss}")


def picture(cells: Cells) -> str:
    """The shares of the requests that were answered within a time, as SVG."""
    losses = list(dict.fromkeys(loss for _, loss in cells))
    with style("web-quic-times"):
        figure = Figure(figsize=(7, 2.6))
        both = figure.subplots(1, len(losses), sharex=True, sharey=True)
        for axes, loss in zip(both, losses, strict=True):
            paint(axes, cells, loss)
        both[0].set_ylabel("share of the requests")
        both[0].legend()
        figure.subplots_adjust(left=0.09, right=0.98, bottom=0.19, top=0.88, wspace=0.08)
        return stand_alone(to_svg(figure, tight=False))


def renew(folder: Path) -> None:
    cells = cells_of(folder)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table(cells)}{END}{after}", encoding="utf-8")
    PICTURE.write_text(picture(cells), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        renew(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            Experiment.from_file(FILE).run(Path(made, "results"))
            renew(Path(made, "results"))
