# SPDX-License-Identifier: GPL-2.0-only
"""What came of tests, as KTAP, as JSON of netdev's CI, as tables and as a folder. No lab."""

from __future__ import annotations

import datetime
import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.selftests import folder, ktap, nipa, suite, summary, table
from harness.selftests.choice import Test
from harness.selftests.lab import Work
from harness.selftests.outcome import Case, Outcome, printable
from harness.selftests.progress import Progress
from harness.selftests.suite import Found, Row, Task
from plan.errors import UsageError

PASSED = "TAP version 13\n1..2\nok 1 ipv4\nok 2 ipv6\n# Totals: pass:2\n"
FAILED = (
    "TAP version 13\n1..2\nok 1 ipv4\nx.pkt:9: error handling packet: timing error\nnot ok 2 ipv6\n"
)
GOOD = Outcome(output=PASSED, status=0, took_s=1.25, packets={"1.pcap": b"one"}, sent="a")
BAD = Outcome(output=FAILED, status=1, took_s=2.0, packets={"1.pcap": b"two"}, sent="b")
ROW = Row("6.12", "virtual")
X, Y = Test("net/packetdrill", "x.pkt"), Test("net/packetdrill", "y.pkt")
NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


def found(*of_x: Outcome) -> Found:
    """Test x with these repetitions, and y, which passed as often."""
    runs = {
        (ROW, X): dict(enumerate(of_x, 1)),
        (ROW, Y): dict.fromkeys(range(1, len(of_x) + 1), GOOD),
    }
    return suite.gathered(runs)


def a_work(folder: Path) -> Work:
    """That of test x, which no lab runs."""
    return Work(
        folder=X.folder, test=X.file, limit_s=1, clock="virtual", seed=1, image=folder,
        kernel=folder, words="", tests=folder, tools=folder, packetdrill=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "verdict", "why"),
    [
        (BAD, "fail", "x.pkt:9: error handling packet: timing error"),
        (replace(GOOD, status=4), "skip", "exit status 4"),
        (replace(GOOD, output="PASS: a\nSKIP: no ip\n", status=4), "skip", "SKIP: no ip"),
        (replace(GOOD, output="PASS: a\nFAIL: b\nFAIL: c\n", status=1), "fail", "FAIL: b"),
        (
            replace(GOOD, output="one\ntwo\n", status=124),
            "fail",
            "it reached its limit; it said last: two",
        ),
        (replace(GOOD, output="", status=124), "fail", "it reached its limit"),
        (replace(GOOD, status=124, limit_s=45), "fail", "exit status 124"),
        (replace(GOOD, complaint="WARNING: at net/ipv4/tcp.c:1\nmore"), "fail", "WARNING: at net/"),
        (replace(GOOD, status=None, complaint="the lab ended"), "fail", "the lab ended"),
    ],
)
def test_a_run_has_a_verdict_and_a_reason(outcome: Outcome, verdict: str, why: str) -> None:
    assert outcome.verdict == verdict and outcome.why.startswith(why)


def test_a_reason_fits_a_table_however_long_its_line_is() -> None:
    why = Outcome(output="x" * 30_000 + " not found\n", status=1).why
    assert why == "x" * 297 + "..."


def test_cases_are_those_of_the_tests_own_ktap() -> None:
    text = (
        "ok 1 ipv4\nnot ok 2 - ipv6\nok 3 other # SKIP no device\nnot ok 4 last # XFAIL slow\nok\n"
    )
    assert replace(GOOD, output=text).cases == [
        Case(name="ipv4", verdict="pass"), Case(name="ipv6", verdict="fail"),
        Case(name="other", verdict="skip"), Case(name="last", verdict="pass"),
    ]  # fmt: skip


