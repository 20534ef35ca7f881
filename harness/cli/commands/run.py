# SPDX-License-Identifier: GPL-2.0-only
"""Run the trials of EXPERIMENT that are not there yet; print them all."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from harness.campaign import costs
from harness.campaign.campaign import Campaign
from harness.cli.judged import print_judged
from harness.cli.options import lab_option, levels_option, tls_option
from harness.cli.progress import ProgressDisplay
from harness.cli.result_table import json_line, print_results, why_invalid
from harness.design import experiment as experiments
from harness.design.trials import PlannedTrial, planned
from harness.errors import InvalidTrialError, LabError, UsageError
from harness.judge import studies
from harness.records import identity
from harness.runners.runner import Cluster, Options

RESULTS = Path("results")


@click.command(help=__doc__)
@click.argument("experiment", type=click.Path(path_type=Path))
@levels_option("FACTOR=LEVEL[,LEVEL]", "Only these levels.")
@click.option("--seeds", type=click.IntRange(1, 1000), help="So many seeds [the file's].")
@click.option("--jobs", type=click.IntRange(1, 256), help="Labs at a time [one a core; real: 1].")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster there.")
@tls_option
@lab_option("Which lab.")
@click.option("--clock", type=click.Choice(["virtual", "real"]), help="[virtual; native: real]")
@click.option("--pcap", multiple=True, type=click.Choice(["down", "up"]), help="Capture there.")
@click.option("--out", type=click.Path(path_type=Path), help="Campaign directory [results/NAME].")
@click.option("--dry-run", is_flag=True, help="List the trials and what is there of them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a trial and line.")
def command(
    experiment: Path,
    only: tuple[str, ...],
    seeds: int | None,
    jobs: int | None,
    scheduler: str | None,
    tls: Path | None,
    lab: str,
    clock: str | None,
    pcap: tuple[experiments.Port, ...],
    out: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    loaded = experiments.with_captures(experiments.load(experiment), pcap)
    studies.find(loaded.study)
    clock = clock or ("real" if lab == "native" else "virtual")
    code = identity.code(lab) + lab + clock
    trials = planned(loaded, experiment, only, seeds, code)
    if scheduler is not None and jobs is not None:
        raise UsageError("--jobs: with --scheduler each worker has its own; cellbed worker --jobs")
    jobs = labs_at_once(jobs, lab, clock)
    if tls is not None and scheduler is None:
        raise UsageError("--tls: only with --scheduler")
    cluster = None if scheduler is None else Cluster(address=scheduler, secret=tls)
    options = Options(lab=lab, clock=clock, jobs=jobs, cluster=cluster)
    header = {
        "name": loaded.name,
        "title": loaded.title,
        "text": experiment.read_text(encoding="utf-8"),
        "factors": loaded.factors,
        # Records of other code or another plan stay in the folder and do not count.
        "trials": [t.name for t in planned(loaded, experiment, (), seeds, code)],
    }
    folder = out or RESULTS / loaded.name
    campaign = Campaign(folder, trials, header, options)
    if dry_run:
        campaign.check()
        list_trials(campaign)
        return
    with ProgressDisplay(trials) as campaign.listener:
        documents = campaign.run()
    print_judged(campaign.judged)
    report_trials(campaign, documents, as_json)


def labs_at_once(jobs: int | None, lab: str, clock: str) -> int:
    """How many labs run at a time: one a core, but one where they would disturb each other."""
    if lab == "native" and jobs not in (None, 1):
        raise UsageError(f"--jobs {jobs}: a machine has its TCP module once: one native lab")
    return jobs or (1 if clock == "real" else os.cpu_count() or 1)


def list_trials(campaign: Campaign) -> None:
    """What --dry-run prints: the trials, those done marked, and how long the rest may take."""
    done = campaign.finished()
    for trial in campaign.trials:
        click.echo(f"{'done' if trial.name in done else 'todo'}  {trial.name}")
    missing = [trial for trial in campaign.trials if trial.name not in done]
    click.echo(f"{len(campaign.trials)} trials, {len(missing)} to run{time_for(campaign, missing)}")


def time_for(campaign: Campaign, missing: list[PlannedTrial]) -> str:
    """How long trials may take, in words: by what such trials took."""
    options = campaign.options
    total_s, unknown = costs.estimate(missing, campaign.recorded(), options.lab, options.clock)
    if not missing:
        return ""
    if unknown == len(missing):
        return "; time unknown: none like them has been run here"
    labs = 1 if options.cluster else min(options.jobs, len(missing))
    others = f", and {unknown} unlike any that has been run here" if unknown else ""
    return f"; about {total_s / labs:.0f} s with {labs} lab{'s' * (labs > 1)}{others}"


def report_trials(campaign: Campaign, documents: dict[str, Any], as_json: bool) -> None:
    """Print the finished trials; raise when one failed or is invalid."""
    rows = [documents[t.name] for t in campaign.trials if t.name in documents]
    if as_json:
        for row in rows:
            click.echo(json.dumps(json_line(row)))
    elif rows:
        print_results(rows, Console(width=None if sys.stdout.isatty() else 100))
    missing = [t.name for t in campaign.trials if t.name not in documents]
    if missing:
        reason = (campaign.failures.get(missing[0]) or ["not run"])[-1]
        first, _, console = reason.partition("\n")
        raise LabError(f"{len(missing)} trials failed; {missing[0]}: {first}", console)
    invalid = [why_invalid(row) for row in rows if not row["valid"]]
    if invalid:
        raise InvalidTrialError(f"{len(invalid)} trials are invalid: {'; '.join(invalid[:4])}")
