# SPDX-License-Identifier: GPL-2.0-only
"""Runs one script inside a lab, as on a machine of its own; the lab's main program.

Events: of a script without a terminal "begun", "said" (text and stream, 1 or 2), and "alive" each
second of the lab's clock or MANY packets (packets, broadcasts, repeats: so far; device: of the last
broadcast); last "refused" (error; own: the module whose file Python refuses) or "ended" (status;
stopped: why it was ended, if it was; full: a disk of it was; killed: processes, when the memory was
full; missed: kind, name and command of what the lab lacked).
"""

from __future__ import annotations

import codecs
import errno
import fcntl
import json
import os
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from harness.agent import softirq
from harness.agent.events import RUN, emit
from harness.agent.power_off import power_off
from harness.agent.shares import mount_share
from harness.scripts import compiler, frr, kernel, python2, switch_command, written
from harness.scripts.beside import OVER, Beside, BesideError
from harness.scripts.controllers import Controllers
from harness.scripts.job import FILE, INPUT, KEPT, SHARE, WORK, ScriptJob
from harness.scripts.priority import FIRST, before_all_others
from topology.clock import wake_exactly
from topology.run import run

# Of Mininet's own machines, whom scripts name.
USER = "mininet"
CHUNK = 65536
# No disk of a lab is so large: only a file with a hole can be, and the host refuses to keep it.
MOST_BYTES = 1 << 40
LOOK_S = 0.1
ALIVE_S = 1.0
MANY = 100_000
# From this rate on a look also asks for what shows a storm, and tells of it at once.
BUSY_PER_S = 20_000
MANY_REPEATS = 5_000
# Packets leave no process any time: from this rate on we look at the share of the processor that
# they take, and for so many looks, before processes get their turn.
FLOOD_PER_S = 100_000
FLOOD = 0.95
FLOOD_LOOKS = 10
# Of the image: notes of what a command or the kernel lacked (lab/mininet/files).
MISSED = Path("/run/cellbed-missed")
# Tells Mininet (missed.py of lab/mininet/files) that a controller runs here.
BESIDE = Path("/run/cellbed-beside")
MOST_MISSED = 50
QUIET = Path("/usr/lib/cellbed/quiet.so")  # of the image
COUNTERS = Path("/sys/module/cellbed_processor/parameters")
CONGESTION_CONTROLS = sorted(Path("/opt/cellbed").glob("tcp_*.ko"))
DESCRIPTORS = Path("/dev/fd")
# All that can be filled. The root's is where the image's init left it, and not in every lab.
WORK_DISK = Path("/run/work")
DISKS = {"its folder": WORK_DISK, "/tmp": Path("/tmp"), "the root": Path("/mnt/mnt")}
# What is kept of them, by the names on the host.
PLACES = dict(zip(KEPT, (WORK_DISK / "upper", Path("/tmp")), strict=True))
# What a program of a terminal is told of it, and what a script on Debian finds.
ENVIRONMENT = {
    # That of root, and at its end what a user has, too: packages such as cowsay install there.
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    ":/usr/local/games:/usr/games",
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "TERM": "vt100",
    # Mininet's cmd() reads what is said at a terminal. There Debian 13's ip and tc use colours.
    # Those of the scripts' authors did not, and a script finds no address among the codes.
    "NO_COLOR": "1",
    "MPLBACKEND": "Agg",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "BASH_ENV": "/usr/lib/cellbed/bashrc",
}


def main() -> None:
    """Read the job, do it, power off."""
    try:
        job = ScriptJob(**json.loads((RUN / FILE).read_text()))
        prepare(job)
        status, stopped = on_terminal(job) if job.terminal else Watched(job).run()
        OVER.set()
        os.kill(-1, signal.SIGKILL)  # what it left running: all but the first process and this
        full = full_disks()
        keep()
        killed = kernel.killed() if job.own_kernel else []
        lacked = missed() + written.notes(PLACES.values())
        emit("ended", status=status, stopped=stopped, full=full, killed=killed, missed=lacked)
    except BesideError as error:
        emit("refused", error=str(error), own=error.own)
    except Exception as error:  # noqa: BLE001 (the last stop before the power goes)
        traceback.print_exc()
        emit("failed", error=f"{type(error).__name__}: {error}")
    finally:
        power_off()


