# SPDX-License-Identifier: GPL-2.0-only
"""Run EXPERIMENT at two levels of a factor; say what differs, and from which segment on.

Leaves with 1 where anything differs: with --tolerance, where the mean of a response does by more
than that fraction.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from analysis.compare import text
from analysis.compare.levels import compare
from analysis.records import level_text
from harness.api.campaign import Campaign, told
from harness.api.experiment import Experiment, execute
from harness.api.verdict import raise_failures
from harness.cli.options import kernel_option, lab_option, levels_option
from harness.design import experiment as experiments
from harness.design.experiment import KERNEL
from harness.errors import UsageError

RESULTS = Path("results")
SAMPLE_MS = 10
MOST_PAIRS = 100


@click.command(help=__doc__)
@click.argument("experiment", type=click.Path(path_type=Path))
@click.option("--factor", metavar="FACTOR=A,B", help="B against A.")
@kernel_option("A,B", "Kernel B against kernel A (docs/kernels.md).")
@levels_option("FACTOR=LEVEL[,LEVEL]", "Only these levels of the others.")
@click.option("--seeds", type=click.IntRange(1, 1000), help="So many seeds [the file's].")
@click.option("--jobs", type=click.IntRange(1, 256), help="Labs at a time [one a core].")
@lab_option("Which lab.")
@click.option(
    "--tolerance",
    default=0.0,
    type=click.FloatRange(0),
    metavar="FRACTION",
    help="What a response may differ by [0: no byte may].",
)
@click.option("--out", type=click.Path(path_type=Path), help="[results/NAME-compare]")
def command(
    experiment: Path,
    factor: str | None,
    kernels: list[str],
    only: tuple[str, ...],
    seeds: int | None,
    jobs: int | None,
    lab: str,
    tolerance: float,
    out: Path | None,
) -> None:
    asked = followed(Experiment.from_file(experiment))
    if bool(factor) == bool(kernels):
        raise UsageError("compare: either --factor FACTOR=A,B or --kernel A,B")
    name, levels = two_levels(asked, factor) if factor else (KERNEL, two_kernels(kernels))
    running = asked.prepare(
        out or RESULTS / f"{asked.name}-compare", (*only, *([factor] if factor else [])),
        seeds=seeds, jobs=jobs, lab=lab, pcap=["down"], kernels=kernels,
    )  # fmt: skip
    documents = execute(running)
    raise_failures(running, documents)
    with told():
        shown = next(iter(documents.values()))["responses"]
        found = compare(Campaign(running.folder).records, name, levels, shown)
    for line in text.lines(found):
        click.echo(line)
    if found.differs(tolerance):
        raise SystemExit(1)


def followed(experiment: Experiment) -> Experiment:
    """With the windows of its senders sampled."""
    record = {"cwnd_sample_ms": SAMPLE_MS, "cwnd_pairs": list(range(1, MOST_PAIRS + 1))}
    rule = experiments.Rule(when={}, set={"record": record})
    design = experiment.design
    return replace(experiment, design=design.model_copy(update={"rule": [*design.rule, rule]}))


def two_kernels(names: list[str]) -> tuple[str, str]:
    """The names of two kernels; UsageError for any other number."""
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--kernel {','.join(names)}: A,B, two kernels")
    return names[0], names[1]


def two_levels(experiment: Experiment, option: str) -> tuple[str, tuple[str, str]]:
    """The factor and its two levels, as records have them; UsageError for any other number."""
    factor, _, levels = option.partition("=")
    words = levels.split(",")
    if factor not in experiment.factors or len(words) != 2 or words[0] == words[1]:
        raise UsageError(
            f"--factor {option}: FACTOR=A,B, two levels of one of {', '.join(experiment.factors)}"
        )
    known = {str(level): level_text(level) for level in experiment.factors[factor]}
    for word in words:
        if word not in known:
            raise UsageError(f"--factor {option}: {word}: one of {', '.join(known)}")
    return factor, (known[words[0]], known[words[1]])
