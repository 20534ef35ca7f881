# SPDX-License-Identifier: GPL-2.0-only
"""What is said of records that had to be judged anew."""

from __future__ import annotations

import click

from harness.judge.judgement import Judged


def print_judged(found: Judged) -> None:
    """On standard error, if there are any."""
    for line in found.lines() if found.judged else ():
        click.echo(line, err=True)
