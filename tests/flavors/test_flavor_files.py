# SPDX-License-Identifier: GPL-2.0-only
"""Flavor files: the nine are whole, a wrong one gives its one line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from harness.cli.commands.flavors import parameter
from harness.flavors import files as flavors
from plan.errors import UsageError
from plan.flavor import PARAMETERS

GOOD = (flavors.FOLDER / "sack.toml").read_text(encoding="utf-8")

PARAMETERS_SAID = '[parameters]\nsack_pipe = "segments"\n'

WRONG = [
    ("unknown key", 'name = "sack"', 'name = "sack"\nspeed = 1', "the key speed is unknown"),
    ("other name", 'name = "sack"', 'name = "reno"', "the file is called sack"),
    ("no title", "title = ", "# title = ", "title must be a string that is not empty"),
    ("no source", "source = [", "source = []\nignored = [", "the key ignored is unknown"),
    ("empty source", "source = [\n", "source = [] #[\n", "not TOML"),
    ("unknown parameter", "rto_tick_ms", "rto_ticks", "the key parameters.rto_ticks is unknown"),
    ("out of range", "rto_tick_ms = 100", "rto_tick_ms = 5000", "allowed are 0 to 1000"),
    ("not a word of the list", '"data"', '"syn"', "one of handshake, data"),
    ("a number for a switch", "from_route = true", "from_route = 1", "must be true or false"),
    ("unknown route attribute", "initcwnd = 1", "initial = 1", "the key route.server.initial is"),
    ("ssthresh of one segment", '"bdp"', "1", '"bdp" or a whole number of at least 2'),
    ("a third end", "[route.client]", "[route.router]", "the key route.router is unknown"),
    ("a path as sysctl", "tcp_sack = 1", '"../tcp_sack" = 1', "a name relative to net.ipv4"),
    ("a sysctl of the trial", "tcp_sack = 1", 'tcp_rmem = "1 2 3"', "the trial sets this"),
    ("a list as sysctl", "tcp_sack = 1", "tcp_sack = [1]", "an integer or a string"),
    ("stock module", 'module = "cellbed_tcp"', 'module = "tcp_bbr"', "parameters can be set only"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_a_wrong_file_gives_one_line_with_file_and_key(
    tmp_path: Path, old: str, new: str, message: str
):
    assert old in GOOD
    path = tmp_path / "sack.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        flavors.load(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_flavor_names_those_there_are():
    with pytest.raises(UsageError, match="tahoe: no such TCP flavor; there are bbr, cubic,"):
        flavors.load("tahoe")


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="No such file"):
        flavors.load(tmp_path / "none.toml")


def test_the_ten_flavors_are_there():
    expected = "bbr cubic cubic-rack dctcp hybla linux-reno newreno reno sack vanilla".split()
    assert list(flavors.names()) == expected


def test_every_flavor_sets_the_same_sysctls():
    """Whatever one leaves unsaid would be what the flavor before it set."""
    said = {flavor.name: set(flavor.sysctl) for flavor in flavors.load_all()}
    assert {frozenset(keys) for keys in said.values()} == {frozenset(said["sack"])}


def test_the_classic_four_differ_in_sack_and_module_only():
    four = [flavors.load(name) for name in ("vanilla", "reno", "newreno", "sack")]
    assert [f.congestion for f in four] == [f"cellbed_{f.name}" for f in four]
    without = [{k: v for k, v in f.sysctl.items() if k != "tcp_sack"} for f in four]
    assert all(sysctl == without[0] for sysctl in without)
    assert [f.sysctl["tcp_sack"] for f in four] == [0, 0, 0, 1]
    assert all(f.parameters == four[0].parameters for f in four)


def test_parameters_are_changed_in_the_files_words():
    sack = flavors.load("sack").with_parameters({"after_timeout": "keep_scoreboard"})
    assert sack.parameters["after_timeout"] == 1
    assert sack.parameters["rto_tick_ms"] == 100


def test_a_stock_flavor_has_no_parameters_to_change():
    with pytest.raises(UsageError, match="flavor cubic has no module parameters"):
        flavors.load("cubic").with_parameters({"idle_restart": True})


def test_a_parameter_that_is_not_said_has_its_default():
    """As the kernel takes it, and in the table's order whatever the file's."""
    said = GOOD.replace("rto_tick_ms = 100\n", "").replace("[parameters]\n", PARAMETERS_SAID)
    path = flavors.FOLDER / "sack.toml"
    parameters = flavors.parse(tomllib.loads(said), path).parameters
    assert list(parameters) == [name for name, one in PARAMETERS.items() if not one.later]
    assert parameters["rto_tick_ms"] == PARAMETERS["rto_tick_ms"].default == 0
    assert parameters["grow_app_limited"] == 1
    assert parameters["rto_min_ticks"] == 2
    assert parameters["sack_pipe"] == 1


def test_a_plan_says_a_later_parameter_only_if_it_is_not_the_default():
    """So the plans of kept trials, which are older, are still the same."""
    vanilla = flavors.load("vanilla")
    common = vanilla.with_parameters({"rto_clock": "common"})
    assert common.parameters == {**vanilla.parameters, "rto_clock": 1}
    assert common.with_parameters({"rto_clock": "own"}).parameters == vanilla.parameters
    assert "rto_clock" not in vanilla.parameters


def test_a_parameter_on_the_command_line_is_in_the_files_words():
    assert parameter("newreno_flywheel=true") == ("newreno_flywheel", True)
    assert parameter("rto_min_ticks=10") == ("rto_min_ticks", 10)
    assert parameter("newreno_partial=reset") == ("newreno_partial", "reset")
    for wrong in ("newreno_flywheel", "=true", "newreno_flywheel="):
        with pytest.raises(UsageError, match=f"--set {wrong}: write NAME=VALUE"):
            parameter(wrong)
