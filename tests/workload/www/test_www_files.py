# SPDX-License-Identifier: GPL-2.0-only
"""What goes to the client and what comes back: files that are whole, and files that are not."""

import pytest

from workload.errors import WorkloadError
from workload.www import www_client
from workload.www.parameters import Parameters
from workload.www.schedule import Request

REQUESTS = (Request(1, 0, 0, 2, 5, 51200, 0), Request(2, 0, 0, 0, 1, 102, 7))
PAIRS = (
    www_client.Pair(pair=1, client_netns="/proc/41/ns/net", server_address="10.2.0.1"),
    www_client.Pair(
        pair=2,
        client_netns="/proc/42/ns/net",
        server_address="10.2.0.2",
        server_port=8080,
        server_netns="/proc/52/ns/net",
    ),
)
SUMMARY = (
    '{"format": "cellbed-www/1", "pairs": 2, "t0_ns": 5, "duration_ns": 9, "requests": 2, '
    '"sent": 2, "answered": 1, "outstanding": 1, "received_bytes": 51420, "max_late_ns": 3, '
    '"max_read_bytes": 100, "min_receive_buffer_bytes": 16000000, "max_window_bytes": 65535, '
    '"broken": []}'
)
STDOUT = f"t0 5\nprogress 1 0 2 0\n{SUMMARY}\n"
FLOWS = (
    www_client.FLOWS_HEADER
    + "\n1,51420,51200,1,1,1,117,0,103,2,1,9,4,10100,65535\n"
    + ("2,0,102,1,1,0,0,0,0,,,,,,\n")
)
ANSWERS = www_client.REQUESTS_HEADER + "\n1,0,0,2,5,51200,0,0,10,90,200\n2,0,0,0,1,102,7,8,,,\n"


def write(directory, flows=FLOWS, answers=ANSWERS):
    (directory / "flows.csv").write_text(flows)
    (directory / "requests.csv").write_text(answers)


def test_specification(tmp_path):
    www_client.prepare(tmp_path / "trial", Parameters(), PAIRS, REQUESTS)
    assert (tmp_path / "trial" / "www.spec").read_text() == (
        "cellbed-www/1\n"
        "request_bytes 128\n"
        "pair 1 /proc/41/ns/net 10.2.0.1 80 -\n"
        "pair 2 /proc/42/ns/net 10.2.0.2 8080 /proc/52/ns/net\n"
        "request 1 0 0 2 5 51200 0 /class2_5\n"
        "request 2 0 0 0 1 102 7 /class0_1\n"
    )


def test_a_whole_record(tmp_path):
    write(tmp_path)
    record = www_client.read(tmp_path, STDOUT)
    first, second = record.flows
    assert (first.received_bytes, first.timeouts, first.srtt_us) == (51420, 1, 10100)
    assert (second.received_bytes, second.timeouts, second.srtt_us) == (0, None, None)
    assert tuple(answer.request for answer in record.answers) == REQUESTS
    done, outstanding = record.answers
    assert (done.sent_ns, done.first_byte_ns, done.last_byte_ns, done.status) == (0, 10, 90, 200)
    assert (outstanding.sent_ns, outstanding.last_byte_ns, outstanding.status) == (8, None, None)


def test_every_byte_has_its_place(tmp_path):
    write(tmp_path)
    assert www_client.unexplained_bytes(www_client.read(tmp_path, STDOUT)) == [0, 0]
    write(tmp_path, answers=ANSWERS.replace("51200", "51201"))
    assert www_client.unexplained_bytes(www_client.read(tmp_path, STDOUT)) == [-1, 0]


def cut(text):
    """The file as a full disk leaves it."""
    return text[: text.rindex(",") - 3]


@pytest.mark.parametrize(
    ("files", "stdout", "message"),
    [
        ({}, "t0 5\n", "no summary"),
        ({}, STDOUT + SUMMARY, "no summary"),
        ({}, STDOUT.replace("www/1", "www/2"), "not in the format"),
        ({}, STDOUT.replace('"sent": 2, ', ""), "another version"),
        ({}, STDOUT.replace('"pairs": 2', '"pairs": 3'), "different pairs"),
        ({}, STDOUT.replace('"requests": 2', '"requests": 3'), "different requests"),
        ({}, STDOUT.replace('"sent": 2', '"sent": 1'), "different sent"),
        ({}, STDOUT.replace('"answered": 1', '"answered": 2'), "different answered"),
        ({}, STDOUT.replace("51420", "51421"), "different received_bytes"),
        ({"flows": ""}, STDOUT, "the first line must be pair,received"),
        ({"flows": FLOWS.replace("pair,", "flow,")}, STDOUT, "the first line must be"),
        ({"flows": cut(FLOWS)}, STDOUT, "flows.csv: the last line is cut short"),
        ({"answers": cut(ANSWERS)}, STDOUT, "requests.csv: the last line is cut short"),
        (
            {"flows": cut(FLOWS) + "\n"},
            STDOUT,
            "flows.csv:3: the line has 11 columns, but must have 15",
        ),
        ({"answers": ANSWERS.replace("90", "9a")}, STDOUT, "requests.csv:2: .*'9a'"),
        ({"answers": ANSWERS[: ANSWERS.index("\n2,") + 1]}, STDOUT, "different requests"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path, files, stdout, message):
    write(tmp_path, **files)
    with pytest.raises(WorkloadError, match=message):
        www_client.read(tmp_path, stdout)


def test_a_missing_table(tmp_path):
    with pytest.raises(WorkloadError, match=r"cannot read .*flows\.csv: No such file"):
        www_client.read(tmp_path, STDOUT)


def test_lines_while_it_runs():
    assert www_client.t0_ns("t0 123") == 123
    assert www_client.t0_ns("progress 1 2 3 4") is None
    assert www_client.progress("t0 123") is None
    found = www_client.progress("progress 20 868 263 90758318")
    assert found == www_client.Progress(
        second=20, answered=868, outstanding=263, read_bytes=90758318
    )
