# SPDX-License-Identifier: GPL-2.0-only
"""Paths from logs of measurements: of mobile networks, and ping's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from plan.errors import UsageError
from plan.path import Path as Moving
from plan.path import Row
from plan.paths import bandwidth_log, gnettrack, ping
from plan.paths.site import Site

STILL = Row(0, 10_000_000, 5_000, 0.0, 0)
# Seconds since 1970, as in Norway; a second of 1 Mbit/s, two seconds of 2 Mbit/s, half one of none.
NORWAY = """\
1300000000 5000 59.9 10.7 125000 1000
1300000001 6000 59.9 10.7 250000 1000

1300000002 7000 59.9 10.7 250000 1000
1300000002 7500 59.9 10.7 0 500
"""
# Milliseconds since 1970, as in Ghent, with a zero before the milliseconds.
GHENT = "1450000000000 5000 51.0 3.7 124875 0999\n1450000001000 6001 51.0 -3.7 50 1001\n"
PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.060000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=60.0 ms
[1700000000.141000] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=63 time=41.0 ms
[1700000000.151000] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=63 time=51.0 ms (DUP!)
[1700000001.200000] no answer yet for icmp_seq=3
[1700000001.300000] From 192.0.2.9 icmp_seq=4 Destination Host Unreachable
[1700000001.400500] 64 bytes from gateway (192.0.2.1): icmp_seq=6 ttl=63 time=100.5 ms
[1700000001.700000] 64 bytes from 2001:db8::1: icmp_seq=5 time=500 ms

--- 192.0.2.1 ping statistics ---
6 packets transmitted, 4 received, +1 duplicates, 33.3333% packet loss, time 1300ms
rtt min/avg/max/mdev = 41.000/175.375/500.000/0.100 ms, pipe 2
"""
# A second twice, a clock that is set back by a second, and two seconds without a row.
PHONE = """\
Timestamp,Speed,DL_bitrate,UL_bitrate,State
2019.12.31_23.59.58,0,4000,20,D
2019.12.31_23.59.59,0,9999,9,D
2019.12.31_23.59.59,0,0,0,I
2019.12.31_23.59.58,0,5000.5,30,D
2020.01.01_00.00.02,0,6000,40,D
"""


def of_phone(folder: Path, text: str, **settings: object) -> Moving:
    (folder / "phone.csv").write_text(text)
    wanted = gnettrack.Settings(file="phone.csv", **settings)  # type: ignore[arg-type]
    return wanted.path(Site(folders=[folder], still=STILL))


def of_log(folder: Path, text: str, **settings: object) -> Moving:
    (folder / "a.log").write_text(text)
    wanted = bandwidth_log.Settings(down="a.log", **settings)  # type: ignore[arg-type]
    return wanted.path(Site(folders=[folder], still=STILL))


def of_ping(folder: Path, text: str, **settings: object) -> Moving:
    (folder / "ping.txt").write_text(text)
    wanted = ping.Settings(file="ping.txt", **settings)  # type: ignore[arg-type]
    return wanted.path(Site(folders=[folder], still=STILL))


def test_a_line_has_the_rate_of_the_time_before_it(tmp_path: Path) -> None:
    found = of_log(tmp_path, NORWAY, loss=0.25)
    assert list(found.down.rows()) == [
        Row(0, 1_000_000, 5_000, 0.25, 0),
        Row(1_000_000, 2_000_000, 5_000, 0.25, 0),
        Row(3_000_000, 0, 5_000, 0.25, 0),
    ]
    assert found.down.period_us == 3_500_000
    assert list(found.up.rows()) == [Row(0, 10_000_000, 5_000, 0.25, 0)]


def test_both_directions_have_a_log_and_a_scale(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(GHENT)
    found = of_log(tmp_path, NORWAY, up="b.log", scale=0.5, delay_us=70_000)
    assert [row[:3] for row in found.up.rows()] == [(0, 500_000, 70_000), (999_000, 0, 70_000)]
    assert found.up.period_us == 2_000_000
    assert found.down.rates_bit_per_s == (500_000, 1_000_000, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.log: the file has no line of a bandwidth log"),
        ("1 2 3 4 0 6\n", "a.log: the log has no rate of 1000 bit/s"),
        ("1 2 3 4 5\n", "a.log, line 1: 1 2 3 4 5: must have 6 columns with blanks between them, "),
        ("1,2,3,4,5,6\n", "a.log, line 1: 1,2,3,4,5,6: must have 6 columns with blanks between"),
        (NORWAY + "1 2 x 4 5 6\n", "a.log, line 6: x: must be a number in digits"),
        ("1 2 3 4 5.5 6\n", "a.log, line 1, column 5 (bytes): 5.5: must be a whole number; allo"),
        (f"1 2 3 4 5 {'9' * 5000}\n", f"a.log, line 1, column 6 (milliseconds): {'9' * 40}...: m"),
        ("1 2 3 4 -5 6\n", "a.log, line 1, column 5 (bytes): -5: must be a whole number; allowed"),
        ("1 2 3 4 5 0\n", "a.log, line 1, column 6 (milliseconds): 0: must be a whole number; al"),
        ("1 2 3 4 99999999999 1\n", "a.log, line 1: 99999999999 bytes in 1 ms are 79999999999200"),
    ],
)
def test_a_mistake_in_a_log_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        of_log(tmp_path, text)
    assert str(caught.value).startswith(f"topology.path: {said}")


