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
from click.shell_completion import CompletionItem

from harness.cli import commands, setup
from plan.near import nearest

OPTIONS = ("help", "version")  # which people write as commands
SETUP = (setup.NAME, setup.SUMMARY)
"""The command that the script ./cellbed has of its own, and what it does."""


class CommandGroup(click.Group):
    """A group whose commands are the modules of harness/cli/commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == setup.NAME and ctx.resilient_parsing:  # a shell completes it
            return setup.command()
        if cmd_name not in self.list_commands(ctx):
            return None
        found = import_module(f"{commands.__name__}.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = nearest(args[0], [*self.list_commands(ctx), SETUP[0]])
            if args[0].casefold() in OPTIONS:  # for help, `shell` would be the most similar word
                meant = f"--{args[0].casefold()}"
            hint = f". Did you mean '{meant}'?" if meant else ""
            raise click.UsageError(f"No such command '{args[0]}'{hint}", ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options."""
        found = super().shell_complete(ctx, incomplete)
        name, text = SETUP
        if name.startswith(incomplete):
            found.append(CompletionItem(name, help=text))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            found = [(name, summary(name)) for name in self.list_commands(ctx)]
            formatter.write_dl(sorted([*found, SETUP]))


def summary(name: str) -> str:
    """The first line of a command's help, from its file."""
    path = Path(commands.__path__[0]) / f"{name}.py"
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def print_version(context: click.Context) -> None:
    from harness.host.version import version  # for this option only

    click.echo(f"cellbed {version()}")
    context.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=False,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, help="Print the version.",
    callback=lambda context, _, wanted: print_version(context) if wanted else None,
)  # fmt: skip
def cellbed() -> None:
    """TCP testbed emulator: classic experiments on the real Linux kernel, in virtual time.

    Run ./cellbed setup first. ./cellbed COMMAND -h explains a command.
    """
