# SPDX-License-Identifier: GPL-2.0-only
"""The commands, found by their files: NAME.py in commands/ has a click command named `command`.

What a file says at its top is the command's help, so that it is read without being run: only
the command that is asked for is imported.
"""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

import click

from harness.cli import commands


class CommandGroup(click.Group):
    """A group whose commands are the modules of harness/cli/commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        found = import_module(f"{commands.__name__}.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in self.list_commands(ctx)])


def summary(name: str) -> str:
    """The first line of a command's help, from its file."""
    path = Path(commands.__path__[0]) / f"{name}.py"
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)
def cellbed() -> None:
    """TCP testbed emulator: classic experiments on the real Linux kernel, in virtual time.

    Run ./cellbed setup first. ./cellbed COMMAND -h explains a command.
    """
