# SPDX-License-Identifier: GPL-2.0-only
"""Run the trials of EXPERIMENT that have no record yet; print the results of all trials."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import click

from analysis import plotly_js
from harness.api.arguments import LAST_FIRST_SEED
from harness.api.experiment import Experiment, execute
from harness.api.kernels import name_of
from harness.api.verdict import noun, raise_failures
from harness.campaign import costs
from harness.campaign.campaign import CampaignRun
from harness.captures.trace import EVENT
from harness.cli.command import Command
from harness.cli.judged import print_judged
from harness.cli.options import (
    experiment_argument,
    kernel_option,
    lab_option,
    levels_option,
    tls_option,
    trust_kernels_option,
)
from harness.cli.result_table import json_line, print_results
from harness.cli.tables import of_stdout
from harness.design import shard as shards
from harness.design.distinct import equal_plans, labels
from harness.design.experiment import Port
from harness.design.late_paths import late_paths, silent_paths, uneven_paths
from harness.design.shard import Shard
from harness.design.trials import PlannedTrial
from harness.kernels import debug
from harness.kernels.names import SET_UP, is_fetched
from harness.kernels.options import parted
from harness.runners.options import Cluster
from plan.errors import UsageError

BUILT_FIRST = "without --dry-run, this command builds it first"
NOT_FETCHED = ", and its source is not here: a dry run does not ask whether Debian has it"


def split_events(_: click.Context, option: click.Parameter, value: str | None) -> list[str]:
    """Names of events with commas between them."""
    found = value.split(",") if value is not None else []
    for name in found:
        if not re.fullmatch(EVENT, name):
            raise UsageError(f"--trace {value}: write GROUP:EVENT[,...], as tcp:tcp_probe")
    return found


def split_debug(_: click.Context, option: click.Parameter, value: str | None) -> list[str]:
    """Words of --debug with commas between them."""
    words = value.split(",") if value is not None else []
    debug.options(words)
    return words


def read_shard(_: click.Context, option: click.Parameter, value: str | None) -> Shard | None:
    return shards.parse(value) if value is not None else None


@click.command(cls=Command, help=__doc__)
@experiment_argument
@levels_option("FACTOR=LEVEL[,LEVEL]", "Run only these levels.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="The number of seeds for each combination of levels [the file's seeds].",
)
@click.option(
    "--first-seed",
    metavar="N",
    type=click.IntRange(1, LAST_FIRST_SEED),
    help="The first seed: with --seeds 2, 11 runs the seeds 11 and 12 [the file's first_seed].",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="The number of labs at a time [as many as fit; 1 with a real clock].",
)
@click.option(
    "--shard",
    metavar="I/N",
    callback=read_shard,
    help="Run the I-th of N parts of the trials, in a folder of its own; then ./cellbed merge.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the Dask cluster of the scheduler at ADDRESS."
)
@tls_option
@lab_option("The lab in which the trials run [uml].")
@kernel_option(
    "NAME[,NAME]", "Run the trials on these kernels, as one more factor (docs/kernels.md)."
)
@click.option(
    "--module",
    default="",
    metavar="PATH",
    help="Add your own congestion control as a level of the factor flavor. PATH is a folder with a"
    " Kbuild, a C file, a file .ko, or a program of BPF such as mine.bpf.c (guides/kernel.md).",
)
@click.option(
    "--debug",
    "debug_words",
    metavar="WORD[,WORD]",
    callback=split_debug,
    help="Build checks into the kernels: kasan, lockdep, or symbols for gdb (guides/kernel.md).",
)
@click.option(
    "--gdb",
    default="",
    metavar="FUNCTION",
    help="Let the one trial wait for gdb, which stops its kernel at FUNCTION (guides/kernel.md).",
)
@trust_kernels_option
@click.option(
    "--clock",
    type=click.Choice(["virtual", "real"]),
    help="The clock of the lab [virtual; the native lab: real].",
)
@click.option(
    "--pcap",
    multiple=True,
    type=click.Choice(["down", "up"]),
    help="Write a pcap file of the packets to (down) or from (up) the clients.",
)
@click.option(
    "--trace",
    "trace",
    metavar="GROUP:EVENT[,...]",
    callback=split_events,
    help="Write these events of the kernel to trace.csv, as tcp:tcp_probe (guides/kernel.md).",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder of the campaign [results/NAME]."
)
@click.option(
    "--watch", is_flag=True, help="Show a live page on this machine while the trials run."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check the file and list the trials; build and run nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each trial.")
def command(
    experiment: Path,
    only: tuple[str, ...],
    seeds: int | None,
    first_seed: int | None,
    jobs: int | None,
    shard: Shard | None,
    scheduler: str | None,
    tls: Path | None,
    lab: str,
    kernels: list[str],
    module: str,
    trust_kernels: bool,
    clock: str | None,
    pcap: tuple[Port, ...],
    trace: list[str],
    debug_words: list[str],
    gdb: str,
    out: Path | None,
    watch: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    if scheduler is not None and jobs is not None:
        raise UsageError(
            "--jobs cannot be used with --scheduler: set it on each worker (./cellbed worker)"
        )
    if tls is not None and scheduler is None:
        raise UsageError("--tls can be used only with --scheduler")
    cluster = None if scheduler is None else Cluster(address=scheduler, secret=tls)
    asked = Experiment.from_file(experiment)
    campaign = asked.prepare(
        out, only, seeds=seeds, first_seed=first_seed, jobs=jobs, lab=lab, clock=clock,
        pcap=pcap, trace=trace, kernels=kernels, module=module, debug=debug_words, gdb=gdb,
        trust_kernels=trust_kernels, cluster=cluster, shard=shard, build=not dry_run,
    )  # fmt: skip
    if said := labels(asked.design, asked.origin):
        click.echo(said, err=True)
    one_seed = of_first_seed(campaign)
    for said in (
        *equal_plans(asked.design, one_seed, asked.origin),
        *silent_paths(asked.design, one_seed, asked.origin),
        *late_paths(asked.design, one_seed, asked.origin),
        *uneven_paths(asked.design, one_seed, asked.origin),
    ):
        click.echo(said, err=True)
    if shard is not None and not campaign.trials:
        click.echo(f"--shard {shard}: this shard has no trial; there are more shards than trials")
        return
    if dry_run:
        campaign.check_folder()
        list_trials(campaign)
        campaign.check_writable()
        return
    with page(campaign) if watch else nullcontext():
        documents = execute(campaign)
        print_judged(campaign.judged)
        print_trials(campaign, documents, as_json)
        if documents and not as_json:
            print_what_next(campaign, shard)
    raise_failures(campaign, documents)


def of_first_seed(campaign: CampaignRun) -> list[PlannedTrial]:
    """The trials of each combination of levels with the lowest seed."""
    trials = campaign.trials
    return [one for one in trials if one.plan.seed == trials[0].plan.seed]


@contextmanager
def page(campaign: CampaignRun) -> Iterator[None]:
    """The campaign's page, as ./cellbed watch has it; it stays while a browser shows it.

    Without a trial to run there is none: it would end before a browser could show it.
    """
    folder = campaign.folder
    if len(campaign.finished()) == len(campaign.trials):
        click.echo(
            f"All trials have results, so there is no live page. {plays_again(folder)}.",
            err=True,
        )
        yield
        return
    from harness.watch.server import serving  # and numpy with it: for this option only

    with serving(folder) as server:
        click.echo(f"Open {server.url} to watch {folder} while it runs.", err=True)
        if any(trial.receiver for trial in campaign.trials):
            click.echo(
                "A trial with lab.receiver_kernel has no live pictures; the page plays it after "
                "its end.",
                err=True,
            )
        yield
        if server.pages:
            click.echo("The page stays until you close it or press Ctrl-C.", err=True)
            with suppress(KeyboardInterrupt):
                server.wait_for_readers()


def print_what_next(campaign: CampaignRun, shard: Shard | None) -> None:
    """Say it on standard error, so that a program can read the table on standard output."""
    folder = campaign.folder
    if shard is not None:
        above, name = folder.parent, campaign.header["name"]
        into = above.parent / (f"{name}-merged" if name == above.name else name)
        words = f"{shlex.quote(str(into))} {shlex.quote(str(above))}/*"
        click.echo(f"Next, after all shards: ./cellbed merge {words}", err=True)
        return
    name = shlex.quote(str(folder))
    click.echo(
        f"Next: ./cellbed report {name} writes a report; {plays_again(folder)}.",
        err=True,
    )


def plays_again(folder: Path) -> str:
    """What shows the trials again, without a full stop."""
    setup = "" if plotly_js.path() else " (after ./cellbed setup --library)"
    return f"./cellbed watch {shlex.quote(str(folder))} plays the trials again{setup}"


def list_trials(campaign: CampaignRun) -> None:
    """What --dry-run prints: the trials, those done marked, and how long the rest may take."""
    done = campaign.finished()
    lacking = {trial.name: not_built(trial) for trial in campaign.trials}
    for trial in campaign.trials:
        # The end of the name is a hash, which a product that is not there is to be part of.
        name = f"{trial.name.rpartition('-')[0]}-?" if lacking[trial.name] else trial.name
        click.echo(f"{'done' if trial.name in done else 'todo'}  {name}")
    for what in dict.fromkeys(one for several in lacking.values() for one in several):
        click.echo(what)
    missing = [trial for trial in campaign.trials if trial.name not in done]
    count = len(campaign.trials)
    click.echo(f"{count} {noun(count)}, {len(missing)} to run{time_for(campaign, missing)}")


def not_built(trial: PlannedTrial) -> list[str]:
    """What is said of the kernels and packages of a trial that are to be built."""
    kernels = [one for one in (trial.kernel, trial.receiver) if one and not one.exists()]
    missing = [
        f"kernel {name} is not built yet{fetched(name)}; {BUILT_FIRST}"
        for name in map(name_of, kernels)
    ]
    layer = trial.layer
    if layer and not layer.folder.exists():
        part = f"the lab's part for workload.kind = {layer.name}"
        missing.append(f"{part} is not built yet; {BUILT_FIRST}")
    return missing


def fetched(name: str) -> str:
    """What is said of a kernel whose source is to be fetched; "" of any other."""
    plain, _ = parted(name)
    return "" if plain == SET_UP or is_fetched(plain) else NOT_FETCHED


def time_for(campaign: CampaignRun, missing: list[PlannedTrial]) -> str:
    """How long trials may take, in words: by what such trials took."""
    options = campaign.options
    total_s, unknown = costs.estimate(missing, campaign.recorded(), options.lab, options.clock)
    if not missing:
        return ""
    if unknown == len(missing):
        return "; the time is unknown: no trial like them has run here"
    labs = 1 if options.cluster else min(options.jobs, len(missing))
    others = f"; no trial like {unknown} of them has run here" if unknown else ""
    return f"; about {total_s / labs:.0f} s with {labs} lab{'s' * (labs > 1)}{others}"


def print_trials(campaign: CampaignRun, documents: dict[str, Any], as_json: bool) -> None:
    """Print the finished trials."""
    rows = [documents[t.name] for t in campaign.trials if t.name in documents]
    if as_json:
        for row in rows:
            click.echo(json.dumps(json_line(row)))
    elif rows:
        print_results(rows, of_stdout())
