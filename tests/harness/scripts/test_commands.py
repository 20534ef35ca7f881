# SPDX-License-Identifier: GPL-2.0-only
"""The table of commands that the image for Mininet does not have. No lab."""

from __future__ import annotations

import tomllib

from harness.scripts.products import PACKAGE
from tests.small import PROJECT

FOLDER = PROJECT / "lab" / "mininet"


def test_each_command_names_a_package_that_the_image_does_not_have() -> None:
    commands = tomllib.loads((FOLDER / "commands.toml").read_text())
    lines = (FOLDER / "packages").read_text().splitlines()
    there = {line for line in lines if not line.startswith("#")}
    assert "bridge-utils" in there and commands["birdc"] == "bird2"
    assert all(PACKAGE.fullmatch(name) for name in commands.values())
    assert not [command for command, name in commands.items() if name in there]


def test_the_package_for_a_compiler_also_has_the_headers_of_c() -> None:
    commands = tomllib.loads((FOLDER / "commands.toml").read_text())
    assert commands["gcc"] == commands["make"] == "build-essential"


def test_the_programs_of_neighbour_discovery_are_of_one_package() -> None:
    commands = tomllib.loads((FOLDER / "commands.toml").read_text())
    assert commands["ndisc6"] == commands["rdisc6"] == "ndisc6"
