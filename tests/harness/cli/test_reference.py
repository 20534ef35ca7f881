# SPDX-License-Identifier: GPL-2.0-only
"""The page of all commands and options."""

from __future__ import annotations

import click

from harness.cli import reference
from harness.cli.group import cellbed


def test_every_command_has_a_heading() -> None:
    headings = [line for line in reference.page().splitlines() if line.startswith("## ")]
    context = click.Context(cellbed)
    assert {f"## ./cellbed {name}" for name in cellbed.list_commands(context)} <= set(headings)
    assert "## ./cellbed course check" in headings


@click.command()
@click.argument("file")
@click.option("--as", type=click.Choice(["a", "b"]), help="Less < more | most.")
def made(file: str) -> None:
    """Show FILE & more."""


def test_a_section_keeps_its_table_whole() -> None:
    """A bar in an option's text would end the cell, and < begin a tag."""
    text = reference.section(made, click.Context(made, info_name="made"))
    assert "    made [OPTIONS] FILE\n\nShow FILE &amp; more.\n" in text
    assert "| `--as [a|b]` | Less &lt; more &#124; most. |\n" in text
