# SPDX-License-Identifier: GPL-2.0-only
"""packmime_client and packmime_server over real connections on a loopback of their own."""

import json
import random
import resource
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.small import PROJECT
from workload.packmime import carriers, ports, trace

SCENARIO = Path(__file__).with_name("packmime_scenario.py")
MS = 1_000_000
FIELDS = dict.fromkeys(trace.Header.__annotations__, 1)


@pytest.fixture(scope="session")
def programs(client):
    """The folder with packmime_client and packmime_server."""
    return client.parent


def write_trace(path, rows, ending=None):
    """A trace of rows (direction, connection, wait, round trip, request, delay, response)."""
    lines = [f"{trace.FORMAT} {json.dumps(FIELDS)}", trace.COLUMNS]
    lines += [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([*lines, ending or f"end,{len(rows)}"]) + "\n")
    return path


# Connection, wait, request, delay, response: the smallest, large ones each way, a kept connection.
ROWS = [
    ("down", 0, 1 * MS, 0, 51, 0, 1),
    ("down", 1, 1 * MS, 0, 200_000, 3 * MS, 2_000_000),
    ("down", 2, 5 * MS, 0, 422, 10 * MS, 2258),
    ("down", 2, 20 * MS, 0, 422, 0, 65_537),
    ("down", 2, 0, 0, 422, 100 * MS, 5),
    ("down", 3, 5 * MS, 0, 1460, 100 * MS, 8895),
    ("up", 0, 5 * MS, 0, 1460, 100 * MS, 8895),
]
OWN = [row for row in ROWS if row[0] == "down"]


@pytest.fixture(scope="module")
def good(isolated, programs, tmp_path_factory):
    """What the programs did with ROWS: what they said, and the rows of both tables."""
    folder = tmp_path_factory.mktemp("good")
    said = isolated(SCENARIO, programs, write_trace(folder / "trace", ROWS), "good", 20)
    results = list(carriers.read_exchanges(folder / "client.csv"))
    return said, results, list(carriers.read_server(folder / "server.csv"))


