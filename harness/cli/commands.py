# SPDX-License-Identifier: GPL-2.0-only
"""The command line. Each command reads its options and calls what does the work."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
from rich.console import Console

from harness.campaign import costs, identity
from harness.campaign.campaign import Campaign
from harness.campaign.lock import locked
from harness.cli import show
from harness.cli.result_table import print_results
from harness.design import experiment as experiments
from harness.design import plan
from harness.errors import CellbedError, InvalidTrialError, LabError, UsageError
from harness.host import calibrate as calibration
from harness.host import doctor as doctor_
from harness.judge import judgement
from harness.labs import LABS
from harness.runners.runner import Cluster, Options, require_dask

RESULTS = Path("results")
TLS_HELP = "The cluster's secret [where ./cellbed scheduler puts it]."


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
def cellbed() -> None:
    """TCP testbed emulator: classic experiments on the real Linux kernel, in virtual time.

    ./cellbed setup installs what is needed; the other commands are below.
    """


@cellbed.command()
@click.argument("experiment", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL[,LEVEL]", help="Only these levels.")
@click.option("--seeds", type=click.IntRange(1, 1000), help="Seeds 1 to N [the file's].")
@click.option("--jobs", type=click.IntRange(1, 256), help="Labs at a time [one a core; real: 1].")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster there.")
@click.option("--tls", type=click.Path(path_type=Path), help=TLS_HELP)
@click.option("--lab", default="uml", type=click.Choice(list(LABS)), help="Which lab.")
@click.option("--clock", type=click.Choice(["virtual", "real"]), help="[virtual; native: real]")
@click.option("--pcap", multiple=True, type=click.Choice(["down", "up"]), help="Capture there.")
@click.option("--out", type=click.Path(path_type=Path), help="Campaign directory [results/NAME].")
@click.option("--dry-run", is_flag=True, help="List the trials and what is there of them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a trial and line.")
def run(
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
    """Run the trials of EXPERIMENT that are not there yet; print them all."""
    loaded = experiments.with_captures(experiments.load(experiment), pcap)
    clock = clock or ("real" if lab == "native" else "virtual")
    code = identity.code(lab) + lab + clock
    trials = plan.trials(loaded, experiment, only, seeds, code)
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
        "trials": [t.name for t in plan.trials(loaded, experiment, (), seeds, code)],
    }
    folder = out or RESULTS / loaded.name
    campaign = Campaign(folder, trials, header, options)
    if dry_run:
        campaign.check()
        list_trials(campaign)
        return
    with show.ProgressDisplay(trials) as campaign.listener:
        documents = campaign.run()
    tell_judged(campaign.judged)
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


def time_for(campaign: Campaign, missing: list[plan.Trial]) -> str:
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


def tell_judged(found: judgement.Judged) -> None:
    """Say which records had to be judged anew, if any."""
    for line in found.lines() if found.judged else ():
        click.echo(line, err=True)


def report_trials(campaign: Campaign, documents: dict[str, show.Any], as_json: bool) -> None:
    """Print the finished trials; raise when one failed or is invalid."""
    rows = [documents[t.name] for t in campaign.trials if t.name in documents]
    if as_json:
        for row in rows:
            click.echo(json.dumps(show.json_line(row)))
    elif rows:
        print_results(rows, Console(width=None if sys.stdout.isatty() else 100))
    missing = [t.name for t in campaign.trials if t.name not in documents]
    if missing:
        reason = (campaign.failures.get(missing[0]) or ["not run"])[-1]
        first, _, console = reason.partition("\n")
        raise LabError(f"{len(missing)} trials failed; {missing[0]}: {first}", console)
    invalid = [show.why_invalid(row) for row in rows if not row["valid"]]
    if invalid:
        raise InvalidTrialError(f"{len(invalid)} trials are invalid: {'; '.join(invalid[:4])}")


@cellbed.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8786, help="[8786; 0: any]")
@click.option("--host", help="Be reached at this address [from this machine only].")
@click.option("--tls", type=click.Path(path_type=Path), help=TLS_HELP)
def scheduler(port: int, host: str | None, tls: Path | None) -> None:
    """A Dask scheduler, for campaigns on many machines (docs/cluster.md)."""
    require_dask()
    from harness.runners.cluster_servers import run_scheduler

    run_scheduler(host, port, tls, click.echo)


@cellbed.command()
@click.argument("address")
@click.option("--jobs", type=click.IntRange(1, 256), help="Labs at a time [one a core].")
@click.option("--host", help="Be reached at this address [found out].")
@click.option("--tls", type=click.Path(path_type=Path), help=TLS_HELP)
def worker(address: str, jobs: int | None, host: str | None, tls: Path | None) -> None:
    """A worker of the scheduler at ADDRESS: this machine's labs for its campaigns."""
    require_dask()
    from harness.runners.cluster_servers import run_worker

    cluster = Cluster(address=address, secret=tls)
    run_worker(cluster, host, jobs or os.cpu_count() or 1, click.echo)


