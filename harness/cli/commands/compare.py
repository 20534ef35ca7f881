# SPDX-License-Identifier: GPL-2.0-only
"""Run EXPERIMENT at two levels of a factor; name the first segment that differs.

The exit status is 0 if nothing differs and 1 if anything differs. With --tolerance it is 1 only if
the mean of a response differs by more than that fraction. It is 125 if a kernel does not build. It
is 128 or more if an error prevents the comparison, so that `git bisect run` stops.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from analysis.compare import calls, text
from analysis.compare.levels import compare
from analysis.records import level_text, read_trial
from harness.api.campaign import told
from harness.api.experiment import Experiment, execute, refuse_elsewhere
from harness.api.verdict import raise_failures
from harness.cli.command import Command
from harness.cli.options import (
    experiment_argument,
    kernel_option,
    lab_option,
    levels_option,
    trust_kernels_option,
)
from harness.design import experiment as experiments
from harness.design.experiment import KERNEL, kernel_level
from harness.kernels.errors import KernelError
from plan.errors import CellbedError, UsageError
from plan.near import choices
from plan.plan import level_name

RESULTS = Path("results")
SAMPLE_MS = 10
MOST_PAIRS = 100
NO_ANSWER = 128  # and more: `git bisect run` stops, where it would take anything else for bad


class Comparing(Command):
    """Words that it does not know are no answer either."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.ClickException as error:
            setattr(error, "exit_code", error.exit_code + NO_ANSWER)  # noqa: B010 (a class has it)
            raise


@contextmanager
def answering() -> Iterator[None]:
    """Give what is no answer an exit code that says so."""
    try:
        yield
    except KernelError:
        raise
    except CellbedError as error:
        error.exit_code += NO_ANSWER
        raise
    except OSError as error:
        failure = CellbedError(": ".join(filter(None, (error.filename, error.strerror))))
        failure.exit_code = NO_ANSWER + 1
        raise failure from error
    except Exception:  # noqa: BLE001 (a fault of ours is no answer either)
        traceback.print_exc()
        raise SystemExit(NO_ANSWER + 1) from None


def finite(_: click.Context, option: click.Parameter, value: float) -> float:
    """A tolerance that is a number; nothing is more than NaN, so no result would ever differ."""
    if not math.isfinite(value):
        error = UsageError(f"--tolerance {value}: must be a number of at least 0, such as 0.02")
        error.exit_code += NO_ANSWER
        raise error
    return value


@click.command(cls=Comparing, help=__doc__)
@experiment_argument
@click.option("--factor", metavar="FACTOR=A,B", help="The factor and its two levels.")
@kernel_option("A,B", "Compare two kernels instead of two levels (docs/kernels.md).")
@trust_kernels_option
@levels_option("FACTOR=LEVEL[,LEVEL]", "Run only these levels of the other factors.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="The number of seeds for each combination of levels [the file's seeds].",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="The number of labs at a time [as many as fit]."
)
@lab_option("The lab in which the trials run [uml].")
@click.option(
    "--tolerance",
    default=0.0,
    type=click.FloatRange(0),
    callback=finite,
    metavar="FRACTION",
    help="The fraction by which a result may differ: 0.02 is 2 % [0: no byte may differ].",
)
@click.option(
    "--calls",
    "show_calls",
    is_flag=True,
    help="Also print the functions of TCP that the first segment that differs went through.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder of the campaign [results/NAME-compare].",
)
@answering()
def command(
    experiment: Path,
    factor: str | None,
    kernels: list[str],
    trust_kernels: bool,
    only: tuple[str, ...],
    seeds: int | None,
    jobs: int | None,
    lab: str,
    tolerance: float,
    show_calls: bool,
    out: Path | None,
) -> None:
    """Run what is missing, print what differs; SystemExit with 1 where anything does."""
    refuse_elsewhere(lab, None, {"--calls": show_calls})
    asked = followed(Experiment.from_file(experiment))
    if bool(factor) == bool(kernels):
        raise UsageError("compare needs either --factor FACTOR=A,B or --kernel A,B")
    name, levels = two_levels(asked, factor) if factor else (KERNEL, two_kernels(kernels))
    if twice := [one for one in only if one.partition("=")[0].strip() == name]:
        said = f"--factor chooses the levels of {name}; leave this out"
        raise UsageError(f"--only {twice[0]}: {said}")
    running = asked.prepare(
        out or RESULTS / f"{asked.name}-compare", (*only, *([factor] if factor else [])),
        seeds=seeds, jobs=jobs, lab=lab, pcap=["down"], kernels=kernels,
        trace=calls.EVENTS if show_calls else (), trust_kernels=trust_kernels,
    )  # fmt: skip
    documents = execute(running)
    raise_failures(running, documents)
    with told():
        shown = next(iter(documents.values()))["responses"]
        trials = [read_trial(running.records / one) for one in documents]
        found = compare(trials, name, levels, shown)
    for line in (*text.lines(found), *(calls.lines(found) if show_calls else ())):
        click.echo(line)
    with told():
        differs = found.differs(tolerance)
    if differs:
        raise SystemExit(1)


def followed(experiment: Experiment) -> Experiment:
    """With the windows of its senders sampled."""
    record = {"cwnd_sample_ms": SAMPLE_MS, "cwnd_pairs": list(range(1, MOST_PAIRS + 1))}
    rule = experiments.Rule(when={}, set={"record": record})
    design = experiment.design
    return replace(experiment, design=experiments.with_rule(design, rule))


def two_kernels(names: list[str]) -> tuple[str, str]:
    """The levels of two kernels; UsageError for any other number of names."""
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--kernel {','.join(names)}: name two different kernels, A,B")
    return kernel_level(names[0]), kernel_level(names[1])


def two_levels(experiment: Experiment, option: str) -> tuple[str, tuple[str, str]]:
    """The factor and its two levels, as records have them; UsageError for any other number."""
    factor, _, levels = option.partition("=")
    words = levels.split(",")
    if factor not in experiment.factors:
        raise UsageError(
            f"--factor {option}: the experiment has no factor {factor}; "
            + choices(factor, experiment.factors)
        )
    if len(words) != 2 or words[0] == words[1]:
        raise UsageError(
            f"--factor {option}: write {factor}=A,B, with two different levels; the levels are "
            + ", ".join(map(level_name, experiment.factors[factor]))
        )
    known = {level_name(level): level_text(level) for level in experiment.factors[factor]}
    for word in words:
        if word not in known:
            raise UsageError(
                f"--factor {option}: {word} is no level of {factor}; {choices(word, known)}"
            )
    return factor, (known[words[0]], known[words[1]])
