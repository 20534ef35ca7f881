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
    found = [line for line in map(OPTION.match, lines) if line]
    params = [
        click.Option([one["name"]], help=one["text"], is_flag=not one["file"],
                     type=click.Path() if one["file"] else None)
        for one in found
        if not one["arch"]
    ]  # fmt: skip
    params += [
        click.Option(["--arch"], type=click.Choice(["arm64"]), help=one["text"])
        for one in found
        if one["arch"]
    ]
    return click.Command(NAME, params=[*params])
