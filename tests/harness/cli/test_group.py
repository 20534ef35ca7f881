# SPDX-License-Identifier: GPL-2.0-only
"""Commands are found by their files, and help imports none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli import commands, group
from tests.small import PROJECT

NEW = '''
"""Says how often it was called."""

import click

@click.command(help=__doc__)
@click.option("--times", default=1)
def command(times):
    click.echo(f"called {times} times")
'''
HELP = """
import sys
from harness.cli.group import cellbed
cellbed.main(["-h"], standalone_mode=False)
print([name for name in ("rich", "numpy", "harness.labs") if name in sys.modules])
"""


def test_a_new_file_is_a_new_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "newcomer.py").write_text(NEW)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    monkeypatch.setattr(group, "summary", lambda name: f"about {name}")
    assert "about newcomer" in CliRunner().invoke(group.cellbed, ["-h"]).output
    done = CliRunner().invoke(group.cellbed, ["newcomer", "--times", "2"])
    assert done.output == "called 2 times\n"


def test_every_command_says_in_its_first_line_what_it_does() -> None:
    context = click.Context(group.cellbed)
    for name in group.cellbed.list_commands(context):
        found = group.cellbed.get_command(context, name)
        assert found is not None and found.help is not None
        assert found.help.splitlines()[0] == group.summary(name) != ""


def test_help_imports_only_what_it_shows() -> None:
    argv = [sys.executable, "-c", HELP]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_is_on_the_page() -> None:
    page = (PROJECT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name in group.cellbed.list_commands(click.Context(group.cellbed)):
        assert f"./cellbed {name}" in page
