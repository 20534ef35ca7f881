# SPDX-License-Identifier: GPL-2.0-only
"""A program beside the script, as a controller is: begun first, and waited for. In the lab."""

from __future__ import annotations

import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.scripts import own_files, python2_errors
from harness.scripts.job import WORK
from harness.scripts.priority import before_all_others

# By the lab's clock: a program that imports much takes seconds of the real one.
READY_S = 60.0
LOOK_S = 0.01
# By killall, and killall -9: of the program itself, and as its shell says it.
KILLED = (-15, -9, 143, 137)
MOST_STARTS = 10
# Set when the script has ended, and all that it left is killed.
OVER = threading.Event()
# What Python 3 says of the grammar and the modules of Python 2; python2_errors has the rest.
OLD = re.compile(
    r"SyntaxError: Missing parentheses in call to '(?:print|exec)'.*"
    r"|TabError: inconsistent use of tabs and spaces in indentation"
    r"|SyntaxError: multiple exception types must be parenthesized.*"
    rf"|ModuleNotFoundError: No module named '(?:{'|'.join(python2_errors.MODULES)})'"
)
# What Ryu says of an application that it was given by a path.
ABSENT = re.compile(r"ModuleNotFoundError: No module named '([^']*/[^']*)'")
# A POX of 0.7 or later says so when it begins; it is of Python 3.
NEW_POX = re.compile(r"POX 0\.([7-9]|\d\d)\..*")
CONVERTER = "/harness/scripts/python2"  # in what a program says that --python2 cannot convert
LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}  # net/tcp_states.h

Say = Callable[[int, str], None]


class BesideError(Exception):
    """The program ended, or never listened: the script was not begun.

    Args:
        own: the module that Python did not find, of which the command names the file.
    """

    def __init__(self, text: str, own: str = "") -> None:
        super().__init__(text)
        self.own = own