def prepare(job: ScriptJob) -> None:
    """What a script expects to find: its folder, a network, a user, Open vSwitch."""
    softirq.go_first()
    wake_exactly()
    make_work_folder(job)
    Path("/proc/sys/kernel/threads-max").write_text(str(job.processes))
    run(["hostname", "mininet"])
    run(["ip", "link", "set", "lo", "up"])
    run(["useradd", "--create-home", "--shell", "/bin/bash", USER])
    # Nothing in the image could load them when they are asked for.
    for module in (*map(RUN.joinpath, job.modules), *CONGESTION_CONTROLS):
        run(["insmod", str(module)])
    if job.own_kernel:
        kernel.show()
    # The boundary is around the lab's kernel (SECURITY.md); a script need not become that.
    with suppress(FileNotFoundError):
        Path("/proc/sys/kernel/modules_disabled").write_text("1")
    make_descriptors_link(job)
    make_ready_for_ssh()
    start_open_vswitch()
    if job.own_kernel:
        frr.install()
        compiler.install()
        switch_command.install()
    if job.python2:
        python2.install()
    if Path(kernel.LOAD).exists():  # not in the native lab, which is the machine itself
        MISSED.write_text("")


def full_disks() -> list[str]:
    """The names of those that are full; a script may have mounted something before the root's."""
    there = {name: place for name, place in DISKS.items() if place.exists()}
    return [name for name, place in there.items() if not os.statvfs(place).f_bavail]


def missed() -> list[list[str]]:
    """What the lab lacked: kind, name, command; each once, in the order of the first."""
    lines = MISSED.read_text(errors="replace").splitlines() if MISSED.exists() else []
    lines += [f"kernel\t{name}\t" for name in kernel.requested()]
    notes = [fields for line in lines if len(fields := line.split("\t")) == 3]
    first = {(kind, name): [kind, name, command] for kind, name, command in reversed(notes)}
    return list(reversed(first.values()))[:MOST_MISSED]


def make_work_folder(job: ScriptJob) -> None:
    """The user's folder under a disk in memory: what the script writes is not in the former."""
    theirs, upper, scratch = Path("/run/theirs"), WORK_DISK / "upper", WORK_DISK / "scratch"
    for folder in (WORK_DISK, theirs, WORK):
        folder.mkdir(exist_ok=True)
    size = f"size={job.disk_mib}M"
    run(["mount", "-n", "-t", "tmpfs", "-o", size, "work", str(WORK_DISK)])
    for place in DISKS.values():
        if place.is_mount():
            run(["mount", "-n", "-o", f"remount,{size}", str(place)])
    mount_share(SHARE, theirs)
    upper.mkdir()
    scratch.mkdir()
    layers = f"lowerdir={theirs},upperdir={upper},workdir={scratch}"
    run(["mount", "-n", "-t", "overlay", "-o", layers, "work", str(WORK)])


def make_descriptors_link(job: ScriptJob) -> None:
    """What bash needs for <(...), as wg-quick does; the native lab has the /dev of the machine."""
    if job.own_kernel and not os.path.lexists(DESCRIPTORS):
        DESCRIPTORS.symlink_to("/proc/self/fd")


def make_ready_for_ssh() -> None:
    """What sshd does not start without: a folder, and a key, of the lab's own chance."""
    if Path("/usr/sbin/sshd").exists():
        Path("/run/sshd").mkdir()
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/ssh_host_ed25519_key"])


