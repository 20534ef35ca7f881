# SPDX-License-Identifier: GPL-2.0-only
"""What the commands that run Mininet scripts have in common."""

from __future__ import annotations

import math
import os
import pty
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click

from harness.cli.options import lab_option
from harness.cli.terminal import converse, raw_terminal
from harness.labs import LabSpec
from harness.scripts import host
from harness.scripts.clocks import differences
from harness.scripts.host import Ended, Script
from plan.errors import LabError, UsageError


class Seconds(click.FloatRange):
    """A time; no comparison would refuse a value that is no number (nan)."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number", param, ctx)
        return seconds


OPTIONS = (
    lab_option("The lab in which the script runs [uml]."),
    click.option("--clock", type=click.Choice(["virtual", "real"]), help="The clock [virtual]."),
    click.option(
        "--seed", default=1,
        type=click.IntRange(0, 2**63 - 1),
        help="The seed of everything that the lab draws at random [1].",
    ),
    click.option(
        "--limit", "limit_s", default=3600.0, type=Seconds(1, 1e6), metavar="SECONDS",
        help="The longest time that it may take, by the lab's clock [3600]. While this clock "
        "stands still, the lab may use as much processor time, but never more than 600 s.",
    ),
    click.option(
        "--disk", "disk_mib", default=512, type=click.IntRange(1, 1024), metavar="MIB",
        help="The largest amount that it may write to each of its disks [512].",
    ),
    click.option(
        "--memory", "memory_mib", default=LabSpec.memory_mib, type=click.IntRange(512, 65_536),
        metavar="MIB", help=f"The memory of the lab, with its disks [{LabSpec.memory_mib}].",
    ),
    click.option(
        "--processes", default=2000, type=click.IntRange(100, 20_000), metavar="N",
        help="The largest number of processes [2000].",
    ),
    click.option(
        "--package", "packages", multiple=True, metavar="NAME",
        help="Also install this package of Debian 13 in the lab. Repeat the option for more.",
    ),
    click.option(
        "--pip", multiple=True, metavar="NAME",
        help="Also install this package of Python in the lab, which Debian does not have.",
    ),
    click.option(
        "--beside", multiple=True, metavar="COMMAND",
        help="Start this command first, as a controller, and the script when it listens at a port.",
    ),
    click.option(
        "--python2", is_flag=True,
        help="Convert the script, and what it starts with python, from Python 2.",
    ),
    click.option(
        "--isolated", is_flag=True,
        help="Refuse to run it if the lab cannot keep it away from this machine.",
    ),
    click.option(
        "--compare-clocks", is_flag=True,
        help="Run it on the virtual and then on the real clock, and say which figures differ.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="DIR",
        help="Copy the files that it writes to this folder [they are not kept].",
    ),
)  # fmt: skip
ENDING = (signal.SIGTERM, signal.SIGHUP)
# In the order in which they are given, what is no option of ours is the script's.
PASS_ON = {"ignore_unknown_options": True}


def script_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every such command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def run_script(
    script: Script, clock: str | None, out: Path | None, *, compare_clocks: bool = False
) -> None:
    """Run a script and leave with its status; what it says goes where this process's would.

    With the real clock a person at a terminal can talk to it.

    Raises:
        LabError: it was ended, or its lab.
    """
    clean_up_when_ended()
    if out is not None:
        host.check_out(out)
    if compare_clocks:
        leave(script, on_both_clocks(script, clock, out))
    script = replace(script, clock=clock or ("real" if script.lab == "native" else "virtual"))
    person = script.clock == "real" and is_terminal()
    ended = at_terminal(script, out) if person else unattended(script, out)
    leave(script, ended)


def clean_up_when_ended() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does: the lab ends, its folder goes.

    A signal that was ignored, as by nohup, stays so.
    """

    def end(number: int, _: object) -> NoReturn:
        for one in ENDING:
            signal.signal(one, signal.SIG_IGN)  # nothing stops the cleaning
        raise SystemExit(128 + number)

    for one in ENDING:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, end)


