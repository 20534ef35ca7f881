# SPDX-License-Identifier: GPL-2.0-only
"""Boots a lab for a script, passes on what it says, and keeps what it wrote."""

from __future__ import annotations

import json
import math
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from harness.host.ownership import give_tree, make_folder
from harness.labs import Lab, LabSpec
from harness.labs.hang import HANG_CPU_S, HANG_IDLE_S
from harness.labs.session import session
from harness.scripts import products, python2_errors, python2_text, remedies, shells, written
from harness.scripts.job import FILE, INPUT, KEPT, KILLED, SHARE, ScriptJob
from harness.scripts.silence import Silence
from plan.errors import LabError, UsageError

# Not exec: the shell stays the first process and waits for the orphans of all others.
MAIN = "cd /cellbed && python3 -B -m harness.scripts.lab; exit"
OUTPUT_MIB = 32
# A lab has these without a script's doing.
FEW = 50
# So many commands that are not there are told; lab.py notes no more either.
MOST = 50
MISSING = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?\n")
# Python says it of a program as of a file.
ABSENT = re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'\n")
# The client of iperf 2.2 says so of each server, whatever this one lost.
IPERF = re.compile(r"bits/sec +0\.000 ms +[1-9]\d*/ *\d+ \(0%\)")
# Python's words at the end of the input, and Mininet's prompt.
ASKED = re.compile(r"^EOFError: EOF when reading a line|^mininet> ", re.MULTILINE)
CLOCK = "with --clock real a program that only computes does not stop the clock"

