# SPDX-License-Identifier: GPL-2.0-only
"""Analysis of variance of any result table (Jain 1991)."""

from __future__ import annotations

from pathlib import Path

import click

from analysis import anova_cli
from analysis.errors import AnalysisError
from plan.errors import UsageError


@click.command(help=__doc__)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--response", required=True, help="Column of the response.")
@click.option("--factors", required=True, help="Columns of the factors: A,B,C.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these rows.")
@click.option("--confidence", type=float, default=0.90, help="Of the intervals [0.90].")
@click.option("--order", type=int, help="Factors in the largest interaction of the model [auto].")
@click.option("--block", help="Column that numbers the replications: each is a block [none].")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
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
