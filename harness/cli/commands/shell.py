# SPDX-License-Identifier: GPL-2.0-only
"""Open Mininet's prompt in a running lab, in real time.

Without a terminal, the prompt runs the lines of standard input one after the other.
"""

from __future__ import annotations

import math
import os
import pty
import sys
from pathlib import Path
from typing import TextIO

import click

from harness.cli.command import Command
from harness.cli.options import experiment_argument, lab_option, levels_option
from harness.cli.terminal import converse, raw_terminal
from harness.design import experiment as experiments
from harness.design.trials import RECEIVER, PlannedTrial, WantedPlans, planned, selection
from harness.kernels.names import SET_UP
from harness.kernels.options import parted
from harness.labs import Lab, LabSpec
from harness.labs.session import session
from plan.errors import LabError, UsageError
from plan.plan import DELAYS, to_json


@click.command(cls=Command, help=__doc__)
@experiment_argument
@levels_option("FACTOR=LEVEL", "The levels of the network [the first level of each factor].")
@lab_option("The lab to boot [uml].")
def command(experiment: Path, only: tuple[str, ...], lab: str) -> None:
    loaded = experiments.load(experiment)
    for factor, levels in selection(loaded, only).items():
        if len(levels) > 1:
            raise UsageError(
                f"--only {factor}={','.join(levels)}: a prompt has one level; name one"
            )
    trial = planned(loaded, experiment, only, 1)[0]
    wanted = WantedPlans(loaded, experiment).of(trial.factors)
    if wanted.receiver_kernel is not None:
        said = f"{RECEIVER}: not in ./cellbed shell, which runs one kernel in real time"
        raise loaded.sources.refusal_of_setting(experiment, said, trial.factors, "")
    if wanted.kernel is not None:
        # A name that begins with a comma is set-up's kernel with what follows.
        if modules := parted(SET_UP * wanted.kernel.startswith(",") + wanted.kernel)[1].modules:
            raise UsageError(
                f"{experiment}: ./cellbed shell cannot run {modules[0].name}, because its lab has "
                "only set-up's kernel; take a flavor of this kernel"
            )
        print(f"the prompt's lab runs its own kernel, not {wanted.kernel}", file=sys.stderr)
    run_shell(trial, lab)


def run_shell(trial: PlannedTrial, name: str) -> None:
    """Boot a real-time lab tuned as the trial wants it, and talk to its prompt until it ends."""
    terminal = sys.stdin.isatty()
    ours, labs = pty.openpty() if terminal else (None, None)
    topology = trial.plan.topology
    # What a person, or a command of his, takes is no hang.
    spec = LabSpec(
        pairs=topology.pairs,
        clock="real",
        terminal=labs,
        hang_cpu_s=math.inf,
        hang_idle_s=math.inf,
    )
    with session(name, spec) as lab:
        lab.submit_network(topology)
        lab.submit({"kind": "shell", "plan": to_json(trial.plan), "terminal": terminal})
        print(f"building {topology.pairs} pairs; type exit to leave the lab", file=sys.stderr)
        if topology.path:
            print("in a trial the path moves; here it stands still", file=sys.stderr)
        if DELAYS[topology.delay].Delay.of_workload:
            print(
                "in a trial the workload adds a round trip to each connection; here all have only "
                f"topology.delay_us = {topology.delay_ns // 1000}",
                file=sys.stderr,
            )
        if ours is not None and labs is not None:
            os.close(labs)
            lab.submit({"kind": "end"})
            with raw_terminal():
                converse(lab, ours)
        feed(lab, sys.stdin, sys.stdout)


def feed(lab: Lab, lines: TextIO, output: TextIO) -> None:
    """Give the lab a line when it has done the one before; write what it says.

    Raises:
        LabError: the lab failed.
    """
    for event in lab.events():
        kind = event["event"]
        if kind == "failed":
            raise LabError(event["error"], lab.console())
        if kind == "said":
            output.write(event["text"].replace("\r\n", "\n"))
            output.flush()
        elif kind in ("shell", "command-end") and lab.spec.terminal is None:
            line = "" if event.get("leave") else lines.readline()
            # Without its end a last line is a line; an empty string is the end of input.
            lab.submit({"kind": "command", "line": line.strip()} if line else {"kind": "end"})
