# SPDX-License-Identifier: GPL-2.0-only
"""Analyse the variance of a table of results (Jain 1991)."""

from __future__ import annotations

from pathlib import Path

import click

from analysis import anova_cli
from analysis.errors import AnalysisError
from harness.cli.command import Command
from plan.errors import UsageError


@click.command(cls=Command, help=__doc__)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--response", required=True, help="The column of the response.")
@click.option("--factors", required=True, help="The columns of the factors: A,B,C.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Use only these rows.")
@click.option(
    "--confidence", type=float, default=0.90, help="The confidence of the intervals [0.90]."
)
@click.option(
    "--order",
    type=int,
    help="The number of factors in the model's largest interaction [chosen from the data].",
)
@click.option(
    "--block",
    help="The column that numbers the replications; each number is a block [no blocks].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    file: Path,
    response: str,
    factors: str,
    where: tuple[str, ...],
    confidence: float,
    order: int | None,
    block: str | None,
    as_json: bool,
) -> None:
    try:
        names = factors.split(",")
        text = anova_cli.run(
            str(file),
            response=response,
            factors=names,
            where=where,
            confidence=confidence,
            order=order,
            block=block,
            as_json=as_json,
        )
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    click.echo(text)
