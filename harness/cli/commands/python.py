# SPDX-License-Identifier: GPL-2.0-only
"""Start Python with `import cellbed` done, or run ARGS with it.

./cellbed python SCRIPT.py runs a script in the library's environment (docs/api.md).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from harness.cli.command import Command
from harness.cli.scripts import PASS_ON
from plan.errors import UsageError


@click.command(
    cls=Command, help=__doc__, context_settings={**PASS_ON, "allow_interspersed_args": False}
)
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(args: tuple[str, ...]) -> None:
    if args and not args[0].startswith("-") and not Path(args[0]).exists():
        raise UsageError(
            f"{args[0]}: there is no such file; write ./cellbed python SCRIPT.py, or an option of"
            " Python first"
        )
    os.execv(sys.executable, [sys.executable, *(args or ("-i", "-c", "import cellbed"))])
