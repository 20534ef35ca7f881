# SPDX-License-Identifier: GPL-2.0-only
"""`./cellbed shell`: Mininet's prompt in a running lab, over a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import sys
import tempfile
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.clean import LAB_PREFIX, mark_owner
from harness.errors import LabError
from harness.labs import LabSpec, UmlLab
from harness.plan import Trial

CHUNK = 65536
POLL_S = 0.2


def run_shell(trial: Trial) -> None:
    """Boot a real-time lab tuned as the trial wants it, and talk to its prompt until it ends."""
    ours, labs = pty.openpty()
    spec = LabSpec(pairs=trial.plan["topology"]["pairs"], clock="real", terminal=labs)
    with tempfile.TemporaryDirectory(prefix=LAB_PREFIX) as folder:
        mark_owner(Path(folder))
        with UmlLab(spec, Path(folder)) as lab:
            os.close(labs)
            topology = trial.plan["topology"]
            modules = ["cellbed_tcp"]
            lab.submit({"kind": "network", "topology": topology, "modules": modules})
            lab.submit({"kind": "shell", "plan": trial.plan})
            lab.submit({"kind": "end"})
            print(f"building {topology['pairs']} pairs; exit leaves the lab", file=sys.stderr)
            with raw_terminal():
                converse(lab, ours)
            for event in lab.events():
                if event["event"] == "failed":
                    raise LabError(event["error"])


def converse(lab: UmlLab, master: int) -> None:
    """Pass bytes both ways until the lab has ended."""
    sources = [master, sys.stdin.fileno()]
    while lab.poll() is None:
        ready, _, _ = select.select(sources, [], [], POLL_S)
        if master in ready:
            try:
                os.write(sys.stdout.fileno(), os.read(master, CHUNK))
            except OSError:  # the lab has closed its end
                return
        if sys.stdin.fileno() in ready:
            typed = os.read(sys.stdin.fileno(), CHUNK)
            if typed:
                os.write(master, typed)
            else:
                sources.remove(sys.stdin.fileno())


@contextmanager
def raw_terminal() -> Iterator[None]:
    """Keystrokes go to the lab as they come; the terminal is as before afterwards."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
