# SPDX-License-Identifier: GPL-2.0-only
"""Traces: their load, their file, what is refused."""

import hashlib
import json
import math
import os

import pytest

from workload.errors import WorkloadError
from workload.packmime import marginals, ports, trace
from workload.packmime.traffic import Traffic
from workload.packmime.write import write

SMALL = Traffic(exchanges=10_000)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A trace of 10,000 exchanges at 80 % of 10 Mbit/s, and what it says of itself."""
    path = tmp_path_factory.mktemp("trace") / "trace"
    return path, write(path, SMALL, 1)


def packet_bytes(payload, params):
    """What the link carries for a packet."""
    sent = payload + params.header_bytes
    return 53 * math.ceil((sent + 8 + 8) / 48) if params.cells else sent


def wire_bytes(rows, params):
    """Bytes on each direction, packet by packet, without losses."""
    header, mss = packet_bytes(0, params), params.mss_bytes
    total = {"down": 0, "up": 0}
    for row in rows:
        own, other = row.direction, "up" if row.direction == "down" else "down"
        if row.first:
            total[own] += 3 * header  # SYN/ACK, FIN, ACK
            total[other] += 4 * header  # SYN, ACK, FIN, ACK
        for size, there, back in (
            (row.request_bytes, other, own),
            (row.response_bytes, own, other),
        ):
            while size > 0:
                total[there] += packet_bytes(min(size, mss), params)
                total[back] += header  # an ACK
                size -= mss
    return total


@pytest.mark.parametrize(
    "params",
    [
        SMALL,
        Traffic(exchanges=10_000, http="1.1", load_percent=105),
        Traffic(exchanges=10_000, load_percent=50, mss_bytes=536),
        Traffic(exchanges=10_000, rate_bit_per_s=100_000_000, header_bytes=54),
        Traffic(exchanges=10_000, cells=True),
    ],
    ids=["plain", "http-1.1", "small-segments", "fast", "cells"],
)
def test_a_trace_offers_the_stated_load_in_both_directions(tmp_path, params):
    header = write(tmp_path / "trace", params, 1)
    rows = list(trace.read(tmp_path / "trace"))
    assert len(rows) == header.exchanges == pytest.approx(params.exchanges, rel=0.05)
    for direction, count, said in zip(
        ("down", "up"), header.connections, header.offered_percent, strict=True
    ):
        load = wire_bytes(rows, params)[direction] * 8e11 / header.duration_ns
        assert load / params.rate_bit_per_s == pytest.approx(params.load_percent, rel=1e-3)
        assert load / params.rate_bit_per_s == pytest.approx(said, rel=1e-6)
        firsts = [row for row in rows if row.first and row.direction == direction]
        assert [row.connection for row in firsts] == list(range(count))
        starts = [row.wait_ns for row in firsts]
        assert starts == sorted(starts)
        assert starts[-1] == header.duration_ns


def test_the_shapes_hardly_depend_on_the_rate(small):
    """So that a third more or less connections than the rate drawn for is of no matter."""
    _, header = small
    for count in header.connections:
        rate = count * 1e9 / header.duration_ns
        assert rate == pytest.approx(header.model_rate, rel=0.33)
        shapes = [marginals.logistic(0.352, 0.388, r) for r in (rate, header.model_rate)]
        assert shapes[0] == pytest.approx(shapes[1], abs=0.02)


def test_values_are_within_their_bounds(small):
    for row in trace.read(small[0]):
        assert 1_000_000 <= row.round_trip_ns <= 3_500_000_000
        assert row.request_bytes >= 48
        assert row.response_bytes >= 1
        assert row.server_delay_ns <= 100_000_000


def test_a_seed_is_the_same_byte_for_byte(small, tmp_path):
    again = tmp_path / "again"
    write(again, SMALL, 1)
    assert again.read_bytes() == small[0].read_bytes()
    write(again, SMALL, 2)
    assert again.read_bytes() != small[0].read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_the_trace_of_a_seed_stays_what_it_is(small):
    # Recorded once: a change here changes every published trial.
    rows = small[0].read_bytes().partition(b"\n")[2]
    assert hashlib.sha256(rows).hexdigest()[:16] == "56583300d0c4ef36"


def test_every_connection_has_one_end_with_its_round_trip(small):
    path, header = small
    ends = list(trace.ends(path, 4))
    assert len(ends) == sum(header.connections)
    assert len({(e.direction, e.host, e.client_port, e.server_port) for e in ends}) == len(ends)
    firsts = [row for row in trace.read(path) if row.first]
    assert [e.round_trip_ns for e in ends] == [row.round_trip_ns for row in firsts]
    assert [e.host for e in ends[:5]] == [0, 1, 2, 3, 0]


def test_the_header_is_read_without_the_rows(small):
    path, header = small
    found = trace.read_header(path)
    assert (found.seed, found.exchanges, found.duration_ns) == (
        1,
        header.exchanges,
        header.duration_ns,
    )
    assert found.parameters["load_percent"] == 80.0


@pytest.mark.parametrize("kept", [0.999999, 0.9999, 0.7, 0.3])
def test_a_trace_cut_short_is_refused_in_one_sentence(small, tmp_path, kept):
    whole = small[0].read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(
        WorkloadError, match=r"cut: the trace is cut short|cut short or damaged"
    ) as e:
        list(trace.read(cut))
    assert "\n" not in str(e.value)


LINE = "down,0,1,2000000,400,5,300\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no file of the format cellbed-packmime/1"),
        ("cellbed-packmime/2 {}\n", "no file of the format cellbed-packmime/1"),
        ("cellbed-packmime/1 {\n", "the first line is damaged"),
        ("cellbed-packmime/1 {}\n", "the first line is damaged: 'seed'"),
        ("HEADER\n", "the second line must be direction,connection"),
        ("HEADER\nCOLUMNS\n", "the trace is cut short"),
        ("HEADER\nCOLUMNS\n" + LINE, "the trace is cut short"),
        ("HEADER\nCOLUMNS\n" + LINE + "end,2\n", "the trace is cut short"),
        ("HEADER\nCOLUMNS\n" + LINE + "end,1\nmore\n", "the trace is cut short"),
        ("HEADER\nCOLUMNS\n" + "left" + LINE + "end,1\n", ":3: the trace is cut short or damaged"),
        ("HEADER\nCOLUMNS\ndown,0,1,2,x,4,5\nend,1\n", ":3: the trace is cut short or damaged"),
        ("HEADER\nCOLUMNS\ndown,0,1,2,3,4,-5\nend,1\n", ":3: the trace is cut short or damaged"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, text, message):
    fields = dict.fromkeys(trace.Header.__annotations__, 1)
    head = f"{trace.FORMAT} {json.dumps(fields)}"
    path = tmp_path / "trace"
    path.write_text(text.replace("HEADER", head).replace("COLUMNS", trace.COLUMNS))
    with pytest.raises(WorkloadError, match=message):
        list(trace.read(path))


def test_no_file_is_one_sentence(tmp_path):
    with pytest.raises(WorkloadError, match="cannot read .*: No such file or directory"):
        trace.read_header(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"load_percent": 0}, r"workload.load_percent = 0: allowed are 1 to 200"),
        ({"load_percent": 300}, r"workload.load_percent = 300: allowed are 1 to 200"),
        ({"load_percent": "80"}, r'workload.load_percent = "80": must be a number'),
        ({"exchanges": 1}, r"workload.exchanges = 1: allowed are 10"),
        ({"http": "2"}, r"workload.http = 2: it must be one of 1.0, 1.1"),
    ],
)
def test_bad_parameters_are_one_sentence(change, message):
    with pytest.raises(ValueError, match=message):
        Traffic(**change)


def test_too_few_exchanges_to_load_both_ways_alike(tmp_path):
    with pytest.raises(
        WorkloadError, match=r"workload.exchanges = 10: .* too few to offer 80 % in both"
    ):
        write(tmp_path / "trace", Traffic(exchanges=10), 1)
    assert not list(tmp_path.iterdir())


def test_no_two_connections_of_a_host_have_the_same_ports():
    for hosts in (1, 4):
        found = {(ports.host(n, hosts), *ports.ports(n, hosts)) for n in range(0, 250_000)}
        assert len(found) == 250_000
    assert ports.ports(799_999, 1) == (59_999, 8_015)


def test_a_trace_is_written_through_no_link(tmp_path):
    """What runs in a lab can write in the trace's folder, and guess a name."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / f".trace.{os.getpid()}").symlink_to(mine)
    write(tmp_path / "run" / "trace", SMALL, 1)
    assert mine.read_text() == "mine"
