# SPDX-License-Identifier: GPL-2.0-only
"""The applier against a folder of files that behaves like /proc/sys/net/ipv4."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.agent import flavor as agent_flavor
from harness.flavors import files as flavors


@pytest.fixture
def ipv4(tmp_path: Path) -> Path:
    """All sysctls of the sack flavor, with other values."""
    (tmp_path / "cellbed").mkdir()
    for name in agent_flavor.settings(flavors.load("sack").for_hosts()):
        (tmp_path / name).write_text("7\n")
    (tmp_path / "tcp_available_congestion_control").write_text("reno cubic cellbed_sack\n")
    return tmp_path


def test_everything_is_set_and_read_back(ipv4: Path):
    sack = flavors.load("sack").for_hosts()
    found = agent_flavor.apply(sack, ipv4)
    assert found == agent_flavor.settings(sack)
    assert (ipv4 / "tcp_sack").read_text().strip() == "1"
    assert (ipv4 / "cellbed" / "rto_tick_ms").read_text().strip() == "100"
    assert (ipv4 / "tcp_congestion_control").read_text() == "cellbed_sack"


def test_what_a_host_has_without_being_told(ipv4: Path):
    sack = flavors.load("sack").for_hosts()
    (ipv4 / "tcp_sack").write_text("1\n")
    (ipv4 / "tcp_dsack").unlink()
    (ipv4 / "cellbed" / "rto_tick_ms").write_text("100\n")
    found = agent_flavor.held(sack, ipv4)
    assert found.sysctl == {"tcp_sack": 1} and found.parameters == {"rto_tick_ms": 100}


def test_an_unknown_sysctl_is_named_and_nothing_written(ipv4: Path):
    sack = flavors.load("sack").for_hosts()
    sack = replace(sack, sysctl={**sack.sysctl, "tcp_no_such": 1})
    with pytest.raises(agent_flavor.FlavorError, match="no sysctl net.ipv4.tcp_no_such$"):
        agent_flavor.apply(sack, ipv4)
    assert (ipv4 / "tcp_sack").read_text() == "7\n"


def test_a_missing_module_is_named_and_nothing_written(ipv4: Path):
    with pytest.raises(agent_flavor.FlavorError, match="load the module cellbed_tcp, or"):
        agent_flavor.apply(flavors.load("reno").for_hosts(), ipv4)
    assert (ipv4 / "tcp_sack").read_text() == "7\n"


def test_a_value_that_the_kernel_rounds_is_an_error(ipv4: Path):
    """A file that keeps its own value stands for the kernel."""
    rounded = ipv4 / "tcp_sack"
    rounded.unlink()
    rounded.symlink_to("/dev/null")
    with pytest.raises(
        agent_flavor.FlavorError, match="tcp_sack = 1: the kernel changed this value to "
    ):
        agent_flavor.apply(flavors.load("sack").for_hosts(), ipv4)
