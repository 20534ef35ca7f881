# SPDX-License-Identifier: GPL-2.0-only
"""List the studies; keep and verify results; fill a README's tables; run another program's trials.

The other program carries the same traffic. It is a witness (ns-2, ns-3) or a study's own model."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from analysis import kept_trials
from analysis.campaign_file import NAME as HEADER
from analysis.errors import AnalysisError, MissingLibraryError, ReportError
from analysis.records import CampaignRecords, level_text, read_campaign
from analysis.report import verdicts_again
from analysis.report.keep import keep as keep_results
from analysis.report.readme import with_tables
from analysis.report.standing import counted
from harness.campaign.lock import locked
from harness.cli import completion, witnessed
from harness.cli.command import Group
from harness.cli.options import experiment_argument, levels_option
from harness.design import experiment
from harness.design.trials import planned as planned_trials
from harness.host import checkout
from harness.judge import judgement, studies
from plan.errors import CellbedError, MissingError, UsageError
from plan.plan import Plan

study_argument = click.argument(
    "name", metavar="ID", shell_complete=completion.names(studies.known)
)


def plans_of(file: Path) -> Mapping[frozenset[tuple[str, str]], Plan]:
    """The plan of each cell of an experiment, with its first seed."""
    found = planned_trials(experiment.load(file), file, seeds=1)
    return {
        frozenset((n, level_text(x)) for n, x in one.factors.items()): one.plan for one in found
    }


def judged_campaign(folder: Path) -> CampaignRecords:
    """The trials of a campaign, judged by the present code.

    The folder's lock is held: a campaign of another version could judge them anew meanwhile.
    """
    if not (folder / HEADER).is_file():
        return read_campaign(folder)  # says what is missing
    with locked(folder):
        judgement.bring_up_to_date(judgement.records(folder))
        return read_campaign(folder)


@click.group(cls=Group, help=__doc__, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        for name in studies.known():
            study = studies.find(name)
            click.echo(f"{name:<16} {study.source:<12} {study.title}")


@command.command()
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--replace",
    "replace_kept",
    is_flag=True,
    help="Let a new trial replace a kept trial that differs from it.",
)
def keep(campaign: Path, replace_kept: bool) -> None:
    """Copy the results of a campaign into its study's folder.

    Kept trials stay, so that you can run a campaign in parts.
    """
    try:
        found = judged_campaign(campaign)
        if found.study is None:
            raise UsageError(
                f"{campaign}: the experiment names no study; set the key study in its file"
            )
        study = studies.find(found.study)
        folder = studies.folder(study.id)
        file = folder / f"{found.name}.toml"
        planned = plans_of(file) if file.exists() else {}
        commit = checkout.commit()
        click.echo(
            keep_results(found, study, folder, commit, planned=planned, replace_kept=replace_kept)
        )
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error


@command.command()
@study_argument
@click.option(
    "--campaign", metavar="NAME", help="Draw only trials of this campaign [all campaigns]."
)
@click.option(
    "--only",
    multiple=True,
    metavar="FACTOR=LEVEL[,LEVEL]",
    help="Draw only trials of these levels.",
)
@click.option(
    "--seeds", type=click.IntRange(1, 1000), help="Draw only trials with a seed of at most this."
)
@click.option("--sample", default=5, type=click.IntRange(1, 1000), help="The number of trials [5].")
@click.option(
    "--choose",
    "choice",
    default=1,
    help="The seed of the draw; another seed draws other trials [1].",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="The number of labs at a time [as many as fit]."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder for the records [results/verify-ID]."
)
def verify(
    name: str,
    campaign: str | None,
    only: tuple[str, ...],
    seeds: int | None,
    sample: int,
    choice: int,
    jobs: int | None,
    out: Path | None,
) -> None:
    """Run some kept trials of a study again; compare their digests and their figures.

    The command draws the trials at random. The exit status is 1 if a figure differs. A digest can
    differ alone if an older cellbed made it.
    """
    from harness.api import verify as verifying  # and all that runs a trial with it

    folder = studies.folder(studies.find(name).id)
    found: list[verifying.Verified] = []
    try:
        drawn = verifying.choose(folder, campaign, sample, choice, only, seeds)
        for one, lines in drawn.items():
            target = (out or Path("results") / f"verify-{name}") / one
            found += verifying.verify(folder / f"{one}.toml", one, lines, target, jobs)
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    for trial in found:
        click.echo(f"{trial.campaign}: {trial.kept.name}: {trial.kept.digest}: {trial.verdict}")
    click.echo(verifying.summary(found))
    if not all(trial.ok for trial in found):
        raise SystemExit(1)


@command.command()
@experiment_argument
@levels_option("FACTOR=LEVEL[,LEVEL]", "Compute only these levels.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="The number of seeds for each combination of levels [the file's seeds].",
)
@click.option(
    "--out",
    default="model.csv",
    type=click.Path(path_type=Path),
    help="The file for the results [model.csv].",
)
def model(experiment: Path, only: tuple[str, ...], seeds: int | None, out: Path) -> None:
    """Compute the trials of EXPERIMENT with its study's model, without a lab.

    The file gets a line for each trial. Lines that it has already stay, so that you can stop a run.
    """
    from harness.api import model as models

    for line in models.compute(experiment, only, seeds, out):
        click.echo(line)


@command.command()
@click.option("--keep", "keeping", is_flag=True, help="Put this machine's lines into the table.")
@click.option("--jobs", type=click.IntRange(1, 256), help="How many labs at a time.")
def digests(keeping: bool, jobs: int | None) -> None:
    """Run twenty-two trials of all studies; compare what they leave with every kept machine.

    The exit status is 1 when a trial differs.
    """
    from harness.api import digests as table  # and all that runs a trial with it

    folder = studies.folder("ubr_1996").parent
    try:
        before, lines = table.kept(folder), []
        click.echo(f"This machine: {table.machine()}")
        with tempfile.TemporaryDirectory(prefix="cellbed-digests.") as out:
            for line in table.run(folder, table.wanted(folder), Path(out), jobs):
                click.echo(f"{line.trial:<60} {line.digest:<16}  {table.agreement(line, before)}")
                lines.append(line)
        if keeping:
            click.echo(table.keep(folder, lines))
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    told = [table.agreement(line, before) for line in lines]
    agree = sum(one.startswith("agrees") for one in told)
    click.echo(f"{agree} of {len(lines)} trials agree with every kept machine.")
    if not keeping:
        click.echo("To add this machine to the table: ./cellbed study digests --keep")
    if any(
        one.startswith("differs") or not line.digest for one, line in zip(told, lines, strict=True)
    ):
        raise SystemExit(1)


@command.command()
@study_argument
@click.option("--check", is_flag=True, help="Write nothing; fail if a table would change.")
def tables(name: str, check: bool) -> None:
    """Compute a study's verdicts and the tables of its README from the kept trials.

    The kept trials are the lines of results/CAMPAIGN/trials.csv. The means (cells.csv) and the
    verdicts (claims.csv) follow from them, and then the README.
    """
    study = studies.find(name)
    folder = studies.folder(study.id)
    try:
        kept = verdicts_again.campaigns(folder)
        for campaign in kept:
            planned = plans_of(folder / f"{campaign.name}.toml")
            for file, text in verdicts_again.tables(campaign, study, planned).items():
                fill(campaign / file, text, study.id, check=check)
        fill(folder / "README.md", with_tables(study, folder), study.id, check=check)
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    trials = sum(len(kept_trials.read(campaign / kept_trials.FILE)) for campaign in kept)
    click.echo(
        f"{study.id}: the means, the verdicts and the README are those of"
        f" {counted(trials, 'kept trial')} in {counted(len(kept), 'campaign')}."
    )


def fill(path: Path, text: str, study: str, *, check: bool) -> None:
    """Write a file that follows from the kept trials, unless it has the text already.

    Raises:
        CellbedError: it has another text, and check forbids to write it.
    """
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    if check:
        raise CellbedError(
            f"{path} does not match the kept trials; to write it again, type"
            f" ./cellbed study tables {study}"
        )
    path.write_text(text, encoding="utf-8")


@command.command()
@study_argument
@click.option(
    "--only", multiple=True, metavar="FACTOR=LEVEL[,LEVEL]", help="Run only these levels."
)
@click.option(
    "--seeds", type=click.IntRange(1, 1000), help="The number of seeds [the experiment's seeds]."
)
@click.option(
    "--experiment", metavar="NAME", help="The experiment [the first that the witness carries]."
)
@click.option("--variant", metavar="NAME", help="A variant of the plan [the plan itself].")
@click.option("--again", is_flag=True, help="Also run the runs that are kept already.")
def witness(
    name: str,
    only: tuple[str, ...],
    seeds: int | None,
    experiment: str | None,
    variant: str | None,
    again: bool,
) -> None:
    """Run the traffic of a study's trials in another program; keep a line for each run.

    The lines are in the study's folder of results, and the study's README has a table of them.
    """
    study = studies.find(name)
    try:
        chosen = witnessed.Chosen(experiment=experiment, variant=variant)
        for text in witnessed.run(study, studies.folder(name), only, seeds, chosen, again=again):
            click.echo(text)
    except MissingLibraryError as error:
        raise MissingError(str(error)) from error
    except AnalysisError as error:
        raise CellbedError(str(error)) from error
