# SPDX-License-Identifier: GPL-2.0-only
"""What runs beside a script, and controllers that nobody started: what needs no lab."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from harness.scripts import beside, controllers
from harness.scripts.beside import listening, name_of, ports
from harness.scripts.controllers import Controllers


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ryu-manager app.py", "ryu-manager"),
        ("cd pox && ./pox.py forwarding.l2_learning", "pox.py"),
        ("exec python3 pox/pox.py openflow.of_01", "pox.py"),
        ("PORT=1 sudo python3 -m http.server", "python3"),
        ("python3 -c 'import time; time.sleep(9)'", "python3"),
        ('bash -c "cd pox; ./pox.py"', "bash"),
        ("cd pox; ./pox.py > log 2>&1;", "pox.py"),
        ("ryu-manager app.py &", "ryu-manager"),
        ("'my controller' 1; ", "my controller"),
        ("echo 'no end", "echo"),
    ],
)
def test_the_lines_are_named_after_the_program(command: str, name: str) -> None:
    assert name_of(command) == name


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program listens at a port: other programs of this machine may begin to at any moment."""
    monkeypatch.setattr(beside, "listening", set)


def test_a_socket_that_listens_is_seen() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        inode = str(os.fstat(server.fileno()).st_ino)
        assert inode not in {found for _, _, found in listening()}
        server.listen()
        address = f"0100007F:{server.getsockname()[1]:04X}"
        assert ("tcp", address, inode) in listening()
        assert server.getsockname()[1] in ports()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("ModuleNotFoundError: No module named 'app/switch'", "the lab has no file app/switch.py"),
        ("NameError: name 'unicode' is not defined", "it has Python 2: add --python2"),
        ("it works", ""),
    ],
)
def test_a_program_that_ends_says_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, remedy: str
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    program = beside.Beside(f'echo "{said}"; exit 1', {}, lambda *_: None)
    program.reader.join(60)
    assert remedy in program.remedy()
    assert bool(program.remedy()) == bool(remedy)


@pytest.mark.parametrize(
    ("command", "place", "module"),
    [
        ("ryu-manager app.py", "app.py", "app"),
        ("ryu-manager apps/app.py", "apps/app.py", "apps/app"),
        ("cd apps && exec ryu-manager app.py", "apps/app.py", "app"),
        ("ryu-manager apps.app", "apps/app.py", "apps.app"),
        ("ryu-manager app.py", "app.py", "app.py'; 'app' is not a package"),
    ],
)
@pytest.mark.usefixtures("silent")
def test_ryu_hides_that_python_refuses_a_file_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, place: str, module: str
) -> None:
    for name in ("beside", "own_files"):
        monkeypatch.setattr(f"harness.scripts.{name}.WORK", tmp_path)
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("import os\n@handler // of a switch\ndef handle():\n    pass\n")
    end = "" if module.endswith("package") else "'"
    said = f"ModuleNotFoundError: No module named '{module}{end}"
    program = beside.Beside(f'echo "{said}"; exit 1; {command}', {}, lambda *_: None)
    with pytest.raises(beside.BesideError, match=r"; Python refuses app\.py, line 2:") as told:
        program.wait()
    assert told.value.own == module.partition("'")[0]


@pytest.mark.usefixtures("silent")
def test_a_file_that_is_nowhere_is_no_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("beside", "own_files"):
        monkeypatch.setattr(f"harness.scripts.{name}.WORK", tmp_path)
    said = "ModuleNotFoundError: No module named 'absent'"
    program = beside.Beside(f'echo "{said}"; exit 1; ryu-manager absent.py', {}, lambda *_: None)
    with pytest.raises(beside.BesideError, match=r"; there is no file absent\.py, so") as told:
        program.wait()
    assert told.value.own == "absent"


@pytest.mark.usefixtures("silent")
def test_a_module_that_is_nowhere_is_no_file_of_the_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("beside", "own_files"):
        monkeypatch.setattr(f"harness.scripts.{name}.WORK", tmp_path)
    (tmp_path / "app.py").write_text("import netaddr\n")
    said = "ModuleNotFoundError: No module named 'netaddr'"
    program = beside.Beside(f': ryu-manager app.py; echo "{said}"; exit 1', {}, lambda *_: None)
    with pytest.raises(beside.BesideError, match="did not begin$") as told:
        program.wait()
    assert told.value.own == ""


@pytest.mark.parametrize(("switches", "again"), [("", True), ("s1\n", False)])
def test_a_controller_that_mn_killed_begins_again_while_there_is_no_switch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, switches: str, again: bool
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    monkeypatch.setattr(beside, "switches", lambda: switches)
    monkeypatch.setattr(beside, "OVER", threading.Event())
    said: Queue[str] = Queue()
    program = beside.Beside("echo begun; exec sleep 1000", {}, lambda _, text: said.put(text))
    assert said.get(timeout=60).endswith("begun\n")
    program.process.kill()
    if again:
        assert said.get(timeout=60).endswith("was killed, as by mn -c, and begins again\n")
        assert said.get(timeout=60).endswith("begun\n")
        beside.OVER.set()
        program.process.kill()
    program.reader.join(60)
    assert not program.reader.is_alive()
    assert said.empty()


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("NameError: name 'long' is not defined. Did you mean: 'log'?", "add --python2"),
        (
            "SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?",
            "python2",
        ),
        ("NameError: name 'longer' is not defined", ""),
    ],
)
@pytest.mark.usefixtures("silent")
def test_a_program_of_python_2_beside_has_its_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, remedy: str
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    program = beside.Beside(f'echo "{line}"; exit 1', {}, lambda _, text: None)
    with pytest.raises(beside.BesideError) as told:
        program.wait()
    assert remedy in str(told.value)
    assert bool(remedy) == str(told.value).endswith("write python2 where you write python3")