def on_both_clocks(script: Script, clock: str | None, out: Path | None) -> Ended:
    """Run it twice. What it says on the virtual clock goes where it would; of the real one only
    what differs is told, as it ended.

    Raises:
        UsageError: a clock was chosen, or the lab has only one.
    """
    if clock or script.lab == "native":
        raise UsageError("--compare-clocks runs both clocks: leave --clock and --lab native out")
    text = standard_input()
    heard: dict[str, list[str]] = {"virtual": [], "real": []}
    ends = {}
    for name in heard:
        listen = listener(heard[name], aloud=name == "virtual")
        with host.running(replace(script, clock=name, text=text)) as lab:
            ends[name] = host.follow(lab, listen, python2=script.python2)
            if out is not None and name == "virtual":
                host.keep(lab, out, script.disk_mib)
    told = differences(*("".join(said) for said in heard.values()))
    if ends["virtual"].status != ends["real"].status or ends["real"].stopped:
        why = ends["real"].stopped or f"status {ends['real'].status}"
        told.append(f"on the real clock the script ended with: {why}")
    for sentence in told or ["all figures are alike on both clocks"]:
        print(f"cellbed: {sentence}", file=sys.stderr)
    return ends["virtual"]


def listener(heard: list[str], *, aloud: bool) -> host.Say:
    """Keeps what the script says, Mininet's figures among it, which go to the standard error."""

    def listen(stream: int, text: str) -> None:
        if not text.startswith("cellbed: "):  # about silence, which depends on this machine
            heard.append(text)
        if aloud:
            say(stream, text)

    return listen


def leave(script: Script, ended: Ended) -> NoReturn:
    """End with the script's status, after the sentences about it.

    Raises:
        LabError: it was ended.
    """
    for sentence in ended.lacked:
        print(f"cellbed: {sentence}", file=sys.stderr)
    for name in ended.killed:
        print(
            f"cellbed: the lab's memory was full ({script.memory_mib} MiB), so its kernel killed"
            f" the process {name}; --memory MIB gives more",
            file=sys.stderr,
        )
    if ended.asked and script.terminal is None and sys.stdin.isatty():
        print(
            "cellbed: the script asked for input, but it got none: only with --clock real, and if "
            "standard output is a terminal, too, does a script get what you type; or give it the "
            "input from a file (< FILE)",
            file=sys.stderr,
        )
    if ended.status and (behind := options_among(script.argv)):
        print(
            f"cellbed: {behind[0]} stands after the name of the script, so the script got it; if "
            "you mean cellbed's option, put it before this name",
            file=sys.stderr,
        )
    if ended.stopped:
        raise LabError(f"{' '.join(script.argv)} was ended: {ended.stopped}")
    for name in ended.full:
        print(
            f"cellbed: {name} is full in the lab ({script.disk_mib} MiB); --disk MIB gives more",
            file=sys.stderr,
        )
    raise SystemExit(ended.status)


def options_among(argv: Sequence[str]) -> list[str]:
    """Words of a command that are options of cellbed's."""
    names = [name for option in script_parameters() for name in option.opts]
    return [word for word in argv if word.partition("=")[0] in names]


def script_parameters() -> list[click.Parameter]:
    """The options of every such command, as click has them."""
    return click.command()(script_options(lambda: None)).params


def unattended(script: Script, out: Path | None) -> Ended:
    """Nobody is there but, it may be, a file."""
    with host.running(replace(script, text=standard_input())) as lab:
        ended = host.follow(lab, say, python2=script.python2)
        if out is not None:
            host.keep(lab, out, script.disk_mib)
    return ended


def at_terminal(script: Script, out: Path | None) -> Ended:
    """A person talks to it; Ctrl-C is the script's."""
    ours, labs = pty.openpty()
    with host.running(replace(script, terminal=labs)) as lab:
        os.close(labs)
        with raw_terminal():
            converse(lab, ours)
        ended = host.follow(lab, say, python2=script.python2)
        if out is not None:
            host.keep(lab, out, script.disk_mib)
    return ended


def say(stream: int, text: str) -> None:
    """What the script says, byte for byte."""
    target = (sys.stdout, sys.stderr)[stream - 1]
    target.buffer.write(text.encode("utf-8", "surrogateescape"))
    target.flush()


def is_terminal() -> bool:
    """Is a person there?"""
    return sys.stdin.isatty() and sys.stdout.isatty()


def standard_input() -> bytes:
    """A file or a pipe to its end; nothing where it is neither."""
    kind = os.fstat(0).st_mode
    if stat.S_ISREG(kind) or stat.S_ISFIFO(kind):
        return sys.stdin.buffer.read()
    return b""


def find(path: Path) -> Path:
    """The file of a script, in its own folder, which no link leads to.

    Raises:
        UsageError: there is no such file.
    """
    if path.is_dir():
        raise UsageError(f"{path}: this is a folder; name a script in it")
    if not path.exists():
        raise UsageError(f"{path}: this file does not exist")
    if not path.is_file():
        raise UsageError(f"{path}: this is a pipe or a device; name a file")
    return path.resolve()
