# SPDX-License-Identifier: GPL-2.0-only
"""Real nginx, wrk and iperf3 over the loopback of a lab, 1 ms and 100 Mbit/s."""

import json

import pytest

from tests import scripts_in_lab
from workload.www import www_client
from workload.www.parameters import Parameters
from workload.www.schedule import schedule

pytestmark = pytest.mark.lab

# Without a delay a closed loop would run for ever at one moment of virtual time.
LOOPBACK = """
ip link set lo up
tc qdisc add dev lo root netem delay 1ms rate 100mbit limit 100000
mkdir -p /tmp/work
exec python3 -B /cellbed/tests/workload/real_tools_scenario.py
"""
WORDS = {
    "www": 'www /opt/cellbed/www_client "$SAID"',
    "wrk": "wrk /tmp/work",
    "iperf-0": "iperf 0",
    "iperf-1": "iperf 1",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    scripts = {name: f"{LOOPBACK.strip()} {words}\n" for name, words in WORDS.items()}
    return scripts_in_lab.run(scripts, tmp_path_factory.mktemp("tools"))


@pytest.fixture
def printed(said):
    """What a scenario printed, as data."""

    def read(name):
        assert said[name].status == 0, said[name].err
        return json.loads(said[name].out)

    return read


def test_nginx_answers_every_request_of_the_schedule(said, printed):
    done = printed("www")
    record = www_client.read(said["www"].folder, done["stdout"])
    params = Parameters(duration_s=2.0, period_s=1.0, gap_min_ms=1.0, gap_max_ms=20.0)
    assert tuple(a.request for a in record.answers) == schedule(params, 3, 5)
    assert record.summary.answered == record.summary.requests > 40
    for flow in record.flows:
        assert flow.received_bytes == flow.scheduled_bytes + flow.header_bytes
        assert flow.header_bytes / flow.answered < 122
        assert flow.cwnd_segments > 0
    assert done["errors"] == [""] * 5
    lines = done["stdout"].splitlines()
    assert www_client.t0_ns(lines[0]) == record.summary.t0_ns
    assert [p.second for line in lines if (p := www_client.progress(line))] == [1, 2]


def test_wrk_gets_the_drawn_files(printed):
    report = printed("wrk")
    assert report["answered"] > 100
    assert 0.9e6 < report["duration_us"] < 3e6
    errors = ("connect_errors", "read_errors", "write_errors", "status_errors", "slow")
    assert [report[name] for name in errors] == [0] * 5
    # The mean of a repeated list of 200 drawn files; headers add about 120 bytes each.
    assert report["received_bytes"] / report["answered"] == pytest.approx(120_320, rel=0.9)


@pytest.mark.parametrize("reverse", [0, 1])
def test_iperf3_reports_both_ways(printed, reverse):
    report = printed(f"iperf-{reverse}")
    assert report["listener"] == 0  # it ended by itself after one test
    assert 0 < report["received_bytes"] <= report["sent_bytes"]
    assert (report["mean_rtt_us"] is None) == bool(reverse)
