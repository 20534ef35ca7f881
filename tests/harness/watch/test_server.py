# SPDX-License-Identifier: GPL-2.0-only
"""What the page is told, and what it is not given."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from analysis import campaign_file
from harness.cli.commands import run
from harness.cli.group import cellbed
from harness.events import (
    CampaignEnded,
    CampaignInterrupted,
    TrialFailed,
    TrialJudged,
    TrialProgress,
    TrialStarted,
    to_json,
)
from harness.watch.follow import Follower
from harness.watch.server import ADDRESS, Server, serving
from plan.errors import UsageError
from tests.harness.watch.made import STARTED, TRIALS, Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.fixture
def server(made: Made) -> Iterator[Server]:
    with serving(made.folder) as found:
        yield found


def get(server: Server, path: str, **headers: str) -> tuple[int, bytes]:
    """By the whole path; PORT in a header is the server's."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    port = str(server.server_address[1])
    told = {name: value.replace("PORT", port) for name, value in headers.items()}
    connection.request("GET", path, headers=told)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_a_trials_life(made: Made) -> None:
    follower, second = Follower(made.folder), TRIALS[1]

    def seen() -> tuple[str, object]:
        state = follower.state()
        assert [one["levels"]["policy"] for one in state["trials"]] == ["EPD", "SD"]
        assert state["trials"][0]["status"] == "valid"
        return state["trials"][1]["status"], state["trials"][1].get("virtual_s")

    assert seen() == ("waiting", None)
    made.say(TrialStarted(trial=second))
    made.say(TrialProgress(trial=second, virtual_s=12.5))
    assert seen() == ("running", 12.5)
    made.say(TrialFailed(trial=second, attempt=1, reason="hung", retried=True))
    assert seen()[0] == "waiting"
    made.say(TrialFailed(trial=second, attempt=2, reason="hung", retried=False))
    assert seen()[0] == "failed"
    with (made.folder / "events.jsonl").open("a") as stream:
        stream.write('{"event": "campaign-en')  # begun, and not written to its end
    assert seen()[0] == "failed"


