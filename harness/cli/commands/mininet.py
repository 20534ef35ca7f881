# SPDX-License-Identifier: GPL-2.0-only
"""Run the Mininet script FILE.py unchanged in a lab, and end with the script's exit status.

The script sees the files of its folder. --out keeps the files that it writes there and in /tmp.
--beside 'ryu-manager app.py' starts a controller before the script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.command import Command
from harness.cli.scripts import PASS_ON, folder_of, run_script, script_options
from harness.scripts import python2_text
from harness.scripts.host import Script
from plan.errors import UsageError

INTERPRETERS = {".py": "python3", ".sh": "bash"}
PYTHON2 = "python2"


@click.command(
    cls=Command, help=__doc__, context_settings={**PASS_ON, "allow_interspersed_args": False}
)
@script_options
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    file: Path,
    args: tuple[str, ...],
    clock: str | None,
    out: Path | None,
    compare_clocks: bool,
    **options: Any,
) -> None:
    interpreter = INTERPRETERS.get(file.suffix, "python3")
    if interpreter == "python3":
        interpreter = PYTHON2 if options["python2"] else interpreter
        if not options["python2"] and (why := python2_text.is_old(file)):
            raise UsageError(
                f"{file} is written in Python 2 ({why}); ./cellbed mininet --python2 converts it"
            )
    argv = [interpreter, file.name, *args]
    script = Script(argv=argv, folder=folder_of(file), **options)
    run_script(script, clock, out, compare_clocks=compare_clocks)