def test_a_round_trip_begins_when_its_packet_was_sent(tmp_path: Path) -> None:
    """The answer to the fifth packet came after that to the sixth."""
    found = of_ping(tmp_path, PING, loss=0.01)
    assert list(found.down.rows()) == [
        Row(0, 10_000_000, 30_000, 0.01, 0),
        Row(100_000, 10_000_000, 20_500, 0.01, 0),
        Row(1_200_000, 10_000_000, 250_000, 0.01, 0),
        Row(1_300_000, 10_000_000, 50_250, 0.01, 0),
    ]
    assert found.up == found.down


def test_a_part_of_a_log_is_taken(tmp_path: Path) -> None:
    found = of_ping(tmp_path, PING, from_s=0.15, duration_s=1.1, up_share=0.75)
    assert [(row.time_us, row.delay_us) for row in found.up.rows()] == [
        (0, 30_750), (1_050_000, 375_000)
    ]  # fmt: skip
    assert found.down.delays_us == (10_250, 125_000)


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("", {}, ": ping.txt: the file has no answer of ping"),
        (PING, {"from_s": 1.5}, ".from_s = 1.5: the log of ping.txt ends at 1.3 s"),
        (
            "64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=60.0 ms\n",
            {},
            ": ping.txt, line 1: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=...: must begin with a ti",
        ),
        (
            PING.replace("time=41.0 ms", "time=41.0"),
            {},
            ": ping.txt, line 3: [1700000000.141000] 64 bytes from 192.0....: must be an answer as",
        ),
        (
            PING.replace("time=41.0 ms", "time=20001 ms"),
            {},
            ": ping.txt, line 3: time=20001 ms: allowed are 0 to 20000",
        ),
        (
            PING.replace("[1700000001.400500]", "[1700000000.150999]"),
            {},
            ": ping.txt, line 7: [1700000000.150999]: the time must not be before that of the answ",
        ),
        (
            PING.replace("[1700000000.060000]", "[0.060000]"),
            {"duration_s": 60},
            ": ping.txt, line 3: [1700000000.141000]: the time is more than a day after that of th",
        ),
        (
            PING.replace("[1700000001.7", "[1700086400.7")
            + "[1700090000.000000] 64 bytes from 192.0.2.1: icmp_seq=9 ttl=63 time=1 ms\n",
            {},
            ": ping.txt: this part of the log has 90000 s; allowed are at most 86400; topology.pat",
        ),
    ],
)
def test_a_mistake_in_the_output_of_ping_is_told(
    tmp_path: Path, text: str, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        of_ping(tmp_path, text, **settings)
    assert str(caught.value).startswith(f"topology.path{said}")


def test_an_hour_of_packets_each_10_ms_needs_a_part(tmp_path: Path) -> None:
    lines = "".join(
        f"[{1_700_000_000 + n / 100:.6f}] 64 bytes from 192.0.2.1: icmp_seq={n % 65536} ttl=63"
        " time=50 ms\n"
        for n in range(300_000)
    )
    with pytest.raises(UsageError, match="has 300000 answers; allowed are at most 262143; a small"):
        of_ping(tmp_path, lines)
    assert len(of_ping(tmp_path, lines, from_s=600, duration_s=60).down.times_us) == 6_000


def test_the_last_row_of_a_second_counts(tmp_path: Path) -> None:
    found = of_phone(tmp_path, PHONE)
    assert [row[:2] for row in found.down.rows()] == [
        (0, 4_000_000), (1_000_000, 5_000_500), (4_000_000, 6_000_000)
    ]  # fmt: skip
    assert found.down.period_us == 5_000_000
    assert list(found.up.rows()) == [STILL]


def test_the_phone_may_send_and_rates_have_a_least_rate(tmp_path: Path) -> None:
    found = of_phone(
        tmp_path, PHONE, up=True, scale=0.1, least_rate_bit_per_s=3_000, loss=0.5, delay_us=9
    )
    assert [row[:4] for row in found.up.rows()] == [
        (0, 3_000, 9, 0.5), (4_000_000, 4_000, 9, 0.5)
    ]  # fmt: skip
    assert found.down.rates_bit_per_s == (400_000, 500_050, 600_000)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (PHONE, "", ": phone.csv: the log has no row with a time"),
        ("DL_bitrate", "DL", ", line 1: Timestamp,Speed,DL,UL_bitrate,State: the first row must n"),
        ("Speed", "DL_bitrate", "must name the columns Timestamp, DL_bitrate and UL_bitrate, each"),
        ("4000,20,D", "4000,20", ", line 2: the row has 4 values, but the first row has 5"),
        ("Speed", "S" * 140_000, f", line 1: Timestamp,{'S' * 30}...: field larger than field"),
        ("4000", "-", ", line 2: DL_bitrate = -: must be a number of kbit/s; allowed are 0 to"),
        ("4000", "99999999", ", line 2: DL_bitrate = 99999999: with topology.path.scale = 1, this"),
        ("12.31_23.59.59,0,0", "12.32_23.59.59,0,0", ", line 4: Timestamp = 2019.12.32_23.59.59"),
        ("2020.01.01", "2020.01.09", ", line 6: 2020.01.09_00.00.02: must not be before the row"),
        ("2020.01.01", "2019.01.01", ", line 6: 2019.01.01_00.00.02: must not be before the row"),
    ],
)
def test_a_mistake_in_a_log_of_a_phone_is_told(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in PHONE
    with pytest.raises(UsageError) as caught:
        of_phone(tmp_path, PHONE.replace(old, new))
    assert said in str(caught.value)
    assert str(caught.value).startswith("topology.path: phone.csv")


def test_a_log_without_a_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no rate of 1000 bit/s; set topology.path.least_rate"):
        of_phone(tmp_path, PHONE, scale=0.001, up=True)
