# SPDX-License-Identifier: GPL-2.0-only
"""Run the kernel's own tests in virtual time, on one kernel or several.

TEST is a folder below tools/testing/selftests that has a runner (net/packetdrill), a test in it
(net/packetdrill/tcp_inq_client.pkt), or a pattern with * in quotes. Up to 12 scripts of packetdrill
share a lab; each other test has a lab of its own. The output is KTAP. --out keeps it with the JSON
of netdev's CI, and logs and packets of failures.

\b
The exit status is 0 if no test failed, and 5 if any failed. With --repeat, a test also fails if two
runs of it in virtual time differ in output, duration or packets. With --new-failures, only tests
count that do not fail on the first kernel.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import click
from rich.console import Console

from harness.cli.options import kernel_option
from harness.cli.scripts import Seconds
from harness.cli.tables import print_table
from harness.host.capacity import capacity
from harness.kernels import names
from harness.scripts import products
from harness.selftests import folder, ktap, packetdrill, sources, stock, summary, table
from harness.selftests.choice import RUN_BY_IT, Test
from harness.selftests.lab import LIMIT_CPU_S, MEMORY_MIB, Work
from harness.selftests.outcome import Outcome
from harness.selftests.products import tools, words
from harness.selftests.progress import Progress
from harness.selftests.sources import Tests
from harness.selftests.suite import Found, Missing, Row, Task, deaf, execute, labs_of, missing
from plan.errors import UsageError

CLOCKS = ("virtual", "real")
OUT = Path("results/selftests")
FAILED = 5  # docs/commands.md


def split_clocks(_: click.Context, option: click.Parameter, value: str | None) -> list[str]:
    """One clock or both, with a comma between them; none: the lab's own."""
    found = list(dict.fromkeys(value.split(","))) if value is not None else []
    for word in found:
        if word not in CLOCKS:
            raise UsageError(
                f"--clock {value}: {word} is no clock; write virtual, real, or virtual,real"
            )
    return found


@click.command(help=__doc__)
@click.argument("tests", metavar="TEST...", nargs=-1, required=True)
@kernel_option("A[,B...]", "The kernels (docs/kernels.md) [6.12].")
@click.option(
    "--lab", default="uml", type=click.Choice(stock.LABS),
    help="The labs; vm runs scripts of packetdrill on Debian's own kernel [uml].",
)  # fmt: skip
@click.option(
    "--scripts",
    metavar="KERNEL",
    help="Take the tests from this kernel's tree [each kernel runs the tests of its own tree].",
)
@click.option(
    "--packetdrill",
    "programs",
    multiple=True,
    metavar="[KERNEL=]PATH",
    help="The program packetdrill or its folder; with KERNEL=, for this kernel [from the PATH].",
)
@click.option(
    "--clock",
    "clocks",
    metavar="virtual|real",
    callback=split_clocks,
    help="The clock of the labs; virtual,real runs each test by both [virtual; vm: real].",
)
@click.option(
    "--repeat",
    default=1,
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Run each test N times and compare output, durations and packets [1].",
)
@click.option(
    "--alone",
    is_flag=True,
    help="Give each script of packetdrill a lab of its own, too.",
)
@click.option(
    "--seed",
    default=1,
    type=click.IntRange(0, 2**63 - 1),
    help="The seed of everything that the lab draws at random [1].",
)
@click.option(
    "--new-failures",
    "only_new",
    is_flag=True,
    help="End with 0 if each test that failed also failed on the first kernel of --kernel.",
)
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME",
    help="Give the labs this package of Debian, too (mininet.md); it may be given several times.",
)
@click.option("--list", "only_list", is_flag=True, help="Print the names of the tests; run none.")
@click.option(
    "--limit",
    "limit_cpu_s",
    default=LIMIT_CPU_S,
    type=Seconds(1, 1e6),
    metavar="SECONDS",
    help=f"The most processor time that the lab of a test may use [{LIMIT_CPU_S:.0f}].",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="The number of labs at a time [as many as fit]."
)
@click.option(
    "--out", default=OUT, type=click.Path(path_type=Path),
    help=f"The folder of the results [{OUT}].",
)  # fmt: skip
def command(
    tests: tuple[str, ...],
    kernels: list[str],
    lab: str,
    scripts: str | None,
    programs: tuple[str, ...],
    clocks: list[str],
    repeat: int,
    alone: bool,
    seed: int,
    only_new: bool,
    limit_cpu_s: float,
    only_list: bool,
    packages: tuple[str, ...],
    jobs: int | None,
    out: Path,
) -> None:
    products.check(packages)
    stock.refuse(lab, kernels)
    clocks = stock.clocks(lab, clocks)
    asked = list(dict.fromkeys(kernels or [stock.VM if lab == stock.VM else names.SET_UP]))
    if lab == stock.VM:
        scripts = scripts or names.SET_UP
    if only_new and len(asked) == 1:
        raise UsageError("--new-failures needs two kernels: --kernel BEFORE,AFTER")
    if only_list:
        listed = [scripts] if scripts else asked
        for name in listed:
            if len(listed) > 1:
                click.echo(f"# kernel {name}")
            for test in sources.listed(name, tests):
                click.echo(test.name)
        return
    trees = {name: sources.tests(scripts or name, tests) for name in asked}
    drill = packetdrill.by_kernel(programs, asked) if needs_packetdrill(trees) else {}
    folder.check(out)  # before anybody waits
    built = {
        name: stock.built(tree) if lab == stock.VM else sources.built(name, tree)
        for name, tree in trees.items()
    }
    image, made = image_of(lab, clocks[0], packages), tools()
    tasks = [
        Task(
            row=Row(name, clock), test=test,
            work=Work(
                folder=test.folder, test=test.file, limit_s=tree.limit_s(test), clock=clock,
                seed=seed, image=image, kernel=built[name].folder, words=words(test),
                tests=tree.place, tools=made, packetdrill=drill.get(name), limit_cpu_s=limit_cpu_s,
                lab=lab,
            ),
        )
        for name, tree in trees.items() for clock in clocks for test in tree.chosen
    ]  # fmt: skip
    in_labs = len(labs_of(tasks, alone)) * repeat
    progress = Progress(len(tasks) * repeat, in_labs, lambda line: click.echo(line, err=True))

    def say(task: Task, number: int, outcome: Outcome) -> None:
        progress(task, number, outcome)
        folder.note(out, task, number, outcome)

    releases = {name: kernel.release for name, kernel in built.items()}
    with folder.held(out):
        begin = now()
        labs = jobs or capacity(lab_mib=MEMORY_MIB).labs
        found, whole = execute(tasks, repeat, labs, say, waiting, alone, progress.lab_ended)
        if not found:  # Ctrl-C before any test had ended
            raise KeyboardInterrupt
        absent = missing(tasks, repeat, found)
        with nullcontext() if whole else deaf():
            with folder.writing(out):
                folder.write(out, found, releases, begin, now(), absent)
            show(found, releases, out, absent)
    if not whole:
        raise KeyboardInterrupt
    if any(new_failures(found) if only_new else all_failures(found)):
        raise SystemExit(FAILED)


