# SPDX-License-Identifier: GPL-2.0-only
"""`./cellbed`: runs a command and turns its errors into one line and an exit code."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from harness.cli.group import cellbed
from plan.errors import CellbedError

RUNS_TRIALS = (["run"], ["compare"], ["study"], ["flavors"])
ENDS_IN_WORDS = (*RUNS_TRIALS, ["selftests"])
"""The commands that show what has ended when SIGTERM ends them, as after Ctrl-C."""
# What click says of numbers, which is neither a sentence nor plain.
NO_OPTION = re.compile(r"Missing option '(--[\w-]+)'")
CHOOSE = re.compile(r"\. Choose from:\s*")
NOT_WHOLE = re.compile(r"is not a valid integer(?: range)?")
NO_NUMBER = re.compile(r"is not a valid float(?: range)?")
NOT_WITHIN = re.compile(r" is not in the range (-?[\d.]+)<=x<=(-?[\d.]+)")
NOT_AT_LEAST = re.compile(r" is not in the range x>=(-?[\d.]+)")


def main() -> int:
    """Exit codes: plan/errors.py; 2 also for a wrong option, 130 after Ctrl-C, 143 after
    SIGTERM."""
    if "_CELLBED_COMPLETE" in os.environ:
        from harness.cli import completion  # for a shell that asks, and for no other command

        completion.install()
    if sys.argv[1:2] in ENDS_IN_WORDS:
        end_in_words()
    try:
        cellbed.main(sys.argv[1:] or ["--help"], prog_name="cellbed", standalone_mode=False)
    except CellbedError as error:
        console = getattr(error, "console", "")
        if console:
            print(console, file=sys.stderr)
        return refuse(str(error), error.exit_code, getattr(error, "__notes__", ()))
    except click.exceptions.NoArgsIsHelpError as error:  # its message is a whole help page
        return refuse(no_command(error.ctx), 2)
    except click.ClickException as error:
        return refuse(click_message(error), max(2, error.exit_code))
    except (KeyboardInterrupt, click.Abort) as error:
        return interrupted(error.__cause__ or error)  # click has an exception of its own
    except OSError as error:
        # Of two files the second is the one that was to be written.
        name = error.filename2 or error.filename
        return refuse(f"{name}: {error.strerror}" if name else str(error), 1)
    return 0


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came: whatever cleans up after Ctrl-C does so now, too."""


def end_in_words() -> None:
    """Let SIGTERM end this process as Ctrl-C does, unless it is ignored."""

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # nothing stops the cleaning
        raise TerminatedError

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, end)


def interrupted(error: BaseException) -> int:
    """Say that a person or a signal ended it, what is there, and which command goes on."""
    by_signal = isinstance(error, TerminatedError)
    code = 128 + signal.SIGTERM if by_signal else 130
    said = "ended by SIGTERM" if by_signal else "interrupted"
    if sys.argv[1:2] not in RUNS_TRIALS:
        return refuse(said, code)
    there = "; ".join(getattr(error, "__notes__", ())) or "finished trials are kept"
    again = f"to go on, type ./cellbed {shlex.join(sys.argv[1:])}"
    return refuse(f"{said}; {there}; {again}", code)


def refuse(message: str, exit_code: int, notes: Sequence[str] = ()) -> int:
    """Say in one line what is wrong, and below it what belongs to it, such as a file's line."""
    print(f"cellbed: {one_line(message)}", file=sys.stderr)
    for note in notes:
        print(one_line(note), file=sys.stderr)
    return exit_code


def one_line(message: str) -> str:
    """A text with what would break its line, or drive a terminal, as Python writes it."""
    return "".join(x if x.isprintable() else x.encode("unicode_escape").decode() for x in message)


def click_message(error: click.ClickException) -> str:
    """What click has to say of an option, and where help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "cellbed"
    said = re.sub(r"\n\s*", " ", error.format_message()).rstrip(".")
    if isinstance(error, click.NoSuchOption) and context is not None and not error.possibilities:
        said += meant(error.option_name, context)
    said = re.sub(NO_OPTION, r"the option \1 is missing", said)
    said = re.sub(CHOOSE, r"; it must be one of ", said)
    said = re.sub(NOT_WHOLE, "must be a whole number", said)
    said = said.replace("requires an argument", "needs a value")
    said = re.sub(NO_NUMBER, "must be a number", said)
    said = re.sub(NOT_WITHIN, r": allowed are \1 to \2", said)
    said = re.sub(NOT_AT_LEAST, r": must be at least \1", said)
    end = "" if said.endswith("?") else ";"  # a question has its mark: "Did you mean 'run'?"
    return f"{said[:1].lower()}{said[1:]}{end} see {command} --help"


def meant(option: str, context: click.Context) -> str:
    """The long option that begins with the letter of a short one; "" for any other, or several."""
    letter = option.removeprefix("-").casefold()
    options = [name for one in context.command.get_params(context) for name in one.opts]
    found = [name for name in options if len(letter) == 1 and name.startswith(f"--{letter}")]
    return f". Did you mean '{found[0]}'?" if len(found) == 1 else ""


def no_command(context: click.Context | None) -> str:
    """The sentence for a group such as `kernel` that stands alone on the line."""
    if context is None or not isinstance(context.command, click.Group):
        return "a command is missing; see cellbed --help"
    names = ", ".join(context.command.list_commands(context))
    path = context.command_path
    return f"{path}: a command is missing; it must be one of {names}; see {path} --help"