class Beside:
    """A program that runs beside the script.

    Args:
        command: of a shell, in the script's folder.
        say: called with stream and text for each of its lines, from a thread.
    """

    def __init__(self, command: str, environment: Mapping[str, str], say: Say) -> None:
        self.command = command
        self.name = name_of(command)
        self.say = say
        self.old = self.converted = self.listened = self.new_pox = False
        self.absent = self.unfound = self.importer = ""
        self.before = listening()
        self.environment = dict(environment)
        self.process = self.begin()
        self.reader = threading.Thread(target=self.pass_on, daemon=True)
        self.reader.start()

    def begin(self) -> subprocess.Popen[str]:
        """Start the command."""
        return subprocess.Popen(
            ["bash", "-c", self.command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=WORK, env=self.environment, start_new_session=True,
            encoding="utf-8", errors="surrogateescape",
        )  # fmt: skip

    def pass_on(self) -> None:
        """Say its lines, with its name before each, and that it failed. Where `mn -c` killed it, it
        begins again: a person starts the controller afterwards.
        """
        before_all_others()
        for _ in range(MOST_STARTS):
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.old = self.old or is_old(line.strip())
                self.converted = self.converted or CONVERTER in line
                self.new_pox = self.new_pox or NEW_POX.match(line) is not None
                if found := ABSENT.fullmatch(line.strip()):
                    self.absent = found[1]
                if found := own_files.FRAME.fullmatch(line.strip()):
                    self.importer = found["file"]
                if found := own_files.NO_MODULE.fullmatch(line.strip()):
                    self.unfound = found["name"]
                    self.old = self.old or self.in_package()
                self.say(2, f"[{self.name}] {line.rstrip(chr(10))}\n")
            status = self.process.wait()
            if status and status not in KILLED and self.listened and not OVER.is_set():
                self.say(
                    2, f"cellbed: {self.name} ended with status {status}; the script goes on\n"
                )
            if status not in KILLED or OVER.is_set() or switches():
                return
            self.say(2, f"cellbed: {self.name} was killed, as by mn -c, and begins again\n")
            self.process = self.begin()

    def own_file(self) -> Path | None:
        """The file of the module that Python did not find, if it is in the script's folder."""
        return own_files.find(self.unfound, self.command) if self.unfound else None

    def in_package(self) -> bool:
        """Is the module that Python did not find beside the file that asked for it?"""
        return own_files.beside_importer(self.unfound, self.importer)

    def unfound_is_there(self) -> bool:
        """Is the module that Python did not find in the script's folder all the same?"""
        return self.in_package() or self.own_file() is not None

    def absent_file(self) -> str:
        """A word of the command that is a file's name, though there is no such file."""
        name = f"{self.unfound}.py"
        return name if name in self.command.split() and not self.own_file() else ""

    def remedy(self) -> str:
        """What helps a program of Python 2, or that looks for a file in vain."""
        refused = self.own_file() if not self.old or self.converted else None
        if refused and (why := own_files.complaint(refused)):
            return f"; Python refuses {refused.name}, {why}"
        if self.absent:
            return (
                f"; the lab has no file {self.absent}.py, because it sees only the folder of the "
                "script: give cellbed a shell script, in a folder that has this file, too"
            )
        if name := self.absent_file():
            return f"; there is no file {name}, so look at its name and its folder"
        if self.new_pox and self.old:
            return (
                "; this POX is of Python 3, but its controller is of Python 2: convert it by 2to3"
            )
        if "pox" in self.command and (self.old or self.converted):
            return (
                "; this POX is of Python 2: add --package python2.7, and write python2.7 where you "
                "write python3 or python2"
            )
        if self.old:
            return "; it has Python 2: add --python2, and write python2 where you write python3"
        return ""

    def wait(self) -> None:
        """Until it listens at a port at which nothing listened before it.

        Raises:
            BesideError: it ended, or it did not within READY_S.
        """
        end = time.monotonic() + READY_S
        while not listening() - self.before:
            if self.process.poll() is not None:
                self.reader.join(1.0)  # what it said comes before the sentence
                raise BesideError(
                    f"--beside '{self.command}' ended with status {self.process.returncode} before "
                    f"it listened at a port, and the script did not begin{self.remedy()}",
                    self.unfound if self.unfound_is_there() or self.absent_file() else "",
                )
            if time.monotonic() > end:
                raise BesideError(
                    f"--beside '{self.command}' listened at no port within {READY_S:g} s of the "
                    "lab's clock, and the script did not begin"
                )
            time.sleep(LOOK_S)
        self.listened = True


def is_old(line: str) -> bool:
    """Is this what Python 3 says of a program of Python 2?"""
    return OLD.fullmatch(line) is not None or python2_errors.found_in(line) != ""


def listening() -> set[tuple[str, str, str]]:
    """Protocol, address with port, and inode of each socket that listens here."""
    found = set()
    for protocol, state in LISTENS.items():
        table = Path("/proc/net", protocol)
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        for fields in map(str.split, lines):
            if fields[3] == state:
                found.add((protocol, fields[1], fields[9]))
    return found


def switches() -> str:
    """The names of Open vSwitch's switches. While there are none, who kills a controller cleans up;
    later it may be a part of the experiment.
    """
    done = subprocess.run(["ovs-vsctl", "list-br"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def ports() -> set[int]:
    """The TCP ports at which something listens here."""
    return {int(where.rpartition(":")[2], 16) for kind, where, _ in listening() if "tcp" in kind}


def name_of(command: str) -> str:
    """The program that a shell's line starts last: of `cd pox && ./pox.py x` it is pox.py."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&")
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in (";", "&&"):
                commands.append([])
            elif word != "&":
                commands[-1].append(word)
    except ValueError:  # a quotation without an end, which the shell will refuse
        commands = [command.split()]
    last = next((words for words in reversed(commands) if words), [])
    words = [word for word in last if word not in ("exec", "sudo") and "=" not in word]
    if len(words) > 1 and words[0].startswith("python") and not words[1].startswith("-"):
        words = words[1:]
    return Path(words[0]).name if words else "beside"
