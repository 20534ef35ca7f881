# SPDX-License-Identifier: GPL-2.0-only
"""The command `setup`, which is a script of its own (lab/setup): what a shell completes of it."""

from __future__ import annotations

import re

import click

from harness.host.paths import PROJECT

NAME, SUMMARY = "setup", "Install and build everything that the labs need."
OPTION = re.compile(
    r"^#   (?P<name>--[a-z]+)(?P<file> FILE)?(?P<arch> --arch arm64)? +(?P<text>.+)$"
)


def command() -> click.Command:
    """A command with the options that the script's first lines explain; it is never run."""
    lines = (PROJECT / "lab" / "setup").read_text(encoding="utf-8").splitlines()
    return click.Command(NAME, params=[option(one) for one in map(OPTION.match, lines) if one])


def option(line: re.Match[str]) -> click.Parameter:
    """The option of such a line; a line may explain what --arch adds to an option."""
    if line["arch"]:
        return click.Option(["--arch"], type=click.Choice(["arm64"]), help=line["text"])
    file = click.Path() if line["file"] else None
    return click.Option([line["name"]], help=line["text"], is_flag=file is None, type=file)
