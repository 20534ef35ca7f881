# SPDX-License-Identifier: GPL-2.0-only
"""Notices that switches wait for a controller that nobody started. In the lab.

Open vSwitch's database tells of each change: a switch's controller, and whether it is connected.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from harness.scripts.beside import ports
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


class Controllers:
    """Follows the database in a thread; waiting() tells."""

    def __init__(self) -> None:
        self.since: dict[str, tuple[str, float]] = {}
        self.told: set[str] = set()
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
            else:
                self.since.pop(row, None)

    def waiting(self) -> list[str]:
        """A sentence for each controller that was waited for too long, once."""
        now = time.monotonic()
        late = {target for target, since in self.since.copy().values() if now - since >= WAIT_S}
        new = sorted(late - self.told)
        self.told |= late
        return [sentence for target in new if (sentence := tell(target))]


def tell(target: str) -> str:
    """What to do, or nothing where somebody listens."""
    found = TARGET.fullmatch(target)
    if not found:
        return ""
    place, port = found[1], int(found[2] or PORT)
    begin = f"switches have waited {WAIT_S:g} s for a controller at {place}:{port}"
    if not place.startswith("127."):
        return (
            f"{begin}, and the lab has no way to another machine: --beside 'COMMAND' starts a "
            "controller, which gets this address"
        )
    if port in ports():
        return ""
    return (
        f"{begin}, and nothing listens there: --beside 'COMMAND' starts a controller before the "
        "script, for example --beside 'ryu-manager app.py'"
    )


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