def image_of(lab: str, clock: str, packages: tuple[str, ...]) -> Path:
    """The image of scripts; for the lab vm also its disk."""
    if lab == stock.VM:
        return products.require(lab, clock, packages).image
    return products.image(packages)[1]


def all_failures(found: Found) -> Iterator[list[Test]]:
    """The tests that failed, on each kernel by each clock."""
    return (summary.failing(row, tests) for row, tests in found.items())


def new_failures(found: Found) -> Iterator[list[Test]]:
    """Those that the first kernel passed, on each other kernel by each clock."""
    return (worse for worse, _ in summary.changes(found).values())


def needs_packetdrill(trees: dict[str, Tests]) -> bool:
    """Is any of the tests a script of packetdrill?"""
    chosen: list[Test] = [test for tree in trees.values() for test in tree.chosen]
    return any(test.file.endswith(RUN_BY_IT) for test in chosen)


def waiting(labs: int) -> None:
    """Tell a person who has pressed Ctrl-C why the command goes on."""
    if labs:
        of = "1 lab that runs" if labs == 1 else f"{labs} labs that run"
        click.echo(f"waiting for {of}; press Ctrl-C again to end at once", err=True)


def now() -> datetime.datetime:
    """As the documents have it."""
    return datetime.datetime.now(datetime.UTC)


def show(found: Found, releases: dict[str, str], out: Path, absent: Missing) -> None:
    """KTAP goes to the standard output, tables for a person beside it."""
    for row, tests in found.items():
        if len(found) > 1:
            click.echo(f"# kernel {row.kernel} ({releases[row.kernel]}), {row.clock} clock")
        for line in ktap.lines(tests, absent.get(row, {})):
            click.echo(line)
    sys.stdout.flush()
    console = Console(stderr=True)
    if reasons := list(table.reasons(found)):
        headings = ["failed", "kernel", "clock", "runs", "cases", "why"]
        print_table(headings, reasons, console, fold=0, left={0, 1, 2, 4, 5})
    if differences := list(table.differences(found)):
        headings = ["differs from the first run", "kernel", "in"]
        print_table(headings, differences, console, fold=0, left={0, 1, 2})
    if unfinished := list(table.unfinished(absent)):
        headings = ["did not run to its end", "kernel", "clock", "runs"]
        print_table(headings, unfinished, console, fold=0, left={0, 1, 2})
    print_table(table.HEADINGS, list(table.rows(found, releases)), console, fold=0, left={0, 1})
    click.echo(f"{out} has the KTAP, results.json, and the logs and packets of failures", err=True)
