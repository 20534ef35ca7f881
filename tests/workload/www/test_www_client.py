# SPDX-License-Identifier: GPL-2.0-only
"""www_client against servers that behave and servers that do not, on a loopback of its own."""

import subprocess
from pathlib import Path

import pytest

from workload.www import www_client

SCENARIO = Path(__file__).with_name("fake_server_scenario.py")
SIZES = (102, 4096, 30720, 4095, 409600, 1)


@pytest.mark.parametrize("piece", [1, 3, 977, 100_000])
def test_a_good_server_in_pieces_of_any_size(isolated, client, tmp_path, piece):
    done = isolated(SCENARIO, client, tmp_path, "good", piece)
    assert (done["status"], done["stderr"]) == (0, "")
    record = www_client.read(tmp_path, done["stdout"])
    assert record.summary.answered == record.summary.requests == len(SIZES)
    flow = record.flows[0]
    assert flow.scheduled_bytes == sum(SIZES)
    assert flow.received_bytes == sum(SIZES) + flow.header_bytes
    for answer in record.answers:
        assert answer.status == 200
        assert answer.request.due_ns <= answer.sent_ns <= answer.first_byte_ns
        assert answer.first_byte_ns <= answer.last_byte_ns < 500_000_000
    lasts = [answer.last_byte_ns for answer in record.answers]
    assert lasts == sorted(lasts)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("refused", "pair 1: cannot connect: Connection refused"),
        ("netns", "pair 1: cannot enter network namespace /proc/1/no-such: "),
    ],
)
def test_a_fault_is_one_line_that_names_the_pair(isolated, client, tmp_path, case, message):
    done = isolated(SCENARIO, client, tmp_path, case, 100_000)
    assert done["status"] == 1
    assert done["stderr"].startswith(f"www_client: {message}")
    assert done["stderr"].count("\n") == 1
    assert not (tmp_path / "flows.csv").exists()


@pytest.mark.parametrize(
    ("case", "answered", "why"),
    [
        ("chunked", 1, "the answer has a Transfer-Encoding, where a length was expected"),
        ("close", 1, "the answer has Connection: close, where it must stay open"),
        ("garbage", 1, "the answer's header is too long"),
        ("long", 1, "the answer's header is too long"),
        ("unasked", 6, "the server sends what nobody asked for"),
        ("ends", 3, "connection lost: the server closed it"),
    ],
)
def test_a_connection_that_cannot_be_followed_is_told(
    isolated, client, tmp_path, case, answered, why
):
    done = isolated(SCENARIO, client, tmp_path, case, 100_000)
    assert (done["status"], done["stderr"]) == (0, "")
    record = www_client.read(tmp_path, done["stdout"])
    assert record.summary.broken == [f"pair 1: {why}"]
    assert record.summary.answered == answered


@pytest.mark.parametrize(
    ("case", "status", "unexplained"), [("good", 200, 0), ("length", 200, -1), ("status", 404, 0)]
)
def test_a_wrong_answer_is_counted_as_it_came(
    isolated, client, tmp_path, case, status, unexplained
):
    done = isolated(SCENARIO, client, tmp_path, case, 100_000)
    record = www_client.read(tmp_path, done["stdout"])
    assert (record.summary.answered, record.summary.broken) == (len(SIZES), [])
    assert record.answers[1].status == status
    assert www_client.unexplained_bytes(record) == [unexplained]


@pytest.mark.parametrize(("case", "answered"), [("silent", 3), ("short", 5)])
def test_what_is_not_answered_in_time_is_outstanding(isolated, client, tmp_path, case, answered):
    done = isolated(SCENARIO, client, tmp_path, case, 100_000)
    assert done["status"] == 0
    record = www_client.read(tmp_path, done["stdout"])
    assert record.summary.sent == len(SIZES)
    assert record.summary.answered == answered
    assert record.summary.outstanding == len(SIZES) - answered
    open_one = record.answers[answered]
    assert open_one.sent_ns is not None
    assert open_one.last_byte_ns is None
    assert www_client.unexplained_bytes(record) == [0]
    begun = case == "short"
    assert (open_one.first_byte_ns is not None, open_one.status == 200) == (begun, begun)


HEAD = "cellbed-www/1\nrequest_bytes 128\n"
PAIR = "pair 1 /proc/self/ns/net 127.0.0.1 80 -\n"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "has no pair"),
        ("cellbed-www/2\n", "no file of the format cellbed-www/1"),
        (HEAD, "no pair"),
        (HEAD + PAIR + PAIR, "4: pair 1 appears twice"),
        (HEAD + "pair 1 x 127.0.0.300 80 -\n", "3: 127.0.0.300 port 80 is no IPv4"),
        (HEAD + "pair 1 x 127.0.0.1 0 -\n", "3: 127.0.0.1 port 0 is no IPv4"),
        (HEAD + "pair 1 x 127.0.0.1 80\n", "3: the line must be 'pair NUMBER"),
        (HEAD + PAIR + "request 2 0 0 1 1 10 0 /x\n", "4: no line before this request"),
        (HEAD + PAIR + "request 1 0 0 1 1 0 0 /x\n", "4: size and due time"),
        (HEAD + PAIR + "request 1 0 0 1 1 10 /x\n", "4: the line must be 'request PAIR"),
        (HEAD + PAIR + "request 1 0 0 1 1 10 5 /x\nrequest 1 0 1 1 1 10 4 /x\n", "5: requests"),
        (HEAD + "color red\n", "3: the line must begin"),
        ("cellbed-www/1\nrequest_bytes 20\n" + PAIR, "request_bytes must be 64 to 1024"),
    ],
)
def test_a_bad_specification_is_refused_with_its_line(client, tmp_path, spec, message):
    (tmp_path / "www.spec").write_text(spec)
    words = ["--spec", tmp_path / "www.spec", "--out", tmp_path, "--duration-ns", "1"]
    done = subprocess.run([client, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([], 2, "usage: "),
        (["--spec", "x", "--out", "y"], 2, "usage: "),
        (["--spec", "x", "--out", "y", "--duration-ns", "1", "more"], 2, "usage: "),
        (["--colour"], 2, "usage: "),
        (["--duration-ns", "0"], 1, "--duration-ns 0: must be a whole number from 1"),
        (["--duration-ns", "1s"], 1, "--duration-ns 1s: must be"),
        (["--low-water", "99999999999999999999"], 1, "--low-water 9999"),
        (["--spec", "/nowhere", "--out", "y", "--duration-ns", "1"], 1, "cannot read /nowhere"),
    ],
)
def test_bad_command_lines(client, words, status, message):
    done = subprocess.run([client, *words], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert message in done.stderr