def test_ktap_has_the_form_of_kselftest() -> None:
    lines = list(ktap.lines(found(BAD)[ROW]))
    assert lines[:4] == [
        "TAP version 13", "1..2", "# selftests: net/packetdrill: x.pkt", "# TAP version 13",
    ]  # fmt: skip
    verdicts = [line for line in lines if not line.startswith("#")][2:]
    assert verdicts == [
        "not ok 1 selftests: net/packetdrill: x.pkt # exit=1",
        "ok 2 selftests: net/packetdrill: y.pkt",
    ]


@pytest.mark.parametrize(
    ("took_s", "directive"), [(45.0, "TIMEOUT 45 seconds"), (44.99, "TIMEOUT 45 seconds"),
                              (3.0, "exit=124")],
)  # fmt: skip
def test_a_test_that_the_runner_ends_is_a_timeout(took_s: float, directive: str) -> None:
    """In the words of kselftest's runner.sh; a test may end with the same status by itself."""
    late = replace(GOOD, status=124, took_s=took_s, limit_s=45)
    lines = list(ktap.lines(found(late)[ROW]))
    assert f"not ok 1 selftests: net/packetdrill: x.pkt # {directive}" in lines


def test_a_repetition_that_says_something_else_is_told() -> None:
    tests = found(GOOD, GOOD, BAD)[ROW]
    lines = list(ktap.lines(tests))
    assert "# cellbed: repetition 3 said something else than the first" in lines
    assert "not ok 1 selftests: net/packetdrill: x.pkt # exit=1" in lines
    [row] = table.rows({ROW: tests}, {"6.12": "6.12.1"})
    assert dict(zip(table.HEADINGS, row, strict=True)) == {
        "kernel": "6.12 (6.12.1)", "clock": "virtual", "tests": "2", "pass": "1", "fail": "1",
        "skip": "0", "cases": "4", "runs": "6", "failed runs": "1", "other output": "1",
        "other duration": "1", "other packets": "1",
    }  # fmt: skip
    assert list(table.reasons({ROW: tests})) == [
        [
            X.name,
            "6.12",
            "virtual",
            "1 of 3",
            "ipv6",
            "x.pkt:9: error handling packet: timing error",
        ]
    ]


def test_after_an_interruption_what_had_ended_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(suite, "run", lambda works: [GOOD] * len(works))
    monkeypatch.setattr(suite.watch, "end_all", threading.Event())
    tasks = [Task(row=ROW, test=test, work=a_work(tmp_path)) for test in (X, Y)]
    told: list[int] = []

    def interrupted_by_the_second(task: Task, number: int, outcome: Outcome) -> None:
        told.append(number)
        if len(told) > 1:
            raise KeyboardInterrupt

    tests, whole = suite.execute(tasks, 2, 1, interrupted_by_the_second)
    assert not whole and sum(map(len, tests.values())) == 2
    assert suite.execute(tasks, 2, 1, lambda *_: None)[1]