@cellbed.command()
@click.option("--lab", default="uml", type=click.Choice(list(LABS)), help="For which lab.")
@click.option("--calibrate", is_flag=True, help="Try what it carries in real time (3 minutes).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(lab: str, calibrate: bool, as_json: bool) -> None:
    """What this machine can do, what is missing and how to get it."""
    if calibrate:
        result = calibration.calibrate(lab)
        text = json.dumps(result.as_dict(), indent=1) if as_json else calibration.render(result)
        click.echo(text)
        return
    findings = doctor_.examine(lab)
    if as_json:
        click.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(finding.line())
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(3)


@cellbed.command()
@click.argument("experiment", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL", help="Levels; else the first cell.")
@click.option("--lab", default="uml", type=click.Choice(list(LABS)), help="Which lab.")
def shell(experiment: Path, only: tuple[str, ...], lab: str) -> None:
    """Mininet's prompt inside a running lab, in real time.

    Without a terminal, the lines of standard input are run one after the other.
    """
    from harness.cli.shell import run_shell

    loaded = experiments.load(experiment)
    run_shell(plan.trials(loaded, experiment, only, 1)[0], lab)


@cellbed.command()
@click.option("--cache", is_flag=True, help="Also what set-up made (image, kernel, environment).")
@click.option("--results", type=click.Path(path_type=Path), help="Also this campaign directory.")
def clean(cache: bool, results: Path | None) -> None:
    """Remove what interrupted runs left behind."""
    from harness.host.clean import remove_cache, remove_campaign, remove_leftovers

    left = remove_leftovers()
    for what in left.removed:
        click.echo(f"removed {what}")
    if results is not None:
        remove_campaign(results)
        click.echo(f"removed {results}")
    if cache:
        click.echo(f"removed {remove_cache()}")
    if left.stayed:
        raise CellbedError("could not remove " + "; ".join(left.stayed))


@cellbed.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--response", required=True, help="Column of the response.")
@click.option("--factors", required=True, help="Columns of the factors: A,B,C.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these rows.")
@click.option("--confidence", type=float, default=0.90, help="Of the intervals [0.90].")
@click.option("--order", type=int, help="Factors in the largest interaction of the model [auto].")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def anova(
    file: Path,
    response: str,
    factors: str,
    where: tuple[str, ...],
    confidence: float,
    order: int | None,
    as_json: bool,
) -> None:
    """Analysis of variance of any result table (Jain 1991)."""
    from analysis import anova_cli
    from analysis.errors import AnalysisError

    try:
        names = factors.split(",")
        text = anova_cli.run(
            str(file),
            response=response,
            factors=names,
            where=where,
            confidence=confidence,
            order=order,
            as_json=as_json,
        )
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    click.echo(text)


@cellbed.group(invoke_without_command=True)
@click.pass_context
def flavors(context: click.Context) -> None:
    """The TCP flavors: what each is. `flavors check` shows what each does."""
    from harness.flavors import check as flavors_check

    if context.invoked_subcommand is None:
        click.echo(flavors_check.render_table(flavors_check.table()))


@flavors.command()
@click.argument("names", nargs=-1)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the time sequences (PNG, SVG).")
def check(names: tuple[str, ...], plot: Path | None) -> None:
    """Lose 1 to 4 segments of a window and compare with Fall & Floyd 1996."""
    from harness.flavors import check as flavors_check
    from harness.flavors import plot as flavors_plot

    checks = flavors_check.check(names)
    click.echo(flavors_check.render(checks))
    if plot is not None:
        flavors_plot.plot(checks, plot)
    if not flavors_check.passed(checks):
        raise InvalidTrialError("a flavor did not do what the literature says")


@cellbed.command()
@click.argument("campaign", type=click.Path(path_type=Path))
def judge(campaign: Path) -> None:
    """Judge the records of a campaign directory by the present code; run nothing.

    Says which verdicts and figures are others than before. `run` and `report` do the same.
    """
    if not (campaign / "campaign.json").is_file():
        raise UsageError(f"{campaign}: not a campaign directory: it has no campaign.json")
    with locked(campaign):
        found = judgement.bring_up_to_date(judgement.records(campaign))
    for line in found.lines():
        click.echo(line)
    if found.unreadable:
        first = next(iter(found.unreadable.values()))
        raise CellbedError(f"{len(found.unreadable)} records cannot be read: {first}")


@cellbed.command()
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder [CAMPAIGN/report].")
def report(campaign: Path, out: Path | None) -> None:
    """Write the report of a campaign directory: HTML, Markdown, CSV."""
    from analysis.errors import AnalysisError, ReportError
    from analysis.report import write_report

    tell_judged(judgement.bring_up_to_date(judgement.records(campaign)))
    try:
        written = write_report(campaign, out, lambda what: click.echo(what, err=True))
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    click.echo(f"{written.html}\n{written.markdown}\n{written.tables}")
