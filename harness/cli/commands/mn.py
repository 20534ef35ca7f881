# SPDX-License-Identifier: GPL-2.0-only
"""Run Mininet's own mn in a lab, with all of its options.

At a terminal you get mn's prompt, with the real clock. Without a terminal the prompt reads standard
input. mn sees the files of this folder. --out keeps the files that it writes there and in /tmp.
./cellbed mn -- --help shows Mininet's help.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.command import Command
from harness.cli.scripts import PASS_ON, is_terminal, run_script, script_options
from harness.scripts.host import Script

# With one of these mn has no prompt.
NO_PROMPT = ("--test", "-h", "--help", "--version", "-c", "--clean")


@click.command(cls=Command, help=__doc__, context_settings=PASS_ON)
@script_options
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    args: tuple[str, ...],
    clock: str | None,
    out: Path | None,
    compare_clocks: bool,
    **options: Any,
) -> None:
    asks = any(arg.partition("=")[0] in NO_PROMPT for arg in args)
    if clock is None and is_terminal() and not asks and not compare_clocks:
        clock = "real"
    script = Script(argv=["mn", *args], folder=Path.cwd(), **options)
    run_script(script, clock, out, compare_clocks=compare_clocks)
