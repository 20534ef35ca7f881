# SPDX-License-Identifier: GPL-2.0-only
"""What is read of the kernel's TCP: verbatim text of a lab, as it came."""

from __future__ import annotations

from harness.agent.tcp_counters import parse_totals, with_port

SNMP = """\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens RetransSegs InErrs
Tcp: 1 200 120000 -1 2 1422 0
"""
NETSTAT = """\
TcpExt: SyncookiesSent TCPTimeouts TCPFastRetrans
TcpExt: 0 275 0
IpExt: InNoRoutes InOctets
IpExt: 0 552
"""
SS = (
    "0 22419968 10.2.0.2:5202 10.1.0.2:5201 cellbed_vanilla wscale:0,0 rto:300 rtt:20.774/0.001"
    " mss:512 cwnd:168 ssthresh:128 bytes_sent:3210789 bytes_acked:3145766 segs_out:6274"
    " rwnd_limited:990ms(99.0%) unacked:127 notsent:22354944 snd_wnd:65024 rcv_wnd:65024\n"
    "0 0 10.2.0.2:48090 10.1.0.2:5201 cellbed_vanilla wscale:0,0 rto:300 rtt:0.063/0.022"
    " cwnd:4 bytes_sent:163 bytes_received:4 retrans:0/47 snd_wnd:65024\n"
)


def test_totals_have_their_group() -> None:
    assert parse_totals(SNMP)["Tcp:RetransSegs"] == 1422
    found = parse_totals(NETSTAT)
    assert found["TcpExt:TCPTimeouts"] == 275
    assert found["IpExt:InOctets"] == 552


def test_the_data_connection_is_known_by_its_port() -> None:
    data = with_port(SS, 5202)
    assert data["unacked"] == "127"
    assert data["snd_wnd"] == "65024"
    assert data["rtt"] == "20.774/0.001"
    assert data["bytes_sent"] == "3210789"
    assert "bytes_received" not in data
    assert with_port(SS, 48090)["bytes_received"] == "4"


def test_the_control_connection_never_stands_for_the_data() -> None:
    """A source whose connection was not set up has nothing, whatever iperf3 told its peer."""
    _, control = SS.splitlines()
    assert with_port(control, 5202) == {}
    assert with_port("", 5202) == {}
