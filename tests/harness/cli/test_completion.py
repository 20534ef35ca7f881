# SPDX-License-Identifier: GPL-2.0-only
"""The shell completes commands, options and levels; the manual pages are of all commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cli import man
from harness.cli.group import cellbed
from harness.cli.options import kernels_here
from harness.kernels import store
from tests.small import PROJECT, write_small

BASH = r"""
source <(_CELLBED_COMPLETE=bash_source ./cellbed)
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ printf 'compopt %s %s\n' "$1" "$2"; }}
_cellbed_completion ./cellbed
printf '%s\n' "${{COMPREPLY[@]}}"
"""

# Zsh gives the words to the function by these names; what it would show is printed.
ZSH = r"""
compdef() {{ :; }}
source <(_CELLBED_COMPLETE=zsh_source ./cellbed)
compadd() {{ [[ $* != *-a* ]] && print -r -- "$*" || print -rl -- $completions; }}
_describe() {{ print -rl -- $completions_with_descriptions; }}
words=({words}) CURRENT=${{#words}}
_cellbed_completion
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with experiments and other files, and the command without its set-up."""
    write_small(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / ".hidden").mkdir()
    for other in ("below/with blank.toml", "below/with blank.py", "small.csv"):
        (tmp_path / other).touch()
    command = tmp_path / "cellbed"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={PROJECT} exec {sys.executable} -m harness "$@"\n')
    command.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cellbed exp", ["export"]),
        ("cellbed se", ["selftests", "setup"]),
        ("cellbed setup --v", ["--vm"]),
        ("cellbed setup --vm --arch ''", ["arm64"]),
        ("cellbed setup --from small.c", ["compopt -o default", ""]),
        ("cellbed export x --as p", ["parquet", "pcapng"]),
        ("cellbed run small.toml --sch", ["--scheduler"]),
        ("cellbed run small.toml --only ''", ["compopt -o nospace", "compopt -o nospace",
                                              "network=", "flavor="]),
        ("cellbed run small.toml --only network =", ["WAN", "GEO"]),
        ("cellbed run small.toml --only network = g", ["GEO"]),
        ("cellbed run small.toml --only flavor = SACK,", ["SACK,NewReno"]),
        ("cellbed run small.toml --only network = GEO --only f", ["compopt -o nospace", "flavor="]),
        ("cellbed run nowhere.toml --only ''", [""]),
        ("cellbed run s", ["compopt -o filenames", "small.toml"]),
        ("cellbed run ./", ["compopt -o filenames", "compopt -o filenames", "./below/",
                            "./small.toml"]),
        ("cellbed shell below/", ["compopt -o filenames", "below/with blank.toml"]),
        ("cellbed compare .h", ["compopt -o filenames", ".hidden/"]),
        ("cellbed run nowhere/", [""]),
        ("cellbed report ''", ["compopt -o default", ""]),
        ("cellbed course start 3", ["3-cells"]),
        ("cellbed study verify ubr_", ["ubr_1996"]),
        ("cellbed flavors check sack newr", ["newreno"]),
    ],
)  # fmt: skip
def test_bash(folder: Path, words: str, said: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-c", BASH.format(words=words)], cwd=folder, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines() == said


def test_kernels_have_set_ups_own_and_those_with_short_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = [SimpleNamespace(name=name) for name in ("6.1", "6.12", "path:linux", "6.1,hz=100")]
    monkeypatch.setattr(store, "built", lambda: built)
    assert kernels_here() == ["6.12", "6.1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("./cellbed exp", ["export:Write the trials of a campaign in the..."]),
        ("./cellbed run small.toml --only ''", ["-U -S  -V unsorted -- network=",
                                                "-U -S  -V unsorted -- flavor="]),
        ("./cellbed run small.toml --only network=g", ["network=GEO"]),
        ("./cellbed run s", ["small.toml"]),
        ("./cellbed run b", ["-U -S  -V unsorted -- below/"]),
        ("./cellbed run small.toml --only flavor=SACK,", ["flavor=SACK,NewReno"]),
    ],
)  # fmt: skip
def test_zsh(folder: Path, words: str, said: list[str]) -> None:
    """Its words are whole; nothing is in its PATH."""
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH.format(words=words)], cwd=folder, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert (done.stdout.splitlines(), done.stderr) == (said, "")


def test_manual_pages(tmp_path: Path) -> None:
    man.write(tmp_path)
    commands = cellbed.list_commands(None)  # type: ignore[arg-type]
    pages = {path.name for path in tmp_path.iterdir()}
    assert {f"cellbed-{name}.1" for name in commands} | {"cellbed.1"} <= pages
    text = (tmp_path / "cellbed-export.1").read_text()
    assert "\\-\\-as" in text and "The format." in text
    names = [path.read_text().splitlines()[2] for path in tmp_path.glob("*.1")]
    assert all(" \\- " in name and "..." not in name for name in names), names
    if shutil.which("man"):
        shown = subprocess.run(["man", "-P", "cat", tmp_path / "cellbed-run.1"], check=True,
                               text=True, capture_output=True)  # fmt: skip
        assert "Run only these levels." in shown.stdout
