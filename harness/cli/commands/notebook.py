# SPDX-License-Identifier: GPL-2.0-only
"""Open Jupyter in the library's environment; ARGS are Jupyter's own.

./cellbed notebook docs/notebook.ipynb opens the project's example.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import click

from harness.cli.command import Command
from harness.cli.scripts import PASS_ON
from plan.errors import MissingError

JUPYTER = "jupyterlab"


@click.command(
    cls=Command, help=__doc__, context_settings={**PASS_ON, "allow_interspersed_args": False}
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(args: tuple[str, ...]) -> None:
    """Raises MissingError where the environment has no Jupyter."""
    if importlib.util.find_spec(JUPYTER) is None:
        raise MissingError("Jupyter is not installed: run ./cellbed setup --library")
    os.execv(sys.executable, [sys.executable, "-m", JUPYTER, *args])