@pytest.mark.parametrize("repeat", [1, 3])
def test_unfinished_results_say_so_and_name_what_did_not_run(tmp_path: Path, repeat: int) -> None:
    """Y had no run, and X one; a second kernel had none at all."""
    other = Row("7.3", "virtual")
    tasks = [
        Task(row=row, test=test, work=a_work(tmp_path)) for row in (ROW, other) for test in (X, Y)
    ]
    some = suite.gathered({(ROW, X): {1: GOOD}})
    missing = suite.missing(tasks, repeat, some)
    of_x = {X: repeat - 1} if repeat > 1 else {}
    assert missing == {ROW: {**of_x, Y: repeat}, other: {X: repeat, Y: repeat}}
    out = tmp_path / "out"
    folder.make(out)
    folder.write(out, some, {"6.12": "6.12.1", "7.3": "7.3.1"}, NOW, NOW, missing)
    unfinished = {**({X.name: repeat - 1} if repeat > 1 else {}), Y.name: repeat}
    ours = json.loads((out / "6.12" / "results.json").read_text())
    assert ours["unfinished"] == unfinished and len(ours["results"]) == 1
    assert json.loads((out / "7.3" / "results.json").read_text())["unfinished"] == {
        X.name: repeat, Y.name: repeat,
    }  # fmt: skip
    first, second = json.loads((out / folder.MARK).read_text())
    assert (first["unfinished"], second["kernel"]) == (unfinished, "7.3")
    lines = (out / "6.12" / "ktap").read_text().splitlines()
    assert lines[1] == "1..2" and lines[-1] == (
        "# cellbed: unfinished: selftests: net/packetdrill: y.pkt: it did not run"
    )
    text = (out / "summary.md").read_text()
    assert (
        text.startswith("**Unfinished: ")
        and f"- `{Y.name}` (6.12, virtual clock): {repeat}\n" in text
    )
    assert f"{Y.name} (7.3, virtual clock): {repeat}\n" in (out / folder.BEGUN).read_text()
    folder.make(out)  # the next command may use it
    folder.write(out, some, {"6.12": "6.12.1"}, NOW, NOW, {})
    assert not (out / folder.BEGUN).exists()
    assert "unfinished" not in (out / "6.12" / "results.json").read_text()
    assert "nfinished" not in (out / "summary.md").read_text()


def test_a_third_ctrl_c_keeps_the_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It comes while the labs end, after the second."""
    monkeypatch.setattr(suite.watch, "end_all", end := threading.Event())
    runs = threading.Event()

    def run(works: Sequence[Work]) -> list[Outcome]:
        if works[0].test == Y.file:
            runs.set()
            assert end.wait(10)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return [GOOD]

    def tell(task: Task, number: int, outcome: Outcome) -> None:
        assert runs.wait(10)
        raise KeyboardInterrupt

    def waiting(labs: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "run", run)
    tasks = [Task(row=ROW, test=x, work=replace(a_work(tmp_path), test=x.file)) for x in (X, Y)]
    # Behind `&`, a shell lets Python ignore SIGINT from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        tests, whole = suite.execute(tasks, 1, 2, tell, waiting, alone=True)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(tests[ROW]) == [X] and not whole


def test_an_error_ends_the_labs_that_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A full disk, for example."""
    monkeypatch.setattr(suite.watch, "end_all", end := threading.Event())
    runs, in_time = threading.Event(), list[bool]()

    def run(works: Sequence[Work]) -> list[Outcome]:
        if works[0].test == Y.file:
            runs.set()
            in_time.append(end.wait(5))
        return [GOOD]

    def tell(task: Task, number: int, outcome: Outcome) -> None:
        assert runs.wait(10)
        out = tmp_path / "out"
        out.write_text("")  # no folder
        folder.note(out, task, number, outcome)

    monkeypatch.setattr(suite, "run", run)
    tasks = [Task(row=ROW, test=x, work=replace(a_work(tmp_path), test=x.file)) for x in (X, Y)]
    with pytest.raises(UsageError, match=r"this folder cannot be written \(Not a directory\)"):
        suite.execute(tasks, 1, 2, tell, alone=True)
    assert in_time == [True]


def test_scripts_of_packetdrill_share_labs_and_other_tests_do_not(tmp_path: Path) -> None:
    def tasks(row: Row, count: int, end: str) -> list[Task]:
        tests = [Test("net", f"{number:02}{end}") for number in range(count)]
        works = [replace(a_work(tmp_path), test=one.file, limit_s=row == ROW) for one in tests]
        return [Task(row=row, test=a, work=b) for a, b in zip(tests, works, strict=True)]

    real = Row("6.12", "real")
    asked = [*tasks(ROW, 25, ".pkt"), *tasks(ROW, 2, ".sh"), *tasks(real, 2, ".pkt")]
    labs = suite.labs_of(asked, alone=False)
    assert [len(lab) for lab in labs] == [12, 12, 1, 1, 1, 2]
    assert [task for lab in labs for task in lab] == asked
    assert suite.labs_of(asked, alone=True) == [[task] for task in asked]


