# SPDX-License-Identifier: GPL-2.0-only
"""Say what this machine can do, what it lacks, and how to install it."""

from __future__ import annotations

import json

import click
from rich.console import Console

from harness.cli.command import Command
from harness.cli.options import lab_option
from harness.cli.tables import print_table
from harness.machine import calibrate as calibration
from harness.machine.doctor import examine


@click.command(cls=Command, help=__doc__)
@lab_option("The lab to examine [uml].")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Measure how large a network it carries in real time (3 minutes).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(lab: str, calibrate: bool, as_json: bool) -> None:
    if calibrate:
        print_calibration(calibration.calibrate(lab), as_json)
        return
    findings = examine(lab)
    if as_json:
        click.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(finding.line())
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(3)


def print_calibration(result: calibration.Result, as_json: bool) -> None:
    """Every size that was tried, and what it comes to."""
    if as_json:
        click.echo(json.dumps(result.as_dict(), indent=1))
        return
    headings = calibration.HEADINGS
    rows = [calibration.row(step) for step in result.steps]
    if rows:
        print_table(headings, rows, Console(), fold=0, left={len(headings) - 1})
    for line in calibration.summary(result):
        click.echo(line)
