# SPDX-License-Identifier: GPL-2.0-only
"""What the page is told, and what it is not given."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.group import cellbed
from harness.errors import UsageError
from harness.events import CampaignEnded, TrialFailed, TrialJudged, TrialProgress, TrialStarted
from harness.watch.follow import Follower
from harness.watch.server import ADDRESS, Server, serving
from tests.harness.watch.made import TRIALS, Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.fixture
def server(made: Made) -> Iterator[Server]:
    with serving(made.folder) as found:
        yield found


def get(server: Server, path: str, host: str | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    connection.request("GET", path, headers={"Host": host} if host else {})
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


def test_a_record_is_told_with_its_figures(made: Made) -> None:
    follower = Follower(made.folder)
    made.end(TRIALS[1])
    made.say(TrialJudged(trial=TRIALS[1], valid=True, failed_checks=()))
    made.say(CampaignEnded(finished=2, failed=0))
    state = follower.state()
    found = state["trials"][1]
    assert (found["status"], found["seed"], state["ended"]) == ("valid", "1", "ended")
    assert found["metrics"]["efficiency"] == pytest.approx(0.8, abs=0.05)


def test_a_directory_that_is_not_there_yet(tmp_path: Path) -> None:
    assert Follower(tmp_path / "nowhere").state()["trials"] == []


def test_a_recorded_trial(server: Server) -> None:
    status, body = get(server, f"/trial/{TRIALS[0]}")
    found = json.loads(body)
    assert status == 200 and found["queue"]["threshold"] == pytest.approx(0.8 * 531)
    assert len(found["queue"]["t"]) == len(found["queue"]["x"]) == 2000
    assert [one["pair"] for one in found["windows"]] == ["1", "50", "100"]
    assert found["drops"]["t"] == sorted(found["drops"]["t"]) != []
    assert all(begin <= end for _, begin, end, _ in found["answers"])


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/", None, 200),
        ("/", "evil.example", 403),
        ("/../server.py", None, 404),
        ("/%2e%2e/server.py", None, 404),
        ("/trial/..%2f..", None, 404),
        ("/trial/", None, 404),
        (f"/trial/{TRIALS[1]}", None, 404),
        ("/plotly.js", None, 200),
    ],
)
def test_what_is_given(server: Server, path: str, host: str | None, status: int) -> None:
    assert server.server_address[0] == ADDRESS
    assert get(server, path, host)[0] == status


def test_a_port_that_is_taken(server: Server, made: Made) -> None:
    with pytest.raises(UsageError, match="--port .*: Address already in use"):
        Server(made.folder, server.server_address[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere"], "nowhere: there is no such campaign"), ([], "results: no campaign in it; name")],
)
def test_no_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = CliRunner().invoke(cellbed, ["watch", *arguments]).exception
    assert isinstance(error, UsageError) and str(error).startswith(said)
