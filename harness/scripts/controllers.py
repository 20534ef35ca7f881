# SPDX-License-Identifier: GPL-2.0-only
"""Notices that switches wait for a controller that nobody started. In the lab.

Open vSwitch's database tells of each change: a switch's controller, and whether it is connected.
"""

from __future__ import annotations

import json
import re
import shlex
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.scripts.beside import ports
from harness.scripts.job import WORK
from harness.scripts.priority import before_all_others

DATABASE = "/run/openvswitch/db.sock"
ASK = {
    "id": 0,
    "method": "monitor",
    "params": [
        "Open_vSwitch", None, {"Controller": {"columns": ["target", "is_connected"]}}
    ],
}  # fmt: skip
WAIT_S = 5.0
TARGET = re.compile(r"(?:tcp|ssl):\[?([^\]]+?)\]?(?::(\d+))?")
PORT = 6653  # of OpenFlow, where none is named
# A switch that is gone sooner may only have been quick.
SHORT_S = 1.0
APPLICATIONS = {
    re.compile(r"^(?:from|import) (?:ryu|os_ken)\.base\b", re.MULTILINE): "ryu-manager {path}",
    re.compile(r"^from pox\.core import core\b", re.MULTILINE): (
        "cp {path} pox/ext/ && cd pox && exec python3 pox.py {name}"
    ),
}


class Controllers:
    """Follows the database in a thread; waiting() tells."""

    def __init__(self) -> None:
        self.since: dict[str, tuple[str, float]] = {}
        self.told: set[str] = set()
        self.met: set[str] = set()
        self.in_vain: set[str] = set()
        self.answering: set[str] = set()
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self) -> None:
        """Until the database ends."""
        before_all_others()
        with suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as database:
            database.connect(DATABASE)
            database.sendall(json.dumps(ASK).encode())
            for message in objects(database):
                if message.get("method") == "echo":
                    answer = {"id": message["id"], "result": message["params"], "error": None}
                    database.sendall(json.dumps(answer).encode())
                elif message.get("method") == "update":
                    self.take(message["params"][1])
                elif message.get("id") == 0:
                    self.take(message["result"])

    def take(self, tables: dict[str, Any]) -> None:
        """Rows that have come, changed or gone."""
        for row, change in tables.get("Controller", {}).items():
            new = change.get("new")
            if new and not new["is_connected"]:
                self.since.setdefault(row, (new["target"], time.monotonic()))
                self.look(new["target"])
                continue
            target, since = self.since.pop(row, ("", 0.0))
            found = row in self.met or target in self.answering
            if new:
                self.met.add(row)
            elif target and not found and time.monotonic() - since >= SHORT_S:
                self.in_vain.add(target)

    def look(self, target: str) -> None:
        """Note a controller that listens when its switch comes.

        Open vSwitch writes only each 5 s who is connected, and Mininet ends its controllers before
        its switches.
        """
        found = TARGET.fullmatch(target)
        if found and target not in self.answering and int(found[2] or PORT) in ports():
            self.answering.add(target)

    def waiting(self) -> list[str]:
        """A sentence for each controller that was waited for too long or in vain, once."""
        now = time.monotonic()
        late = {target for target, since in self.since.copy().values() if now - since >= WAIT_S}
        late |= self.in_vain
        new = sorted(late - self.told)
        self.told |= late
        return [sentence for target in new if (sentence := tell(target))]


def tell(target: str) -> str:
    """What to do, or nothing where somebody listens."""
    found = TARGET.fullmatch(target)
    if not found:
        return ""
    place, port = found[1], int(found[2] or PORT)
    begin = f"switches have waited for a controller at {place}:{port}"
    if not place.startswith("127."):
        return (
            f"{begin}, and the lab has no way to another machine: --beside 'COMMAND' starts a "
            "controller, which gets this address"
        )
    if port in ports():
        return ""
    return (
        f"{begin}, and nothing listens there: --beside 'COMMAND' starts a controller before the "
        f"script, for example --beside {shlex.quote(example(WORK))}"
    )


def example(folder: Path) -> str:
    """The command of the first application of Ryu or POX that the folder has, or of any."""
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/*.py")]):
        text = path.read_text(errors="replace") if path.is_file() else ""
        for pattern, command in APPLICATIONS.items():
            place = str(path.relative_to(folder))
            if pattern.search(text) and place.isprintable():
                return command.format(path=shlex.quote(place), name=shlex.quote(path.stem))
    return "ryu-manager app.py"


def objects(database: socket.socket) -> Iterator[dict[str, Any]]:
    """The JSON objects that come, which nothing separates."""
    decoder, text = json.JSONDecoder(), ""
    while data := database.recv(65536):
        text += data.decode()
        while text := text.lstrip():
            try:
                value, end = decoder.raw_decode(text)
            except ValueError:
                break
            yield value
            text = text[end:]
