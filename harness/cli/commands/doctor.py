# SPDX-License-Identifier: GPL-2.0-only
"""What this machine can do, what is missing and how to get it."""

from __future__ import annotations

import json

import click

from harness.cli.options import lab_option
from harness.machine import calibrate as calibration
from harness.machine.doctor import examine


@click.command(help=__doc__)
@lab_option("For which lab.")
@click.option("--calibrate", is_flag=True, help="Try what it carries in real time (3 minutes).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(lab: str, calibrate: bool, as_json: bool) -> None:
    if calibrate:
        result = calibration.calibrate(lab)
        text = json.dumps(result.as_dict(), indent=1) if as_json else calibration.render(result)
        click.echo(text)
        return
    findings = examine(lab)
    if as_json:
        click.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        for finding in findings:
            click.echo(finding.line())
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(3)