def test_the_time_left_is_the_terminals(made: Made) -> None:
    """Without the time for which a viewer held the lab; the events are a known time apart."""
    trial = TRIALS[1]
    stamps = {0: STARTED, 1: TrialStarted(trial=trial, duration_s=20),
              611: TrialProgress(trial=trial, virtual_s=5, held_s=600)}  # fmt: skip
    lines = [
        json.dumps({"time": f"2026-11-25T10:{at_s // 60:02}:{at_s % 60:02}+00:00", **to_json(one)})
        for at_s, one in stamps.items()
    ]
    (made.folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert Follower(made.folder).state()["left_s"] == pytest.approx(33)


def test_what_an_interrupted_process_ran_does_not_run(made: Made) -> None:
    """Nor when the next process begins, which tells only what it has begun itself."""
    follower = Follower(made.folder)
    made.say(TrialStarted(trial=TRIALS[1]))
    made.say(CampaignInterrupted(reason="KeyboardInterrupt"))
    state = follower.state()
    assert [one["status"] for one in state["trials"]] == ["valid", "unfinished"]
    assert state["ended"] == "interrupted"
    assert state["again"] == f"./cellbed watch {made.folder}"
    made.say(STARTED)
    assert [one["status"] for one in follower.state()["trials"]] == ["valid", "waiting"]


def test_a_record_is_told_with_its_figures(made: Made) -> None:
    follower = Follower(made.folder)
    made.end(TRIALS[1])
    made.say(TrialJudged(trial=TRIALS[1], valid=True, failed_checks=()))
    made.say(CampaignEnded(finished=2, failed=0))
    state = follower.state()
    found = state["trials"][1]
    assert (found["status"], found["seed"], state["ended"]) == ("valid", "1", "ended")
    assert found["metrics"]["efficiency"] == pytest.approx(0.8, abs=0.05)


def test_an_older_record_of_a_trial_is_marked(made: Made) -> None:
    """Of two valid records with the same levels and seed."""
    newer = made.folder / "trials" / TRIALS[0]
    older = shutil.copytree(newer, newer.with_name("older"))
    os.utime(older / "judgement.json", (0, 0))
    levels = {"older": "EPD", TRIALS[0]: "EPD", TRIALS[1]: "SD"}
    header = json.loads((made.folder / "campaign.json").read_text()) | {
        "format": "cellbed-campaign/2",
        "trials": [{"trial": name, "factors": {"policy": level}, "seed": 1}
                   for name, level in levels.items()],
    }  # fmt: skip
    (made.folder / "campaign.json").write_text(json.dumps(header))
    found = Follower(made.folder).state()["trials"]
    assert [one["status"] for one in found] == ["valid", "valid", "waiting"]
    assert [one.get("older", False) for one in found] == [True, False, False]


def test_levels_are_those_of_the_header_and_not_read_twice(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a level 2.0 too, whatever a trial is called; the header again when it is another one."""
    levels = [{"policy": "EPD", "buffer": 2.0}, {"policy": "EPD", "buffer": 3}]
    path = made.folder / "campaign.json"
    header = json.loads(path.read_text()) | {
        "format": "cellbed-campaign/2",
        "factors": {"policy": ["EPD"], "buffer": [2.0, 3]},
        "trials": [{"trial": name, "factors": factors, "seed": seed}
                   for seed, (name, factors) in enumerate(zip(TRIALS, levels, strict=True), 7)],
    }  # fmt: skip
    path.write_text(json.dumps(header))
    read = Mock(side_effect=campaign_file.read_header)
    monkeypatch.setattr(campaign_file, "read_header", read)
    follower = Follower(made.folder)
    for _ in range(3):
        state = follower.state()
    found = [(one["levels"], one["seed"]) for one in state["trials"]]
    assert found == [({"policy": "EPD", "buffer": level}, seed) for level, seed in ("27", "38")]
    assert state["factors"]["buffer"] == ["2", "3"] and read.call_count == 1
    path.write_text(json.dumps(header | {"title": "another"}))
    assert follower.state()["title"] == "another"


def test_an_earlier_header_tells_levels_by_the_names(made: Made) -> None:
    path, name = made.folder / "campaign.json", "EPD-2.0-s4-0123456789"
    header = json.loads(path.read_text()) | {"factors": {"policy": ["EPD"], "buffer": [2.0, 3]}}
    path.write_text(json.dumps(header | {"trials": [name]}))
    made.say(TrialStarted(trial=name))
    [found] = Follower(made.folder).state()["trials"]
    assert (found["levels"], found["seed"]) == ({"policy": "EPD", "buffer": "2"}, "4")


def test_a_directory_that_is_not_there_yet(tmp_path: Path) -> None:
    assert Follower(tmp_path / "nowhere").state()["trials"] == []


def test_a_recorded_trial(server: Server) -> None:
    status, body = get(server, f"/{server.secret}/trial/{TRIALS[0]}")
    found = json.loads(body)
    assert status == 200 and found["queue"]["threshold"] == pytest.approx(0.8 * 531)
    assert len(found["queue"]["t"]) == len(found["queue"]["x"]) == 2000
    assert [one["pair"] for one in found["windows"]] == ["1", "50", "100"]
    assert found["drops"]["t"] == sorted(found["drops"]["t"]) != []
    assert all(begin <= end for _, begin, end, _ in found["answers"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/../server.py", 404),
        ("/%2e%2e/server.py", 404),
        ("/trial/..%2f..", 404),
        ("/trial/", 404),
        (f"/trial/{TRIALS[1]}", 404),
        ("/plotly.js", 200),
    ],
)
def test_what_is_given(server: Server, path: str, status: int) -> None:
    assert server.server_address[0] == ADDRESS
    assert get(server, f"/{server.secret}{path}")[0] == status


@pytest.mark.parametrize("path", ["", "/", "/events", "/plotly.js", f"/trial/{TRIALS[0]}", "/x/",
                                  "/%C3%A4/", "//"])  # fmt: skip
def test_without_the_secret_nothing_is_given(server: Server, path: str) -> None:
    """Other users of the machine reach the port as well. Who lost a part of the address is told."""
    assert get(server, path) == (403, b"Open the whole address that the command printed.\n")
    longer = server.secret + "x"
    for wrong in (longer, server.secret[:-1]):
        assert get(server, f"/{wrong}{path}")[0] == 403


def test_each_page_has_a_secret_of_its_own(made: Made) -> None:
    found = set()
    for _ in range(3):
        with serving(made.folder) as server:
            found.add(server.secret)
            assert server.url.endswith(f"/{server.secret}/") and len(server.secret) >= 22
    assert len(found) == 3


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:PORT", "Origin": "http://localhost:PORT"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:PORT"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_other_websites_are_kept_out(server: Server, headers: dict[str, str], status: int) -> None:
    """Even with the secret: a page that leads here by another name, or asks from its own place."""
    assert get(server, f"/{server.secret}/", **headers)[0] == status


def test_a_port_that_is_taken(server: Server, made: Made) -> None:
    with pytest.raises(UsageError, match="port .*.Address already in use"):
        Server(made.folder, server.server_address[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere does not exist; name a folder"),
        ([], "results has no campaign; name"),
        (["other"], "other is no folder of results: it has no campaign.json"),
        (["one"], "one holds the campaign buffers: name one/buffers"),
        (
            ["some"],
            "some holds the campaigns c0, c1, c2, c3, c4 and 2 more: name one of them, "
            "such as some/c0",
        ),
    ],
)
def test_no_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one/buffers", *(f"some/c{number}" for number in range(7)), "other/file"):
        (tmp_path / name).mkdir(parents=True)
        if not name.startswith("other"):
            (tmp_path / name / campaign_file.NAME).touch()
    error = CliRunner().invoke(cellbed, ["watch", *arguments]).exception
    assert isinstance(error, UsageError) and str(error).startswith(said)


@pytest.mark.parametrize("left", [0, 1])
def test_run_has_a_page_if_a_trial_is_left_to_run(
    left: int, made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the address would be dead before anyone could open it."""
    trials = [Mock(receiver=None) for _ in TRIALS]
    campaign = Mock(folder=made.folder, trials=trials)
    campaign.finished.return_value = set(TRIALS[left:])
    with run.page(campaign):
        said = capsys.readouterr().err
    if left:
        assert said.startswith("Open http://") and "receiver_kernel" not in said
    else:
        assert said == (
            "All trials have results, so there is no live page. "
            f"./cellbed watch {made.folder} plays the trials again.\n"
        )


def test_without_the_library_the_hint_names_its_set_up(
    made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run.plotly_js, "path", lambda: None)
    campaign = Mock(folder=made.folder, trials=[])
    campaign.finished.return_value = set()
    with run.page(campaign):
        said = capsys.readouterr().err
    assert said.endswith("plays the trials again (after ./cellbed setup --library).\n")


def test_a_trial_on_two_labs_has_no_live_pictures(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Mock(folder=made.folder, trials=[Mock(receiver=None), Mock(receiver=made.folder)])
    campaign.finished.return_value = set()
    with run.page(campaign):
        said = capsys.readouterr().err
    assert "A trial with lab.receiver_kernel has no live pictures" in said


def connected(server: Server) -> socket.socket:
    """A connection on which nothing is asked yet."""
    return socket.create_connection(server.server_address[:2], timeout=10)


@pytest.mark.parametrize("length", ["-1", "x", "1000000000000", ""])
def test_a_body_of_no_small_length_is_not_read(server: Server, length: str) -> None:
    """Neither a stranger's, who would fill memory, nor the page's own."""
    for path in ("/hold/x", f"/{server.secret}/hold/x"):
        with connected(server) as ours:
            host = "{}:{}".format(*server.server_address[:2])
            lines = [f"POST {path} HTTP/1.1", f"Host: {host}", "X-Cellbed: page",
                     f"Content-Length: {length}", "", ""]  # fmt: skip
            ours.sendall("\r\n".join(lines).encode())
            answer = ours.makefile("rb").read()  # to the end of the connection
            assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))


def test_idle_connections_leave_the_campaign_its_descriptors(server: Server) -> None:
    with ExitStack() as until:
        idle = [until.enter_context(connected(server)) for _ in range(server.most_readers)]
        with connected(server) as one_more:
            assert one_more.recv(1) == b""
        idle[0].close()
        while True:  # its thread has ended when another is heard
            with connected(server) as another, suppress(OSError):
                another.sendall(b"GET / HTTP/1.0\r\n\r\n")
                if another.recv(8) == b"HTTP/1.1":
                    return