def start_open_vswitch() -> None:
    """Where Debian has it, as it is without a setting."""
    database, socket = "/etc/openvswitch/conf.db", "/run/openvswitch/db.sock"
    for folder in ("/etc/openvswitch", "/run/openvswitch", "/var/log/openvswitch"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    run(["ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"])
    daemon = ["--pidfile", "--detach", "--log-file", "-vconsole:off"]
    manager = "--remote=db:Open_vSwitch,Open_vSwitch,manager_options"  # of ovs-vsctl set-manager
    # lab/mininet/light/quiet.c: fewer system calls of both daemons.
    quiet = ["env", f"LD_PRELOAD={QUIET}"] if QUIET.exists() else []
    run([*quiet, "ovsdb-server", database, f"--remote=punix:{socket}", manager, *daemon])
    run(["ovs-vsctl", "--no-wait", "init"])
    run([*quiet, "ovs-vswitchd", f"unix:{socket}", *daemon])


class Watched:
    """A script without a terminal: what it says is passed on, and what bounds it holds.

    It is passed on before any other process runs, so that the order of what is said stays.
    """

    def __init__(self, job: ScriptJob) -> None:
        self.job = job
        self.stopped = ""
        self.begun = threading.Event()
        self.left_bytes = job.output_mib << 20
        self.saying = threading.Lock()
        self.events = (RUN / "events.jsonl").open("ab", buffering=0)

    def run(self) -> tuple[int, str]:
        """Its exit status, and why it was ended before its end, if it was."""
        before_all_others()
        # Begun before the script, which may leave no room for one more thread.
        self.controllers = Controllers()
        threading.Thread(target=self.watch, daemon=True).start()
        emit("begun")  # a script that never waits leaves no time for it
        start_beside(self.job, self.say)
        with (RUN / INPUT).open("rb") as source:
            self.process = subprocess.Popen(
                self.job.argv, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                cwd=WORK, env=ENVIRONMENT, start_new_session=True,
            )  # fmt: skip
        ended = os.pidfd_open(self.process.pid)
        self.begun.set()
        self.pass_on(ended)
        self.tell_of_controllers()
        return self.process.wait(), self.stopped

    def pass_on(self, ended: int) -> None:
        """What it says, until it has ended. What it left running may go on holding the pipes.

        Args:
            ended: a descriptor that can be read when the script has ended.
        """
        decoders = {}
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ)
            for stream, pipe in ((1, self.process.stdout), (2, self.process.stderr)):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe.fileno(), selectors.EVENT_READ, stream)
                decoders[stream] = codecs.getincrementaldecoder("utf-8")("surrogateescape")
            while True:
                ready = [key for key, _ in selector.select()]
                said = [key for key in ready if key.data]
                for key in said:
                    data = os.read(key.fd, CHUNK)
                    if data:
                        self.say(key.data, decoders[key.data].decode(data))
                    else:
                        selector.unregister(key.fd)
                if not said and ready:
                    break
        for stream, decoder in decoders.items():  # the output may end within a character
            if rest := decoder.decode(b"", final=True):
                self.say(stream, rest)

    def say(self, stream: int, text: str) -> None:
        """Pass a text on; too much of it ends the script."""
        with self.saying:
            if self.left_bytes < 0:
                return
            self.left_bytes -= len(text)
            # Not emit(), which opens the host's file anew: a script may say a million things.
            event = {"event": "said", "stream": stream, "text": text}
            self.events.write(json.dumps(event).encode() + b"\n")
        if self.left_bytes < 0:
            self.stop(f"it printed more than {self.job.output_mib} MiB")

    def watch(self) -> None:
        """Say that time goes on, and end a script that takes too much of it or of processes."""
        self.begun.wait()
        before_all_others(FIRST)
        traffic, flood = Traffic(), Flood()
        end = time.monotonic() + self.job.limit_s
        while self.process.poll() is None:
            time.sleep(min(LOOK_S, max(0.0, end - time.monotonic())))
            traffic.look()
            if sentence := flood.look(traffic.now_s, traffic.latest):
                self.say(2, f"cellbed: {sentence}\n")
            self.tell_of_controllers()
            if time.monotonic() >= end:
                return self.stop(
                    f"it reached its limit of {self.job.limit_s:g} s of the lab's clock; --limit "
                    "gives it more"
                )
            if processes() > 0.9 * self.job.processes:
                return self.stop(
                    f"it had {processes()} processes, but may have {self.job.processes}"
                )
        return None

    def tell_of_controllers(self) -> None:
        """Say which of them nobody started."""
        for sentence in self.controllers.waiting():
            self.say(2, f"cellbed: {sentence}\n")

    def stop(self, why: str) -> None:
        """End the script, and say why: the power goes, and with it all that it started."""
        self.stopped = why
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Flood:
    """Ends that packets go before every process, where they leave no process any time.

    Packets without end, as of switches in a loop, then share the processor with the processes, as
    on any machine. Before, a script could not even end such a network.
    """

    def __init__(self) -> None:
        self.packets, self.at_s, self.looks = 0, 0.0, 0
        self.busy_s: float | None = None
        self.ended = False

    def look(self, now_s: float, packets: int) -> str:
        """A sentence, once, when packets have taken nearly all of the time for several looks.

        Args:
            now_s: by the lab's clock, which a look at it would move.
            packets: that the lab has sent so far. Few need no closer look, which takes time, too.
        """
        passed_s = max(now_s - self.at_s, 1e-9)
        per_s, self.packets, self.at_s = (packets - self.packets) / passed_s, packets, now_s
        if self.ended or per_s < FLOOD_PER_S:
            self.looks, self.busy_s = 0, None
            return ""
        before_s, self.busy_s = self.busy_s, softirq.busy_s()
        starved = before_s is not None and self.busy_s - before_s > FLOOD * passed_s
        self.looks = self.looks + 1 if starved else 0
        if self.looks < FLOOD_LOOKS:
            return ""
        self.ended = True
        softirq.take_turns()
        return (
            f"packets took all of the lab's processor at {now_s:.1f} s of the lab's clock: "
            f"{per_s:,.0f} packets a second; if switches are in a loop, they need a spanning tree"
        )


