# SPDX-License-Identifier: GPL-2.0-only
"""A host's settings, made over netlink, are what `ip` and `tc` would have made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small import PROJECT

pytestmark = pytest.mark.lab

FILE = PROJECT / "studies" / "instrument" / "three-labs.toml"
LINES = """
c2 tc -d qdisc show dev eth0
sh tc -d qdisc show dev sw1-c2
c2 ip -o -4 addr show dev eth0
c2 ip neigh show
c2 ip -o link show up
sh ip -d link show sw1-c2
dpctl dump-flows
sh sysctl net.core.netdev_max_backlog
"""
NETEM = re.compile(r"qdisc netem .* (limit .*celloverhead \d+)")


def test_a_hosts_settings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "shell", str(FILE)],
        input=LINES, capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = re.sub(r"\x1b\[\d*m", "", done.stdout)
    ours, of_the_switch = NETEM.findall(said)
    assert ours == of_the_switch and "delay 5us" in ours  # the switch's port is tc's work
    assert re.search(r"inet 10\.1\.0\.3/8 scope global noprefixroute eth0", said)
    assert "10.2.0.3 dev eth0 lladdr 02:00:00:02:00:02 PERMANENT" in said
    assert "master sw1 " in said and "openvswitch_slave" in said
    marked = r"in_port\(2\),.* actions:set\(skb_mark\(0x2\)\),2000"
    assert len(re.findall(marked, said)) == 2, said  # of each switch
    addressed = r"in_port\(2000\),eth\(dst=02:00:00:0[12]:00:02\),.* actions:2\s"
    assert len(re.findall(addressed, said)) == 2, said
    assert len(re.findall(r"\d+: (?:lo|eth0)[:@]", said)) >= 2
    assert "net.core.netdev_max_backlog = 100000" in said  # as many hosts may send at once