Say = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True)
class Script:
    """What is to be run, and where.

    Attributes:
        argv: the command, in the lab, where `folder` is the working directory.
        folder: whose files it can read.
        text: its standard input.
        lab, clock, seed, terminal: see LabSpec. With a terminal nothing bounds it.
        limit_s: how long it may take, by the lab's clock, and of processor time while that
            stands still [s].
        disk_mib: how much it may write to each of its disks [MiB].
        memory_mib: how much memory the lab has, its disks included [MiB].
        processes: how many processes the lab may have, of which each is one of the host, too.
        packages: of Debian, beside those of lab/mininet/packages.
        pip: packages of Python that Debian does not have.
        beside: commands of a shell that begin before it and end with it, as a controller does.
        python2: convert it, and what it starts with `python`, from Python 2.
        isolated: see LabSpec.
    """

    argv: Sequence[str]
    folder: Path
    text: bytes = b""
    lab: str = "uml"
    clock: str = "virtual"
    seed: int = 1
    limit_s: float = 3600.0
    disk_mib: int = 512
    memory_mib: int = LabSpec.memory_mib
    processes: int = 2000
    packages: Sequence[str] = ()
    pip: Sequence[str] = ()
    beside: Sequence[str] = ()
    python2: bool = False
    terminal: int | None = None
    isolated: bool = False


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a script ended.

    Attributes:
        status: as a shell tells it.
        stopped: why it was ended, if it was.
        full: which of its disks were.
        killed: names of processes that the lab's kernel killed because its memory was full.
        lacked: sentences about what the lab did not have for it.
        asked: it read its input, as far as its output shows it.
    """

    status: int
    stopped: str
    full: Sequence[str]
    killed: Sequence[str] = ()
    lacked: Sequence[str] = ()
    asked: bool = False


@contextmanager
def running(script: Script) -> Iterator[Lab]:
    """A lab that runs the script.

    Raises:
        UsageError: a package that cannot be one, or --python2 on this machine.
        MissingError, LabError: it cannot be booted.
    """
    if script.python2 and script.lab == "native":
        raise UsageError("--python2 replaces commands of the lab, and --lab native is this machine")
    made = products.require(script.lab, script.clock, script.packages, script.pip)
    job = ScriptJob(
        argv=script.argv,
        modules=[path.name for path in made.modules],
        beside=script.beside,
        python2=script.python2,
        own_kernel=script.lab != "native",
        limit_s=script.limit_s,
        disk_mib=script.disk_mib,
        output_mib=OUTPUT_MIB,
        processes=script.processes,
        terminal=script.terminal is not None,
    )
    bounded = script.terminal is None
    spec = LabSpec(
        pairs=0,
        clock=script.clock,
        seed=script.seed,
        memory_mib=script.memory_mib,
        hang_cpu_s=min(script.limit_s, HANG_CPU_S) if bounded else math.inf,
        hang_idle_s=HANG_IDLE_S if bounded else math.inf,
        main=MAIN,
        terminal=script.terminal,
        image=made.image,
        kernel=made.kernel,
        kernel_words=products.WORDS if made.kernel else "",
        shares={SHARE: script.folder},
        isolated=script.isolated,
    )
    files = {path.name: path.read_bytes() for path in made.modules} | made.notes
    files |= {FILE: json.dumps(asdict(job)).encode(), INPUT: script.text}
    with session(script.lab, spec, files) as lab:
        yield lab


def follow(lab: Lab, say: Say, *, python2: bool = False) -> Ended:
    """Pass on what the script says until it has ended, and tell when virtual time stands still.

    Args:
        say: called with stream (1 or 2) and text.
        python2: the script is converted, and nobody needs to be told of that way.

    Raises:
        LabError: the lab ended, or hung.
    """
    begun, ended = False, None
    heard = Heard(python2=python2)
    silence = Silence(lab, lambda sentence: say(2, f"cellbed: {sentence}\n"))

    def look() -> None:
        if begun and (sentence := lab.standstill()):
            say(2, f"cellbed: {sentence}; {CLOCK}\n")
        if begun:
            silence.look()

    try:
        for event in lab.events(look=look):
            match event["event"]:
                case "begun":
                    begun = True
                    silence.heard()
                case "said":
                    silence.heard()
                    heard.listen(event["text"])
                    say(event["stream"], event["text"])
                case "alive":
                    silence.alive(event)
                case "refused":
                    raise LabError("; ".join([event["error"], *heard.modules(event["own"])]))
                case "failed":
                    raise LabError(event["error"], lab.console())
                case "ended":
                    ended = event
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise LabError(f"an event of the lab cannot be read: {error!r}", lab.console()) from error
    except LabError as error:
        # Processes without end have no time to say so: in virtual time forking takes none.
        if (count := lab.processes()) > FEW:
            raise LabError(f"{error}; it had {count} processes", error.console) from error
        raise
    if ended is None:
        said = lab.console()
        why = "; its memory was full, and --memory MIB gives more" if KILLED.search(said) else ""
        raise LabError(f"the lab ended before its script did{why}", said)
    status = ended["status"]
    return Ended(
        status=status if status >= 0 else 128 - status,
        stopped=ended["stopped"],
        full=ended["full"],
        killed=[name for name in ended["killed"] if name.isprintable()],
        asked=heard.asked,
        lacked=list(dict.fromkeys([*heard.sentences(), *remedies.sentences(ended["missed"])])),
    )


class Heard:
    """Hears what Python 3 says of a file of Python 2 that a script starts, of what only Python 2
    does, of a module or a program that is not there, and what iperf says wrongly.

    Args:
        python2: the script is converted.
    """

    def __init__(self, *, python2: bool = False) -> None:
        self.python2 = python2
        self.old = False
        self.like_old = ""
        self.iperf = self.asked = self.looked_up = False
        self.far: dict[str, None] = {}
        self.missing: list[str] = []
        self.absent: list[str] = []
        self.refused: list[str] = []
        self.unfound: dict[tuple[str, str, str], None] = {}
        self.end = ""

    def listen(self, text: str) -> None:
        """Look at a piece of what the script says; a message may come in several."""
        self.end = self.end[-200:] + text
        self.old = self.old or any(message in self.end for message in python2_text.SAID)
        found = python2_errors.remedy_in(self.end, converted=self.python2)
        self.like_old = self.like_old or found
        self.asked = self.asked or ASKED.search(self.end) is not None
        self.iperf = self.iperf or IPERF.search(self.end) is not None
        self.missing += MISSING.findall(self.end)
        self.refused += written.refused(self.end)
        self.unfound |= dict.fromkeys(shells.not_found(self.end))
        self.looked_up = self.looked_up or shells.LOOKED_UP.search(self.end) is not None
        self.far |= dict.fromkeys(shells.NO_ANSWER.findall(self.end))
        self.absent += filter(remedies.known, ABSENT.findall(self.end))

    def sentences(self) -> list[str]:
        """Each once."""
        said = []
        if self.old:
            file = "a file that the script started is written in Python 2"
            by = "--python2 converts what python2 or python starts, but not what python3 starts"
            said = [f"{file}; {by if self.python2 else 'try --python2'}"]
        elif self.like_old:
            said = [self.like_old]
        if self.iperf:
            said.append(
                "a client of iperf -u printed 0.000 ms and (0%) in its Server Report, which is a "
                "fault of iperf 2.2; the server's own report has the right jitter and loss"
            )
        if self.looked_up:
            said.append(shells.NO_INTERNET)
        said += map(shells.no_answer, self.far)
        notes = [["command", name, ""] for name in self.absent]
        notes += map(list, islice(self.unfound, MOST))
        notes += [["iperf", name, ""] for name in self.refused]
        return [*said, *remedies.sentences(notes), *self.modules()]

    def modules(self, own: str = "") -> list[str]:
        """One for each module, but not for this one."""
        return remedies.sentences([["python", name, ""] for name in self.missing if name != own])


def keep(lab: Lab, out: Path, most_mib: int) -> list[str]:
    """Move what the script wrote into a folder, which is new or empty; returns the names.

    Raises:
        LabError: it is more than the lab may write, as files with holes are, or nested too deep.
    """
    make_folder(out)
    written = []
    for name in KEPT:
        source = lab.run_directory / "results" / name
        is_link = source.resolve() != source  # a lab's kernel could lead this way elsewhere
        if not is_link and any(source.rglob("*")):
            try:
                refuse_more(name, source, most_mib)
                shutil.copytree(
                    source,
                    out / name,
                    symlinks=True,
                    copy_function=copy_plainly,
                    ignore=strange,
                )
            except shutil.Error as error:  # a list of source, target and reason
                where, why = error.args[0][0][0], error.args[0][0][2]
                raise LabError(f"--out: {Path(where).name} cannot be copied: {why}") from None
            except RecursionError:
                raise LabError(f"--out: {name} has too many nested folders to be copied") from None
            give_tree(out / name)
            written.append(name)
    return written


def refuse_more(name: str, source: Path, most_mib: int) -> None:
    """A file with a hole takes no room in the lab, and all of its length where it is copied."""
    sizes = (path.lstat() for path in source.rglob("*"))
    mib = sum(found.st_size for found in sizes if stat.S_ISREG(found.st_mode)) >> 20
    if mib > most_mib:
        raise LabError(f"--out: {name} has files of {mib} MiB, more than --disk {most_mib}")


def strange(folder: str, names: list[str]) -> list[str]:
    """Of the names in a folder those of pipes, sockets and devices, which nobody can copy."""
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    modes = {name: Path(folder, name).lstat().st_mode for name in names}
    return [name for name, mode in modes.items() if not any(kind(mode) for kind in kinds)]


def copy_plainly(source: str, target: str) -> None:
    """Copy a file, but not that it runs with its owner's rights (setuid): he is you."""
    shutil.copy2(source, target)
    Path(target).chmod(Path(target).stat().st_mode & 0o777)


def check_out(out: Path) -> None:
    """Make the folder; refuse one that something is in, or into which nothing can be written."""
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"--out {out}: this is a file; name an empty or a new folder")
        if out.exists() and any(out.iterdir()):
            raise UsageError(
                f"--out {out}: this folder is not empty; name an empty or a new folder"
            )
        make_folder(out)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise UsageError(
            f"--out {out}: this folder cannot be written ({error.strerror}); name another folder"
        ) from error
