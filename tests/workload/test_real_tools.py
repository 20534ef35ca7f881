# SPDX-License-Identifier: GPL-2.0-only
"""Real nginx, wrk and iperf3 on a loopback of their own; skipped where they are not installed.

A lab has all of them always: this is for the machine at hand.
"""

import shutil

import pytest

from workload import specweb, www, www_run

SCENARIO = "real_tools_scenario.py"


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed here: {', '.join(missing)}")


@needs("nginx")
def test_nginx_answers_every_request_of_the_schedule(isolated, client, tmp_path):
    done = isolated(SCENARIO, "www", client, tmp_path)
    record = www_run.read(tmp_path, done["stdout"])
    params = www.Parameters(duration_s=2.0, period_s=1.0, gap_min_ms=1.0, gap_max_ms=20.0)
    assert tuple(a.request for a in record.answers) == www.schedule(params, 3, 5)
    assert record.summary.answered == record.summary.requests > 40
    for flow in record.flows:
        assert flow.received_bytes == flow.scheduled_bytes + flow.header_bytes
        assert flow.header_bytes / flow.answered < 122
        assert flow.cwnd_segments > 0
    assert done["errors"] == [""] * 5
    lines = done["stdout"].splitlines()
    assert www_run.t0_ns(lines[0]) == record.summary.t0_ns
    assert [p.second for line in lines if (p := www_run.progress(line))] == [1, 2]


@needs("nginx", "wrk")
def test_wrk_gets_the_drawn_files(isolated, tmp_path):
    report = isolated(SCENARIO, "wrk", tmp_path)
    assert report["answered"] > 100
    assert 0.9e6 < report["duration_us"] < 3e6
    errors = ("connect_errors", "read_errors", "write_errors", "status_errors", "slow")
    assert [report[name] for name in errors] == [0] * 5
    # The mean of a repeated list of 200 drawn files; headers add about 120 bytes each.
    assert report["received_bytes"] / report["answered"] == pytest.approx(
        specweb.mean_bytes(), rel=0.9
    )


@needs("iperf3")
@pytest.mark.parametrize("reverse", [0, 1])
def test_iperf3_reports_both_ways(isolated, reverse):
    report = isolated(SCENARIO, "iperf", reverse)
    assert report["listener"] == 0  # it ended by itself after one test
    assert 0 < report["received_bytes"] <= report["sent_bytes"]
    assert (report["mean_rtt_us"] is None) == bool(reverse)
