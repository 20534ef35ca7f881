# SPDX-License-Identifier: GPL-2.0-only
"""Of the kernel's counters of a namespace, those of packets that were not taken. No lab."""

from __future__ import annotations

import pytest

from harness.agent import losses
from harness.agent.tcp_counters import parse_totals

FILES = {
    "snmp": "Ip: Forwarding InHdrErrors InDiscards\nIp: 1 2 3\n"
    "Tcp: RtoMin InErrs InCsumErrors\nTcp: 200 5 6\n",
    "netstat": "TcpExt: SyncookiesSent PruneCalled ListenDrops\nTcpExt: 7 8 9\n"
    "MPTcpExt: MPCapableSYNRX\nMPTcpExt: 11\n",
}


def test_each_refusal_is_read_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "text", lambda path: FILES[path.rpartition("/")[2]])
    totals = parse_totals(FILES["snmp"]) | parse_totals(FILES["netstat"])
    expected = {name: totals[name] for name in losses.REFUSALS if name in totals}
    assert losses.refusals(1) == expected
    assert sorted(expected.values()) == [2, 3, 6, 8, 9]


def test_a_kernel_with_other_names_has_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "Ip: InDiscards\nIp: 3\n", "Ip: Forwarding InDiscards\nIp: 1 4\n"
    for said, dropped in zip(lines, (3, 4), strict=True):
        monkeypatch.setattr(losses, "text", lambda _, said=said: said)
        assert losses.refusals(1) == {"Ip:InDiscards": dropped}
