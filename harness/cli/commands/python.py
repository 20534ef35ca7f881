# SPDX-License-Identifier: GPL-2.0-only
"""Start Python with `import cellbed` done, or run ARGS with it.

./cellbed python SCRIPT.py runs a script in the library's environment (docs/api.md).
"""

from __future__ import annotations

import os
import sys

import click

from harness.cli.command import Command
from harness.cli.scripts import PASS_ON


@click.command(
    cls=Command, help=__doc__, context_settings={**PASS_ON, "allow_interspersed_args": False}
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(args: tuple[str, ...]) -> None:
    os.execv(sys.executable, [sys.executable, *(args or ("-i", "-c", "import cellbed"))])