@pytest.mark.parametrize(
    "line",
    [
        "NameError: name 'unicode' is not defined",
        "TabError: inconsistent use of tabs and spaces in indentation",
        '  File "/cellbed/harness/scripts/python2.py"',
    ],
)
@pytest.mark.usefixtures("silent")
def test_a_pox_of_python_2_needs_python_2_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    program = beside.Beside(f": pox.py; echo {line!r}; exit 1", {}, lambda _, text: None)
    with pytest.raises(beside.BesideError, match="this POX is of Python 2: add --package python2"):
        program.wait()


def test_a_package_whose_files_import_each_other_as_in_python_2_is_of_python_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    package = tmp_path / "pox" / "lib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import timers\n")
    command = "exec python3 -c 'import pox.lib'"
    program = beside.Beside(command, {"PYTHONPATH": str(tmp_path)}, lambda *_: None)
    program.reader.join(60)
    assert not program.unfound_is_there()
    assert not program.old
    (package / "timers.py").write_text("")
    program = beside.Beside(command, {"PYTHONPATH": str(tmp_path)}, lambda *_: None)
    program.reader.join(60)
    assert program.unfound_is_there()
    assert "this POX is of Python 2: add --package python2.7" in program.remedy()


def test_a_controller_that_hides_the_package_that_it_imports_is_not_of_python_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file ryu.py is found before the package ryu, and it has no module ryu.base."""
    for name in ("beside", "own_files"):
        monkeypatch.setattr(f"harness.scripts.{name}.WORK", tmp_path)
    (tmp_path / "ryu.py").write_text("from ryu.base import app_manager\n")
    program = beside.Beside(f"exec python3 {tmp_path}/ryu.py", {}, lambda *_: None)
    program.reader.join(60)
    assert program.unfound == "ryu.base" and program.importer == str(tmp_path / "ryu.py")
    assert not program.old and not program.unfound_is_there() and not program.remedy()


@pytest.mark.usefixtures("silent")
def test_a_controller_of_python_2_under_a_pox_of_python_3(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(beside, "WORK", tmp_path)
    said = "POX 0.7.0 (gar) / Copyright\\nNameError: name 'unicode' is not defined"
    program = beside.Beside(f': pox.py; printf "{said}\\n"; exit 1', {}, lambda _, text: None)
    with pytest.raises(beside.BesideError, match="this POX is of Python 3, but its controller is"):
        program.wait()


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Controllers:
    """With no database to follow, and at the moment 100 s."""
    monkeypatch.setattr(Controllers, "follow", lambda self: None)
    monkeypatch.setattr(controllers, "ports", set)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    return Controllers()


def row(target: str, connected: bool) -> dict[str, Any]:
    return {"Controller": {"uuid": {"new": {"target": target, "is_connected": connected}}}}


def test_a_controller_that_nobody_started_is_told_once_after_five_seconds(
    waiting: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.take(row("tcp:127.0.0.1:6633", False))
    monkeypatch.setattr(time, "monotonic", lambda: 104.9)
    assert waiting.waiting() == []
    monkeypatch.setattr(time, "monotonic", lambda: 105.0)
    (sentence,) = waiting.waiting()
    assert "a controller at 127.0.0.1:6633, and nothing listens there: --beside" in sentence
    assert waiting.waiting() == []


@pytest.mark.parametrize(
    "later", [row("tcp:127.0.0.1", True), {"Controller": {"uuid": {"old": {}}}}]
)
def test_a_controller_that_came_or_was_removed_is_not(
    waiting: Controllers, monkeypatch: pytest.MonkeyPatch, later: dict[str, Any]
) -> None:
    waiting.take(row("tcp:127.0.0.1", False))
    waiting.take(later)
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    assert waiting.waiting() == []


def test_another_machine_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "10.1.2.3:6653, and the lab has no way" in controllers.tell("tcp:10.1.2.3")
    monkeypatch.setattr(controllers, "ports", lambda: {6653})
    assert controllers.tell("tcp:127.0.0.1:6653") == ""


def test_objects_come_in_pieces() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        text = json.dumps({"id": 1}) + " " + json.dumps({"id": 2, "text": "é"})
        for piece in (text[:5], text[5:15], text[15:]):
            ours.sendall(piece.encode())
        ours.shutdown(socket.SHUT_WR)
        assert [found["id"] for found in controllers.objects(theirs)] == [1, 2]