def test_every_exchange_is_done_with_all_its_bytes(good):
    said, results, _ = good
    assert (said["status"], said["stderr"]) == (0, "")
    assert [(r.connection, r.exchange) for r in results] == [
        (0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (3, 0),
    ]  # fmt: skip
    assert {r.state for r in results} == {"done"}
    assert [r.received_bytes for r in results] == [row[6] for row in OWN]


def test_times_are_in_order_and_as_late_as_the_trace_says(good):
    _, results, _ = good
    before = None
    for result, (_, _, wait_ns, _, _, delay_ns, _) in zip(results, OWN, strict=True):
        if result.exchange == 0:
            assert result.begun_ns >= wait_ns
            assert result.begun_ns <= result.connected_ns <= result.sent_ns
        else:
            assert result.connected_ns is None
            assert result.begun_ns - before.last_byte_ns >= wait_ns
            assert result.begun_ns <= result.sent_ns
        assert result.first_byte_ns - result.sent_ns >= delay_ns
        assert result.first_byte_ns <= result.last_byte_ns
        before = result


def test_the_server_saw_each_connection_at_its_own_ports(good):
    _, _, served = good
    assert sorted((s.client_port, s.server_port, s.answered, s.sent_bytes) for s in served) == [
        (*ports.ports(0, 1), 1, 1),
        (*ports.ports(1, 1), 1, 2_000_000),
        (*ports.ports(2, 1), 3, 2258 + 65_537 + 5),
        (*ports.ports(3, 1), 1, 8895),
    ]
    assert {s.state for s in served} == {"done"}


def test_both_sum_up(good):
    said, _, _ = good
    client = carriers.summary(said["stdout"])
    assert client["states"]["done"] == client["exchanges"] == 6
    assert client["connections"] == 4
    assert client["received_bytes"] == sum(row[6] for row in OWN)
    assert carriers.summary(said["server"]["stdout"])["connections"] == 4
    assert said["server"]["status"] == 0


def test_what_is_due_is_taken_in_order_of_time_and_then_of_noting(compiler, tmp_path):
    folder = PROJECT / "workload" / "packmime" / "programs"
    calls = PROJECT / "workload" / "common" / "calls.c"
    sources = [Path(__file__).with_name("loop_main.c"), folder / "loop.c", calls]
    argv = [compiler, "-std=gnu11", "-D_GNU_SOURCE", f"-I{folder}", "-o", tmp_path / "loop"]
    subprocess.run([*argv, *sources], check=True)
    drawn = random.Random(1)
    times = [drawn.randrange(300) for _ in range(1000)]
    for until in (-1, 0, 150, 1000):
        said = subprocess.run(
            [tmp_path / "loop", str(until)],
            input="\n".join(map(str, times)), capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        due = [line for line, at in enumerate(times) if at <= until]
        assert [int(line) for line in said.split()] == sorted(due, key=lambda line: times[line])


@pytest.mark.parametrize(
    ("case", "state", "received"),
    [
        ("refused", "refused", 0),
        ("reset", "reset", 5000),
        ("short", "closed", 9999),
        ("silent", "waiting", 0),
        ("half", "receiving", 5000),
    ],
)
def test_what_goes_wrong_is_told(isolated, programs, tmp_path, case, state, received):
    rows = [("down", 0, 0, 0, 400, 0, 10_000), ("down", 0, 0, 0, 400, 0, 10_000)]
    said = isolated(SCENARIO, programs, write_trace(tmp_path / "trace", rows), case, 0.4)
    first, second = carriers.read_exchanges(tmp_path / "client.csv")
    assert (said["status"], said["stderr"]) == (0, "")
    assert (first.state, first.received_bytes) == (state, received)
    assert (second.state, second.begun_ns, second.received_bytes) == ("not_begun", None, 0)
    assert first.last_byte_ns is None
    assert carriers.summary(said["stdout"])["states"][state] == 1


def test_what_does_not_end_in_time_is_told_by_both(isolated, programs, tmp_path):
    rows = [
        ("down", 0, 0, 0, 400, 60_000 * MS, 10_000),
        ("down", 1, 0, 0, 400, 0, 10_000),
        ("down", 2, 60_000 * MS, 0, 400, 0, 10_000),
    ]
    said = isolated(SCENARIO, programs, write_trace(tmp_path / "trace", rows), "good", 0.5)
    states = Counter(r.state for r in carriers.read_exchanges(tmp_path / "client.csv"))
    assert states == {"waiting": 1, "done": 1, "not_begun": 1}
    served = Counter(s.state for s in carriers.read_server(tmp_path / "server.csv"))
    # The client's reset at its end reaches a server that is still there.
    assert served == {"reset": 1, "done": 1}
    assert carriers.summary(said["stdout"])["most_open"] == 2


def test_2000_connections_at_a_time_in_a_few_megabytes(isolated, programs, tmp_path):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2100:
        pytest.skip("this user may not open 2,000 files")
    rows = [("down", n, n * MS // 10, 0, 422, 2_000 * MS, 8895) for n in range(2000)]
    said = isolated(SCENARIO, programs, write_trace(tmp_path / "trace", rows), "good", 40)
    assert said["stderr"] == ""
    client = carriers.summary(said["stdout"])
    assert client["states"]["done"] == client["most_open"] == 2000
    server = carriers.summary(said["server"]["stdout"])
    assert (server["connections"], server["most_open"]) == (2000, 2000)
    for program, used_kib in said["most_kib"].items():
        assert 500 < used_kib < 16 * 1024, program


@pytest.mark.parametrize(
    ("rows", "ending", "message"),
    [
        ([], "end,1", "trace is cut short; its last line must be end,ROWS"),
        (ROWS, "end,6", "trace is cut short"),
        (ROWS, "down,4,1,", "trace:10: the trace is cut short or damaged here"),
        ([("down", 0, 1, 1, "x", 1, 1)], None, "trace:3: the trace is cut short or damaged here"),
        ([("down", 0, 1, 1, 400, 1, 0)], None, "trace:3: the trace is cut short or damaged here"),
        ([("down", 800_000, 1, 1, 400, 1, 1)], None, "more than 800000 connections for this host"),
        (
            [("down", 0, 1, 1, 20, 1, 1)],
            None,
            "connection 0: a request has 20 bytes, but must have 48 or more",
        ),
    ],
)
def test_a_bad_trace_is_refused_in_one_line(programs, tmp_path, rows, ending, message):
    side = carriers.Side(direction="down", hosts=1, host=0, address="127.0.0.1", server="127.0.0.1")
    path = write_trace(tmp_path / "trace", rows, ending)
    argv = carriers.client_argv(
        programs / "packmime_client", path, side,
        t0_ns=1 << 62, duration_ns=1, out=tmp_path / "out",
    )  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


GOOD = "--trace t --direction down --hosts 1 --host 0 --server 127.0.0.1 --duration-ns 1 --out o"


@pytest.mark.parametrize(
    ("program", "words", "status", "message"),
    [
        ("packmime_client", "", 2, "usage: "),
        ("packmime_client", GOOD, 2, "usage: "),
        ("packmime_client", GOOD + " --t0-ns 1 more", 2, "usage: "),
        ("packmime_client", GOOD + " --t0-ns 1", 1, "cannot read t: No such file"),
        ("packmime_client", GOOD + " --t0-ns soon", 1, "--t0-ns soon: must be a whole number"),
        (
            "packmime_client",
            GOOD + " --t0-ns 1 --server x",
            1,
            "--server x: must be an IPv4 address",
        ),
        ("packmime_client", GOOD + " --t0-ns 1 --host 1", 1, "--host 1 of --hosts 1: must be"),
        ("packmime_client", GOOD + " --t0-ns 1 --direction left", 1, "must be down or up"),
        ("packmime_server", "", 2, "usage: "),
        ("packmime_server", "--out o --ports 200", 2, "usage: "),
        ("packmime_server", "--out o --address x", 2, "usage: "),
    ],
)
def test_bad_command_lines(programs, tmp_path, program, words, status, message):
    argv = [programs / program, *words.split()]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == status
    assert message in done.stderr


def test_a_trace_that_was_read_too_late_is_refused(programs, tmp_path):
    write_trace(tmp_path / "t", ROWS)
    argv = [programs / "packmime_client", *GOOD.split(), "--t0-ns", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, "ago when the trace was read" in done.stderr) == (1, True)