def test_tests_that_a_lab_did_not_begin_run_in_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each lab ends after its second test."""
    ran, told = list[list[str]](), list[str]()

    def run(works: Sequence[Work]) -> list[Outcome]:
        ran.append([work.test for work in works])
        return [replace(GOOD, output=work.test) for work in works[:2]]

    monkeypatch.setattr(suite, "run", run)
    tests = [Test("net", f"{number}.pkt") for number in range(5)]
    tasks = [Task(row=ROW, test=x, work=replace(a_work(tmp_path), test=x.file)) for x in tests]
    found, whole = suite.execute(tasks, 1, 1, lambda task, *_: told.append(task.test.file))
    names = [one.file for one in tests]
    assert whole and ran == [names, names[2:], names[4:]] and told == names
    assert [runs.first.output for runs in found[ROW].values()] == names


def test_the_runs_of_a_lab_are_counted_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """However slow the labs are, each says one line, with all runs that it ended."""
    monkeypatch.setattr(suite, "run", lambda works: [GOOD] * len(works))
    monkeypatch.setattr("harness.selftests.progress.EACH_S", 0.0)
    tests = [Test("net", f"{number}.pkt") for number in range(14)]
    tasks = [Task(row=ROW, test=x, work=replace(a_work(tmp_path), test=x.file)) for x in tests]
    said: list[str] = []
    progress = Progress(14, 2, said.append)
    suite.execute(tasks, 1, 1, progress, lab_ended=progress.lab_ended)
    assert said == [
        "14 runs in 2 labs; the runs of a lab are counted when the lab ends",
        "12 of 14 runs have ended, 0 failed",
        "14 of 14 runs have ended, 0 failed",
    ]


def test_two_commands_do_not_share_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    used = rf"^{out}: process {os.getpid()} on \S+ uses this folder; wait until it ends$"
    with folder.held(out):
        folder.note(out, Task(row=ROW, test=X, work=a_work(tmp_path)), 1, BAD)
        before = sorted(out.rglob("*"))
        with pytest.raises(UsageError, match=used), folder.held(out):
            pass
        with pytest.raises(UsageError, match=used):
            folder.check(out)
        assert sorted(out.rglob("*")) == before
        folder.write(out, found(BAD), {"6.12": "6.12.1"}, NOW, NOW)
    folder.check(out)
    with folder.held(out):
        assert {path.name for path in out.iterdir()} == {folder.BEGUN, folder.LOCK}


def test_a_command_that_was_killed_with_the_lock_alone_leaves_a_folder_of_its_own(
    tmp_path: Path,
) -> None:
    (tmp_path / folder.LOCK).write_text("process 1 on here\n")
    folder.check(tmp_path)
    (tmp_path / folder.LOCK).write_text("a song\n")
    with pytest.raises(UsageError, match="has other files"):
        folder.check(tmp_path)


def test_a_repetition_that_fails_after_others_that_differ_is_told(tmp_path: Path) -> None:
    tests = found(GOOD, replace(GOOD, output=PASSED + "more\n"), BAD)[ROW]
    assert tests[X].verdict == "fail" and tests[X].failed == BAD
    [reason] = table.reasons({ROW: tests})
    assert reason[3:] == ["1 of 3", "ipv6", BAD.why]
    lines = list(ktap.lines(tests))
    assert "# x.pkt:9: error handling packet: timing error" in lines
    assert "# cellbed: the lines above are of repetition 3" in lines
    assert "# cellbed: repetition 2 said something else than the first" in lines
    out = tmp_path / "out"
    folder.make(out)
    folder.write(out, {ROW: tests}, {"6.12": "6.12.1"}, NOW, NOW)
    log = out / "6.12" / "logs" / "net.packetdrill.x.pkt"
    assert (log / "output").read_text() == FAILED and (log / "1.pcap").read_bytes() == b"two"


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_a_test_that_once_passes_and_once_skips_fails_with_a_reason(clock: str) -> None:
    row = Row("6.12", clock)
    more = replace(GOOD, output=PASSED + "more\n")
    runs = {1: GOOD, 2: more, 3: replace(GOOD, status=4)}
    tests = suite.gathered({(row, X): runs})
    assert tests[row][X].verdict == "fail"
    [reason] = table.reasons(tests)
    assert reason[-1] == "two runs have different verdicts: pass and skip (run 3)"
    [*_, last] = ktap.lines(tests[row])
    assert last.startswith("not ok 1 ")


@pytest.mark.parametrize("again", [False, True])
def test_after_ctrl_c_labs_that_run_are_waited_for_or_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, again: bool
) -> None:
    """The first test's end brings Ctrl-C, while the second test's lab runs."""
    pressed, ended, runs, told = *(threading.Event() for _ in range(3)), list[Test]()
    monkeypatch.setattr(suite.watch, "end_all", ended)

    def run(works: Sequence[Work]) -> list[Outcome]:
        if works[0].test == Y.file:
            runs.set()
            (ended if again else pressed).wait(10)
        return [GOOD]

    def tell(task: Task, number: int, outcome: Outcome) -> None:
        told.append(task.test)
        if len(told) == 1:
            assert runs.wait(10)
            raise KeyboardInterrupt

    def waiting(labs: int) -> None:
        assert labs == 1
        pressed.set()
        if again:
            raise KeyboardInterrupt

    monkeypatch.setattr(suite, "run", run)
    tasks = [Task(row=ROW, test=x, work=replace(a_work(tmp_path), test=x.file)) for x in (X, Y)]
    tests, whole = suite.execute(tasks, 1, 2, tell, waiting, alone=True)
    assert not whole and ended.is_set() == again
    if not again:
        assert Y in tests[ROW] and Y in told


@pytest.mark.parametrize(
    ("other", "counted", "told"),
    [
        (replace(GOOD, sent="c"), ["0", "0", "1"], "packets of run 2"),
        (replace(GOOD, took_s=1.26), ["0", "1", "0"], "duration of run 2"),
        (replace(GOOD, output=PASSED + "more\n"), ["1", "0", "0"], "output of run 2"),
    ],
)
def test_runs_that_pass_and_differ_are_told_in_virtual_time(
    other: Outcome, counted: list[str], told: str
) -> None:
    tests = found(GOOD, other)[ROW]
    [row] = table.rows({ROW: tests}, {"6.12": "6.12.1"})
    assert row[-3:] == counted and tests[X].verdict == "pass"
    assert list(table.differences({ROW: tests})) == [[X.name, "6.12", told]]
    assert suite.flaky(ROW, tests[X]) and not suite.flaky(ROW, tests[Y])
    assert not suite.flaky(Row("6.12", "real"), tests[X])


def test_the_document_is_that_of_an_executor_of_nipa() -> None:
    document = nipa.document(ROW, found(replace(BAD, complaint="WARNING: x"))[ROW], NOW, NOW)
    assert document["executor"] == "cellbed" and document["branch"] == "6.12"
    assert document["start"] == "2026-01-02 00:00:00+00:00"
    first, second = document["results"]
    assert first == {
        "test": "x-pkt", "group": "selftests-net-packetdrill", "result": "fail",
        "link": "logs/net.packetdrill.x.pkt/output", "time": 2.0, "crashes": ["WARNING: x"],
        "results": [{"test": "ipv4", "result": "pass"}, {"test": "ipv6", "result": "fail"}],
    }  # fmt: skip
    assert second["result"] == "pass" and second["link"] == "ktap" and "crashes" not in second


def test_a_panic_is_a_crash_and_a_limit_is_none() -> None:
    panic = replace(BAD, status=None, complaint="Kernel panic - not syncing: x\nmore")
    [first, _] = nipa.document(ROW, found(panic)[ROW], NOW, NOW)["results"]
    assert first["crashes"] == ["Kernel panic - not syncing: x"]
    late = replace(BAD, status=None, complaint="it has used 602 s of processor time")
    [first, _] = nipa.document(ROW, found(late)[ROW], NOW, NOW)["results"]
    assert "crashes" not in first


def test_a_summary_lists_the_failures_by_each_clock() -> None:
    real = Row("6.12", "real")
    differs = {1: GOOD, 2: replace(GOOD, sent="c")}
    of = suite.gathered({(ROW, X): {1: BAD}, (ROW, Y): differs, (real, X): {1: BAD}})
    text = "\n".join(summary.lines(of, {"6.12": "6.12.1"}))
    assert text.count(f"- `{X.name}`: `{BAD.why}`") == 2
    assert f"- `{Y.name}`: `two runs of it differ`" in text
    assert "All that fail on 6.12, virtual clock" in text
    assert "All that fail on 6.12, real clock" in text


def test_the_folder_keeps_what_failed_and_is_made_anew(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for outcome in (BAD, GOOD):
        folder.make(out)
        folder.write(out, found(outcome), {"6.12": "6.12.1"}, NOW, NOW)
        logs = out / "6.12" / "logs" / "net.packetdrill.x.pkt"
        assert logs.exists() == (outcome is BAD)
        if outcome is BAD:
            assert (logs / "1.pcap").read_bytes() == b"two" and "timing" in (
                logs / "output"
            ).read_text()
    [kept] = json.loads((out / folder.MARK).read_text())
    assert kept["tests"][X.name] == {
        "verdicts": {"pass": 1},
        "ktap": {GOOD.said: 1},
        "seconds": {"1.25": 1},
        "packets": {"a": 1},
    }


def test_a_command_that_is_ended_before_its_tests_leaves_no_json(tmp_path: Path) -> None:
    """And the next command may use the folder."""
    out = tmp_path / "out"
    folder.make(out)
    assert [path.name for path in out.iterdir()] == [folder.BEGUN]
    folder.make(out)
    folder.write(out, found(GOOD), {"6.12": "6.12.1"}, NOW, NOW)
    assert not (out / folder.BEGUN).exists()


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UsageError, match=r"has other files \(mine\); name an empty or a new"):
        folder.make(tmp_path)
    with pytest.raises(UsageError, match="this is no folder"):
        folder.make(tmp_path / "mine")
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize("name", ["thesis.pdf", "6.12/logs/x/thesis.pdf", "old/thesis.pdf"])
def test_a_file_of_a_person_among_results_is_left_alone(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    folder.make(out)
    folder.write(out, found(BAD), {"6.12": "6.12.1"}, NOW, NOW)
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("years")
    before = sorted(out.rglob("*"))
    with pytest.raises(UsageError, match=rf"has other files \({name}\)"):
        folder.make(out)
    assert sorted(out.rglob("*")) == before


@pytest.mark.parametrize("name", [folder.BEGUN, folder.MARK, folder.RUNS, "summary.md"])
def test_a_file_whose_name_alone_is_ours_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("the sonata of mine")
    with pytest.raises(UsageError, match="has other files"):
        folder.make(tmp_path)
    assert (tmp_path / name).read_text() == "the sonata of mine"


def test_a_link_among_results_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "ktap").write_text("")
    out = tmp_path / "out"
    folder.make(out)
    (out / "6.12").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match=r"has other files \(6.12\)"):
        folder.make(out)
    assert (tmp_path / "mine" / "ktap").exists()


def test_the_folder_may_be_a_link(tmp_path: Path) -> None:
    """To another disk, for example."""
    (tmp_path / "disk").mkdir()
    out = tmp_path / "out"
    out.symlink_to(tmp_path / "disk")
    for _ in range(2):
        folder.make(out)
        folder.write(out, found(BAD), {"6.12": "6.12.1"}, NOW, NOW)
    assert out.is_symlink() and (tmp_path / "disk" / folder.MARK).is_file()


def test_a_check_of_the_folder_removes_nothing(tmp_path: Path) -> None:
    """A kernel may then not build, and the last results are all that a person has."""
    out = tmp_path / "out"
    folder.check(out)
    assert not out.exists()
    folder.make(out)
    folder.write(out, found(BAD), {"6.12": "6.12.1"}, NOW, NOW)
    before = sorted(out.rglob("*"))
    folder.check(out)
    assert sorted(out.rglob("*")) == before


def test_a_test_that_skips_itself_has_no_log(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder.make(out)
    skipped = replace(GOOD, status=4)
    folder.note(out, Task(row=ROW, test=X, work=a_work(tmp_path)), 1, skipped)
    assert [path.name for path in out.iterdir() if path.is_dir()] == []


def test_kernels_with_folders_have_names_for_folders() -> None:
    rows = [Row("6.12", "virtual"), Row("path:../linux", "real"), Row("6.12,hz=250", "virtual")]
    assert [folder.place_of(row) for row in rows] == [
        "6.12", "path-..-linux-6b48b3_real", "6.12-hz-250-eb9b64",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kernels",
    [
        ["6.12,config=+IPV6", "6.12,config=-IPV6"],
        ["git:linux@HEAD", "git:linux@HEAD~", "git:linux@HEAD^"],
        ["path:linux", "path:/linux"],
    ],
)
def test_each_kernel_has_a_folder_of_its_own(kernels: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder.make(out)
    tests = {Row(name, "virtual"): found(BAD)[ROW] for name in kernels}
    folder.write(out, tests, dict.fromkeys(kernels, "6.12.1"), NOW, NOW)
    places = [one["folder"] for one in json.loads((out / folder.MARK).read_text())]
    assert len({*places}) == len(kernels)
    assert all((out / place / "results.json").is_file() for place in places)


def test_a_summary_names_what_a_change_breaks_and_mends() -> None:
    after = Row("6.12,patch=x", "virtual")
    wrong = replace(BAD, output="x.pkt:9: a `quote`\n")
    of = suite.gathered({(ROW, X): {1: GOOD}, (ROW, Y): {1: BAD}, (after, X): {1: wrong},
                         (after, Y): {1: GOOD}})  # fmt: skip
    text = "\n".join(summary.lines(of, {"6.12": "6.12.1", "6.12,patch=x": "6.12.1"}))
    assert text.startswith("### Tests of the kernel: 6.12,patch=x against 6.12, virtual clock\n")
    worse, better = "Tests that fail now and passed before", "Tests that pass now and failed before"
    assert f"**{worse}: 1**\n\n- `net/packetdrill/x.pkt`: `x.pkt:9: a 'quote'`\n" in text
    assert f"**{better}: 1**\n\n- `net/packetdrill/y.pkt`: `x.pkt:9: error" in text
    assert "| 6.12,patch=x (6.12.1) | virtual | 2 | 1 | 1 | 0 | 2 |" in text
    assert text.count("x.pkt:9: a 'quote'") == 2 and "All that fail on 6.12,patch=x" in text


def test_what_failed_before_is_no_new_failure() -> None:
    after = Row("new", "virtual")
    of = suite.gathered({(ROW, X): {1: BAD}, (after, X): {1: BAD}, (after, Y): {1: BAD}})
    assert summary.changes(of) == {(ROW, after): ([Y], [])}
    steady = suite.gathered({(ROW, X): {1: GOOD, 2: GOOD}, (after, X): {1: GOOD, 2: GOOD}})
    assert summary.changes(steady) == {(ROW, after): ([], [])}
    unsteady = suite.gathered(
        {(ROW, X): {1: GOOD}, (after, X): {1: GOOD, 2: replace(GOOD, took_s=9)}}
    )
    assert summary.changes(unsteady) == {(ROW, after): ([X], [])}


def test_a_summary_of_one_kernel_and_of_many_failures() -> None:
    many = {(ROW, Test("net", f"{n:02}.sh")): {1: GOOD} for n in range(30)}
    after = Row("new", "virtual")
    bad = {(after, test): {1: BAD} for (_, test) in many}
    text = "\n".join(summary.lines(suite.gathered({**many, **bad}), {"6.12": "a", "new": "b"}))
    assert "**Tests that fail now and passed before: 30**" in text and "- and 10 more" in text
    alone = "\n".join(summary.lines(found(GOOD), {"6.12": "6.12.1"}))
    assert alone.startswith("| kernel | clock | tests |") and "###" not in alone


def test_kernels_come_in_the_order_in_which_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever ends first."""
    monkeypatch.setattr(suite, "as_completed", lambda asked: list(asked)[::-1])
    monkeypatch.setattr(suite, "run", lambda works: [GOOD] * len(works))
    tasks = [Task(row=Row(name, "virtual"), test=X, work=a_work(tmp_path)) for name in ("b", "a")]
    rows, _ = suite.execute(tasks, 1, 1, lambda *_: None)
    assert [row.kernel for row in rows] == ["b", "a"]


