# SPDX-License-Identifier: GPL-2.0-only
"""A trial that runs, seen from outside; and the file by which its lab is held."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness import hold
from harness.events import TrialStarted
from harness.hold import Hold
from harness.watch.live import Live, lab_here
from harness.watch.server import HEADER, Server, serving
from tests.harness.watch.lab import T0_NS, THRESHOLD, Lab
from tests.harness.watch.made import TRIALS, Made

NAME = TRIALS[1]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, NAME)


def test_tables_as_they_grow(lab: Lab) -> None:
    live = Live(lab.folder, NAME)
    assert live.look() is None  # it has begun, and no second of it is over
    lab.second(1)
    found = live.look()
    assert found and found["queue"]["t"] == [0, 0.25, 0.5, 0.75]
    assert (found["until_s"], found["queue"]["threshold"], found["rates"]) == (1, THRESHOLD, None)
    assert live.look() is None
    lab.second(2)
    lab.second(3)
    found = live.look()
    assert found and found["queue"]["x"] == list(range(4, 16))
    assert found["drops"]["t"] == [1, 2, 3] and found["drops"]["pair"] == ["2"] * 3
    first, second = found["windows"]
    assert first == {"pair": "1", "t": [0, 0.5, 1, 1.5, 2, 2.5], "w": [11, 11, 12, 12, 13, 13]}
    assert second["w"] == [21, 21, 22, 22, 23, 23]
    assert found["rates"] == {"t": [2, 3], "mbit": [[1, 2], [1, 2]]}


def test_a_lab_whose_tables_come_at_its_end(lab: Lab) -> None:
    """Nobody is told that it has ended."""
    lab.second(1)
    shutil.rmtree(lab.raw)
    found = Live(lab.folder, NAME).look()
    assert found and found["until_s"] == 1 and not found["queue"] and not found["windows"]


def test_what_is_cut_off_is_left_for_the_next_look(lab: Lab) -> None:
    """A row and a record of which only a part is written."""
    lab.second(1)
    with (lab.raw / "down.cellq").open("ab") as stream:
        stream.write(b"\3\0\1")
    with (lab.raw / "cwnd.csv").open("a") as text:
        text.write("80000000")
    found = Live(lab.folder, NAME).look()
    assert found and len(found["queue"]["t"]) == 4 and len(found["windows"][0]["t"]) == 2


def test_a_sample_of_which_pairs_are_missing(lab: Lab) -> None:
    """Of many pairs a sample is more than the lab writes at once."""
    lab.second(1)
    rows = [(time_ns, pair, time_ns - T0_NS) for time_ns in range(T0_NS, T0_NS + 4, 2)
            for pair in (1, 2)]  # fmt: skip
    text = "".join(f"{time_ns},{pair},{size}\n" for time_ns, pair, size in rows)
    (lab.raw / "throughput.csv").write_text(f"time_ns,pair,ip_bytes\n{text}{T0_NS + 4},1,9\n")
    found = Live(lab.folder, NAME).look()
    assert found and found["rates"]["mbit"] == [[8000, 8000]]


def test_an_attempt_that_begins_anew(lab: Lab) -> None:
    lab.second(1)
    live = Live(lab.folder, NAME)
    live.look()
    lab.say("trial-begin")
    assert live.look() is None
    lab.say("progress", virtual_s=31.0, second=1)
    found = live.look()
    assert found and found["queue"] is None and found["until_s"] == 1


@pytest.mark.parametrize("name", ["", "/", "/nowhere", "/tmp"])
def test_what_is_no_lab_of_ours(name: str) -> None:
    assert lab_here(name) is None


def test_a_folder_that_only_has_a_labs_name(tmp_path: Path) -> None:
    (tmp_path / "cellbed-lab.1-2.other").mkdir()
    assert lab_here(str(tmp_path / "cellbed-lab.1-2.other")) is None


class TestHold:
    """second by second: is the lab to stand?"""

    def test_until_a_second_and_on(self, lab: Lab) -> None:
        held = Hold(lab.folder)
        held.follow({"event": "trial-begin", "trial": NAME})
        assert not held.changed()  # nobody looks
        hold.write(lab.folder, NAME, 2)
        assert not held.changed()
        held.follow({"event": "progress", "second": 2})
        assert held.changed() and held.holds and not held.changed()
        hold.write(lab.folder, NAME, None)
        assert held.changed() and not held.holds and held.held_s > 0

    def test_of_another_trial_or_by_a_damaged_file(self, lab: Lab) -> None:
        held = Hold(lab.folder)
        held.follow({"event": "trial-begin", "trial": "another"})
        hold.write(lab.folder, NAME, 0)
        assert not held.changed()
        (lab.folder / hold.NAME).write_text('{"trial')
        assert not held.changed()

    def test_who_has_gone_holds_nothing(self, lab: Lab) -> None:
        held = Hold(lab.folder)
        held.follow({"event": "trial-begin", "trial": NAME})
        hold.write(lab.folder, NAME, 0)
        assert held.changed()
        past = time.time() - hold.LEASE_S - 1
        os.utime(lab.folder / hold.NAME, (past, past))
        assert held.changed() and not held.holds
        assert not (lab.folder / hold.NAME).exists()  # nor does the agent count for nobody

    def test_not_for_ever(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        held = Hold(lab.folder)
        held.follow({"event": "trial-begin", "trial": NAME})
        hold.write(lab.folder, NAME, 0)
        assert held.changed()
        monkeypatch.setattr(hold, "LONGEST_S", 0.0)
        assert held.changed() and not held.holds and not held.changed()
        hold.write(lab.folder, NAME, 1)
        held.follow({"event": "progress", "second": 1})
        assert held.changed()  # another wish


@pytest.fixture
def server(made: Made, lab: Lab) -> Server:
    made.say(TrialStarted(trial=NAME, lab=str(lab.folder), waits=True))
    with serving(made.folder) as found:
        yield found


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def post(server: Server, body: str, reader: str = "one", **headers: str) -> int:
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    path = f"/{server.secret}/hold/{NAME}?reader={reader}"
    connection.request("POST", path, body, {HEADER: "page"} | headers)
    return connection.getresponse().status


@contextmanager
def looking(server: Server, reader: str) -> Iterator[http.client.HTTPResponse]:
    """A tab with the trial that runs."""
    with socket.create_connection(server.server_address[:2], timeout=30) as stream:
        connection = http.client.HTTPConnection(*server.server_address[:2])
        connection.sock = stream
        connection.request("GET", f"/{server.secret}/live/{NAME}?reader={reader}")
        yield connection.getresponse()
        with suppress(OSError):  # the server may be gone by now
            stream.shutdown(socket.SHUT_RDWR)


def until(lab: Lab) -> object:
    """How far the lab may go."""
    return json.loads((lab.folder / hold.NAME).read_text())["until_s"]


def told(answer: http.client.HTTPResponse) -> object:
    """The next thing that is not null."""
    for line in answer:
        if line.startswith(b"data:") and (found := json.loads(line[5:])) is not None:
            return found
    return "closed"


def test_the_page_is_told_and_may_hold_it(server: Server, made: Made, lab: Lab) -> None:
    assert post(server, "1") == 404  # nobody looks at it
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    connection.request("GET", f"/{server.secret}/live/{NAME}?reader=one")
    answer = connection.getresponse()
    lab.second(1)
    found = told(answer)
    assert isinstance(found, dict) and found["until_s"] == 1
    assert post(server, "1", **{HEADER: ""}) == 403
    assert post(server, "1", Origin="https://evil.example") == 403
    assert [post(server, body) for body in ("one", "[1]", "4", "null", "2.5")] == [
        400, 400, 200, 200, 200,
    ]  # fmt: skip
    assert json.loads((lab.folder / hold.NAME).read_text()) == {"trial": NAME, "until_s": 2.5}
    lab.second(2)
    told(answer)
    made.end(NAME)
    lab.folder.rename(lab.folder.with_name("gone"))
    assert told(answer) == "ended"


def test_each_tab_has_a_hold_of_its_own(server: Server, lab: Lab) -> None:
    """The slowest counts, and one that is closed takes only its own along."""
    with looking(server, "two") as two:
        with looking(server, "one") as one:
            lab.second(1)
            assert told(one) and told(two)
            assert [post(server, "3", "one"), post(server, "5", "two")] == [200, 200]
            assert until(lab) == 3
        # It is noticed that the tab is closed when it is to be told something.
        await_that(lambda: "one" not in server.wishes[NAME])
        assert post(server, "5", "one") == 404
        assert post(server, "6", "two") == 200 and until(lab) == 6
    await_that(lambda: not server.wishes[NAME])


def test_each_tab_is_told_that_another_holds_the_lab(server: Server, lab: Lab) -> None:
    with looking(server, "one") as one, looking(server, "two") as two:
        lab.second(1)
        assert told(one) and told(two)
        assert post(server, "1", "one") == 200
        assert told(two) == {"held_until_s": 1}
        assert server.held_by_others(NAME, "one") is None
        assert post(server, "1", "two") == 200  # it wants no more itself
        assert told(two) == {"held_until_s": None}
        assert post(server, "null", "one") == 200
        assert told(one) == {"held_until_s": 1}


def await_that(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_trial_that_runs_elsewhere(made: Made) -> None:
    made.say(TrialStarted(trial=NAME, lab="/nowhere/cellbed-lab.1-2.x", waits=True))
    with serving(made.folder) as server:
        assert [one.get("live") for one in server.follower.state()["trials"]] == [None, False]
        connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
        connection.request("GET", f"/{server.secret}/live/{NAME}?reader=one")
        assert connection.getresponse().status == 404