class Traffic:
    """Tells the host that time goes on, and how many packets the lab has sent."""

    def __init__(self) -> None:
        self.packets, self.at_s, self.repeats = 0, time.monotonic(), 0
        self.now_s, self.latest = self.at_s, 0

    def look(self) -> None:
        """Emit "alive" where a second is over, or MANY packets or repeated broadcasts were sent."""
        before, before_s = self.latest, self.now_s
        self.now_s = now = time.monotonic()
        self.latest = packets = counter("packets")
        busy = packets - before > BUSY_PER_S * (now - before_s)
        repeats = counter("repeats") if busy else self.repeats
        few = packets - self.packets < MANY and repeats - self.repeats < MANY_REPEATS
        if now - self.at_s < ALIVE_S and few:
            return
        self.packets, self.at_s, self.repeats = packets, now, counter("repeats")
        device = COUNTERS / "broadcast_device"
        emit(
            "alive",
            packets=packets,
            broadcasts=counter("broadcasts"),
            repeats=self.repeats,
            device=device.read_text().strip() if device.exists() else "",
        )


def counter(name: str) -> int:
    """Of lab/mininet/processor; 0 in a lab without it."""
    path = COUNTERS / name
    return int(path.read_text()) if path.exists() else 0


def start_beside(job: ScriptJob, say: Callable[[int, str], None]) -> None:
    """Begin what is to run beside the script, each when the one before listens.

    Raises:
        BesideError: one does not.
    """
    for command in job.beside:
        Beside(command, ENVIRONMENT, say).wait()
    if job.beside and MISSED.exists():
        BESIDE.touch()


def processes() -> int:
    """How many there are, threads counted (proc_loadavg(5): running/all)."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])


def on_terminal(job: ScriptJob) -> tuple[int, str]:
    """A person has the lab's terminal, as the controlling one: Ctrl-C reaches the script."""

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 1)

    start_beside(job, lambda _, text: print(text, end="", file=sys.stderr, flush=True))
    done = subprocess.run(
        job.argv, cwd=WORK, env=ENVIRONMENT, preexec_fn=take_terminal, check=False
    )
    return done.returncode, ""


def keep() -> None:
    """Leave on the host what was written into the script's folder and into /tmp."""
    for name, place in PLACES.items():
        target = RUN / "results" / name
        shutil.copytree(place, target, symlinks=True, ignore=no_file, copy_function=copy_with_holes)
        open_to_owner(target)


def copy_with_holes(source: str, target: str) -> None:
    """Copy a file as it is on its disk: a hole takes no room on the host either."""
    with Path(source).open("rb") as reader, Path(target).open("wb") as writer:
        size, at = os.fstat(reader.fileno()).st_size, 0
        while (at := next_data(reader.fileno(), at, size)) < size:
            end = os.lseek(reader.fileno(), at, os.SEEK_HOLE)
            reader.seek(at)
            writer.seek(at)
            while data := reader.read(min(CHUNK, end - at)):
                writer.write(data)
                at += len(data)
        writer.truncate(min(size, MOST_BYTES))
    shutil.copystat(source, target)


def next_data(file: int, at: int, size: int) -> int:
    """Where the next data of a file begin: its size, if only a hole follows."""
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return size


def open_to_owner(folder: Path) -> None:
    """Let the owner read and change all files: on the host he is seldom root, as a script is."""
    folder.chmod(folder.stat().st_mode & 0o7777 | 0o700)
    for here, folders, files in os.walk(folder):  # it opens a folder after this loop's turn
        for name, rights in [*((x, 0o700) for x in folders), *((x, 0o600) for x in files)]:
            path = Path(here, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o7777 | rights)


def no_file(folder: str, names: list[str]) -> list[str]:
    """Of a folder's names those of sockets, of devices, of what an overlay notes as removed, and
    of what a script has mounted there: that may be a folder above this one.
    """
    kept = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    here = Path(folder).stat().st_dev
    found = {name: Path(folder, name).lstat() for name in names}
    return [
        name
        for name, status in found.items()
        if status.st_dev != here or not any(is_one(status.st_mode) for is_one in kept)
    ]


if __name__ == "__main__":
    main()