def test_what_a_killed_command_knew_is_in_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    folder.make(out)
    for number, outcome in enumerate([GOOD, replace(BAD, host_s=7.04)], start=1):
        folder.note(out, Task(row=ROW, test=X, work=a_work(tmp_path)), number, outcome)
    first, second = map(json.loads, (out / folder.RUNS).read_text().splitlines())
    assert (first["test"], first["verdict"], first["why"]) == (X.name, "pass", "")
    skips = replace(GOOD, output="PASS: a\nSKIP: b\n")
    folder.note(out, Task(row=ROW, test=X, work=a_work(tmp_path)), 3, skips)
    assert json.loads((out / folder.RUNS).read_text().splitlines()[2])["why"] == "SKIP: b"
    assert first["cases"] == {"pass": 2} and first["virtual_s"] == 1.25
    assert (second["repetition"], second["host_s"]) == (2, 7.0)
    assert second["why"] == "x.pkt:9: error handling packet: timing error"
    log = out / "6.12" / "logs" / "net.packetdrill.x.pkt" / "output"
    assert log.read_text() == FAILED
    folder.make(out)  # the next command may use it
    assert not log.exists()


def test_what_a_test_prints_steers_no_terminal_and_ends_no_document() -> None:
    said = "Bail out!\n\x1b[2Jok 1 \x1b]0;x\x07\r\nnot ok 9 a\u2028b\tc\n1..0 # SKIP all\n"
    shown = printable(said)
    assert shown == (
        "Bail out!\n\\x1b[2Jok 1 \\x1b]0;x\\x07\\r\nnot ok 9 a\\u2028b\tc\n1..0 # SKIP all\n"
    )
    lines = list(ktap.lines(found(replace(GOOD, output=shown))[ROW]))
    assert [line for line in lines if not line.startswith("#")] == [
        "TAP version 13", "1..2", f"ok 1 selftests: {X.folder}: {X.file}",
        f"ok 2 selftests: {Y.folder}: {Y.file}",
    ]  # fmt: skip
    assert replace(GOOD, output=shown).verdict == "pass"


def test_tests_of_the_same_file_name_have_logs_of_their_own(tmp_path: Path) -> None:
    tests = [Test("net", "lib.sh"), Test("net/forwarding", "lib.sh")]
    out = tmp_path / "out"
    folder.make(out)
    both = suite.gathered({(ROW, test): {1: BAD} for test in tests})
    folder.write(out, both, {"6.12": "6.12.1"}, NOW, NOW)
    assert len(list((out / "6.12" / "logs").iterdir())) == 2
