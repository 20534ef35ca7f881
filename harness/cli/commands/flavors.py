# SPDX-License-Identifier: GPL-2.0-only
"""List the TCP flavors (kinds of sender). `flavors check` shows how each flavor recovers."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from harness.cli import completion
from harness.cli.command import Group
from harness.cli.tables import print_table
from harness.flavors import check as flavors_check
from harness.flavors.files import load_all
from harness.flavors.files import names as flavor_names
from harness.waiting import waiting
from plan.errors import InvalidTrialError, UsageError


@click.group(cls=Group, help=__doc__, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        rows = [(flavor.name, flavor.congestion, flavor.title) for flavor in load_all()]
        headings = ("flavor", "control", "description")
        console = Console(width=flavors_check.WIDTH)
        print_table(headings, rows, console, fold=len(headings), left=range(len(headings)))


def parameter(change: str) -> tuple[str, object]:
    """A module parameter and its value in a flavor file's words: NAME=VALUE.

    Raises:
        UsageError: not of that form.
    """
    name, equals, value = change.partition("=")
    if not (name and equals and value):
        raise UsageError(f"--set {change}: write NAME=VALUE")
    return name, {"true": True, "false": False}.get(value, int(value) if value.isdigit() else value)


def segments(text: str) -> list[int]:
    """The numbers of a list as --lose takes it.

    Raises:
        UsageError: not of that form.
    """
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise UsageError(f"--lose {text}: write the numbers of segments, with commas between them")
    return [int(word) for word in words]


def check_plot(path: Path) -> None:
    """UsageError for a name that no picture can have; before the labs run."""
    if path.suffix.casefold() not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--plot {path}: the name must end with .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise UsageError(f"--plot {path}: there is no folder {path.parent}")


@command.command()
@click.argument("names", nargs=-1, shell_complete=completion.names(flavor_names))
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the time sequences (PNG, SVG).")
@click.option(
    "--set",
    "changes",
    multiple=True,
    help="NAME=VALUE: change a parameter of the sender (repeatable).",
)
@click.option("--lose", metavar="N,N,...", help="Lose these segments, counted from 0.")
@click.option(
    "--lab",
    default=flavors_check.LABS[0],
    type=click.Choice(flavors_check.LABS),
    help=f"The lab; vm has Debian's own kernel [{flavors_check.LABS[0]}].",
)
def check(
    names: tuple[str, ...],
    plot: Path | None,
    changes: tuple[str, ...],
    lose: str | None,
    lab: str,
) -> None:
    """Lose 1 to 4 segments of a window and compare the recovery with Fall & Floyd 1996."""
    if plot is not None:
        check_plot(plot)
    lost = segments(lose) if lose is not None else []
    parameters = dict(map(parameter, changes))
    with waiting("connections") as told:
        checks = flavors_check.check_flavors(names, parameters, lost, told, lab)
    click.echo(flavors_check.render(checks))
    if plot is not None:
        from harness.flavors.plot import plot as draw  # matplotlib: slow to import

        draw(checks, plot)
    if not flavors_check.passed(checks):
        raise InvalidTrialError("a flavor did not do what the literature says")
