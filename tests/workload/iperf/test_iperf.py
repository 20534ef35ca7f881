# SPDX-License-Identifier: GPL-2.0-only
"""iperf3: commands, and reports read from verbatim output of iperf3 3.18 in a lab."""

import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from plan.dumbbell import Dumbbell
from plan.layout import Link
from workload.errors import WorkloadError
from workload.iperf import Parameters, iperf3, source

DATA = Path(__file__).parent / "data"


def text(name):
    return (DATA / name).read_text(encoding="ascii")


def test_a_source_that_connected():
    assert iperf3.report(text("iperf_forward.json")) == iperf3.Report(
        version="iperf 3.18",
        sent_bytes=63602688,
        sent_s=10.009983,
        received_bytes=52985856,
        received_s=10.064625,
        retransmits=18,
        max_cwnd_bytes=288420,
        mean_rtt_us=54346,
    )


def test_a_receiver_that_connected_knows_no_window_and_no_rtt():
    report = iperf3.report(text("iperf_reverse.json"))
    assert (report.sent_bytes, report.received_bytes) == (63619072, 52756480)
    assert report.retransmits == 18
    assert report.max_cwnd_bytes is None
    assert report.mean_rtt_us is None


def test_a_warning_before_the_json_is_skipped():
    report = iperf3.report("warning: no IPv6\n" + text("iperf_forward.json"))
    assert report.retransmits == 18


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        (text("iperf_refused.json"), "iperf3 of a pair failed .*: Connection refused"),
        (
            '{"error": "control socket has closed unexpectedly"}',
            "unexpectedly'; iperf3's two ends exchange their results over the path",
        ),
        ("", "printed no JSON, but ''"),
        ("iperf3: command not found", "printed no JSON, but 'iperf3: command"),
        (text("iperf_forward.json")[:-40], "printed no JSON"),
        ('{"end": {}}', "lacks 'streams'"),
        ('{"start": {}, "end": {"streams": []}}', "a version that cellbed does not know"),
    ],
)
def test_no_report(stdout, message):
    with pytest.raises(WorkloadError, match=message):
        iperf3.report(stdout)


@pytest.mark.parametrize(("reverse", "listens"), [(False, "client"), (True, "server")])
def test_data_flows_from_the_server_either_way(reverse, listens):
    params = Parameters(reverse=reverse, duration_s=30, port=5300)
    assert iperf3.listen_host(params) == listens
    words = iperf3.source_argv(params, "10.1.0.1")
    assert ("--reverse" in words) is reverse
    assert words[words.index("--client") + 1] == "10.1.0.1"
    assert words[words.index("--time") + 1] == "31"  # it sends until the interval is over
    assert words[words.index("--port") + 1] == "5300"
    assert words[words.index("--cport") + 1] == str(params.data_port) == "5301"
    assert iperf3.listen_argv(params)[-2:] == ["--port", "5300"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("duration_s", 0),
        ("duration_s", 1.5),
        ("block_bytes", 100),
        ("port", 70000),
        ("reverse", 1),
        ("measure_from_s", 100),
        ("start_jitter_us", 100_000_001),
        ("late_start_us", 100_000_001),
        ("unsent_bytes", 100),
    ],
)
def test_bad_parameters(key, value):
    with pytest.raises(
        ValueError, match=rf"^workload\.{key}(: the last source would start| = {value}: )"
    ):
        Parameters(**{key: value})


def test_starts_end_before_the_interval_or_are_all_of_them_in_it():
    assert Parameters(measure_from_s=0, duration_s=1, start_jitter_us=10_000)
    with pytest.raises(WorkloadError, match=r"^workload\.start_jitter_us: .* 1000001 us; it must"):
        Parameters(measure_from_s=1, start_jitter_us=1_000_001)


def test_starts_are_named_draws_within_the_jitter():
    params = Parameters(measure_from_s=1, start_jitter_us=100_000)
    starts = iperf3.starts_ns(params, 1, 50)
    assert all(0 <= start < 100_000_000 for start in starts)
    assert len(set(starts)) == 50
    # One more pair leaves the others' starts alone, another seed none of them.
    assert iperf3.starts_ns(params, 1, 49) == starts[:49]
    assert not set(iperf3.starts_ns(params, 2, 50)) & set(starts)
    assert iperf3.starts_ns(Parameters(), 1, 3) == [0, 0, 0]


def test_the_path_says_within_which_time_sources_start():
    link = Link(rate_bit_per_s=10_000_000, delay_ns=50_000_000)
    access = Link(rate_bit_per_s=149_760_000, delay_ns=5_000)
    path = Dumbbell(pairs=2, access=access, middle=link, mss_bytes=1024)
    assert Parameters().on_path(path).jitter_us == 100_020
    assert Parameters(start_jitter_us=0).on_path(path).jitter_us == 0
    slow = replace(path, middle=replace(link, delay_ns=10_000_000_000))
    assert Parameters(duration_s=2).on_path(slow).jitter_us == 2_000_000
    late = Parameters(measure_from_s=3, late_start_us=2_500_000)
    assert late.on_path(slow).jitter_us == 500_000


def test_every_second_source_comes_late():
    params = Parameters(measure_from_s=8, start_jitter_us=100_000)
    late = replace(params, late_start_us=5_000_000)
    first, second, third, fourth = iperf3.starts_ns(params, 1, 4)
    wait_ns = 5_000_000_000
    assert iperf3.starts_ns(late, 1, 4) == [first, second + wait_ns, third, fourth + wait_ns]
    with pytest.raises(WorkloadError, match=r"^workload\.late_start_us: .* 8100000 us; it must"):
        replace(params, late_start_us=8_000_000)


def test_a_source_that_does_not_end_is_killed():
    one = subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE, text=True)
    with source.killed_after(0.1, [one]):
        said = one.communicate()[0]
    assert (said, one.returncode) == ("", -signal.SIGKILL)


def test_a_source_that_ends_is_not_killed():
    one = subprocess.Popen(["echo", "all"], stdout=subprocess.PIPE, text=True)
    with source.killed_after(1000, [one]):
        assert one.communicate()[0] == "all\n"
    assert one.returncode == 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
