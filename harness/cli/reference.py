# SPDX-License-Identifier: GPL-2.0-only
"""A page in Markdown of all commands and options, from what -h says."""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterator

import click

from harness.cli.group import cellbed

INTRODUCTION = """# All commands and options

The same text as `./cellbed COMMAND -h`. [Commands](commands.md) explains how they work together.
"""


def page() -> str:
    """The page: a heading for each command, its usage, its text and a table of its options."""
    # With its settings: click keeps the help option that it makes for the first context.
    root = click.Context(cellbed, info_name="./cellbed", **cellbed.context_settings)
    return "\n".join([INTRODUCTION, *sections(cellbed, root)])


def sections(group: click.Group, parent: click.Context) -> Iterator[str]:
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command
        context = click.Context(command, info_name=name, parent=parent)
        yield section(command, context)
        if isinstance(command, click.Group):
            yield from sections(command, context)


def section(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    parts = [f"## {context.command_path}", f"    {usage}", plain(text), options(command, context)]
    return "\n\n".join(parts)


def options(command: click.Command, context: click.Context) -> str:
    """The options' table; nothing for a command that has none."""
    records = [
        record
        for parameter in command.params
        if isinstance(parameter, click.Option)
        if (record := parameter.get_help_record(context))
    ]
    # A bar ends a cell of the table, but not within backquotes.
    rows = [f"| `{name}` | {plain(text).replace('|', '&#124;')} |" for name, text in records]
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows, ""]) if rows else ""


def plain(text: str) -> str:
    """Text in which < is no tag."""
    return html.escape(text, quote=False)
