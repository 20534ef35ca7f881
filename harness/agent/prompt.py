# SPDX-License-Identifier: GPL-2.0-only
"""Mininet's prompt: on the lab's terminal, or its commands one by one without a terminal.

The prompt polls its input while a command runs and hands what it finds to the command: right
for a person, wrong for a file of commands, all of which but the first it would swallow.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import sys
import termios
import threading
from contextlib import suppress
from typing import Self

from mininet.cli import CLI
from mininet.net import Mininet

from harness.agent.events import emit

CHUNK = 65536
OUTPUTS = (1, 2)
# Ends what a command says, in the pipe that its output takes.
END = b"\0"


class Prompt(CLI):
    """Mininet's prompt; what pings all pings those who can reach each other."""

    def do_pingall(self, line: str) -> None:
        """Ping both ways between client and server of each pair; no others have a way."""
        clients = [host for host in self.mn.hosts if host.name.startswith("c")]
        pairs = [(client, self.mn.get(f"s{client.name[1:]}")) for client in clients]
        answered = 0
        for one, other in [pair for c, s in pairs for pair in ((c, s), (s, c))]:
            said = one.cmd(f"ping -c 1 {line} {other.IP()}")
            _, received = self.mn._parsePing(said)
            answered += received
            print(f"{one.name} -> {other.name if received else 'X'}")
        print(
            f"*** {answered} of {2 * len(pairs)} pings were answered; each pair reaches only itself"
        )

    do_pingallfull = do_pingall


def on_terminal(net: Mininet) -> None:
    """Talk to a person until he leaves.

    The terminal becomes the controlling one of a new session, so that Ctrl-C reaches the
    prompt, which passes it on, and not what keeps the network.
    """
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 1)
    Prompt(net)


class Commands:
    """Runs lines as the prompt would, for the duration of a `with`.

    What they print comes as events "said" while they run; after each, "command-end" with
    leave (did it ask to leave the prompt?).
    """

    def __init__(self, net: Mininet) -> None:
        self.net = net
        self._passed = threading.Event()

    def __enter__(self) -> Self:
        self._kept = [os.dup(number) for number in OUTPUTS]
        source, target = os.pipe()
        for number in OUTPUTS:
            os.dup2(target, number)
        os.close(target)
        threading.Thread(target=self._pass_on, args=(source,), daemon=True).start()
        # Never readable and never at its end: no command is handed anything.
        silence, self._silent = os.pipe()
        self._prompt = Prompt(self.net, stdin=os.fdopen(silence), script=os.devnull)
        return self

    def _pass_on(self, source: int) -> None:
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        while data := os.read(source, CHUNK):
            *before, last = data.split(END)
            for text in before:
                if text:
                    emit("said", text=decode(text))
                self._passed.set()
            if last:
                emit("said", text=decode(last))

    def run(self, line: str) -> None:
        """Run one line; what goes wrong in it is said and costs no other line."""
        leave = False
        try:
            leave = bool(self._prompt.onecmd(self._prompt.precmd(line)))
        except Exception as error:  # noqa: BLE001 (told to whoever gave the line)
            print(f"*** {type(error).__name__}: {error}")
        sys.stdout.flush()
        os.write(1, END)
        self._passed.wait()
        self._passed.clear()
        emit("command-end", leave=leave)

    def __exit__(self, *_: object) -> None:
        for number, kept in zip(OUTPUTS, self._kept, strict=True):
            os.dup2(kept, number)
            os.close(kept)
        with suppress(OSError):
            os.close(self._silent)
