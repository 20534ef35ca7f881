# SPDX-License-Identifier: GPL-2.0-only
"""The boundary around a lab's kernel, which is a process of the host and runs what a lab is given.

Root in a User-Mode Linux can become its kernel (hostfs, modules), so the kernel's process is
given nothing to reach: user, mount, process, network, IPC and host name namespaces of its own, in
which there is a root of memory with the folders of View and nothing else. There is no /proc of
the host, no /sys, of devices the null one; no capability, and what refused.py names fails.

The caller is root inside: the files that are his look as root's to the lab.
"""

from __future__ import annotations

import ctypes
import os
import resource
import stat

from harness.supervisor import syscalls
from harness.supervisor.refused import refuse
from harness.supervisor.syscalls import SIGCHLD, SIGKILL, attach, copied_tree, mount, prctl, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import NoReturn

# CLONE_NEW*: user, mount, process, network, IPC, host name and control group.
NEW_NAMESPACES = 0x10000000 | 0x20000 | 0x20000000 | 0x40000000 | 0x8000000 | 0x4000000 | 0x2000000
# Attributes of mounts, and flags of mount(2), of the same value.
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXECUTION = 1, 2, 4, 8
REMOUNT, RECURSIVE, PRIVATE, DETACH = 0x20, 0x4000, 1 << 18, 2
# hostfs asks the host whether a file may be executed: the image's and others' may.
SHARED = READ_ONLY | NO_SUID | NO_DEVICES
DEVICE = READ_ONLY | NO_SUID | NO_EXECUTION
WRITABLE = NO_SUID | NO_DEVICES
MEMORY = "/memory"
# What the first process becomes to wait (lab/programs/first.c).
FIRST = "host/programs/first"
# The lab's memory is a file that may be as large, and has a little beside it.
BESIDE_MIB = 64
READY, LOST = b".", b"!"

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 1, 24, 28, 38
ROOT_IS_NOBODY = 0xEF  # no capabilities for being root, none kept, and all of it locked
CAPABILITY_VERSION = 0x20080522
CAPABILITIES = 64


class LostError(Exception):
    """A folder that the lab was to be given cannot be had; to go without a boundary is no answer.

    Else whoever owns that folder could choose to have none: by its rights, or by moving it away.
    """


class View:
    """What there is inside. No dataclass: its module would cost each lab 1.5 MiB.

    Attributes:
        run: the lab's own folder, in its place, writable but for the inbox.
        given: in `run`/host, by name: folders and files to read, at their places outside, of
            which no part is a symbolic link by now.
        asked: names of those that are another's, it may be.
        libraries: what the command is linked with, in their places.
        memory_mib: how large the lab's memory may become.
    """

    def __init__(
        self,
        run: str,
        given: Mapping[str, str],
        asked: Sequence[str],
        libraries: Sequence[str],
        memory_mib: int,
    ) -> None:
        self.run = run
        self.given = given
        self.asked = asked
        self.libraries = libraries
        self.memory_mib = memory_mib


def start(view: View, command: Callable[[], NoReturn]) -> int:
    """Start a process inside that becomes the command; returns the first process's number.

    That one takes all others along when it ends, and ends with the calling process.

    Raises:
        OSError: there is no boundary to be had here; nothing was started.
        LostError: what was asked for cannot be put into one; nothing was started.
    """
    ids = os.geteuid(), os.getegid()
    said, say = os.pipe()
    try:
        pid = syscall(syscalls.CLONE, NEW_NAMESPACES | SIGCHLD, 0, 0, 0, 0)  # as fork(2)
    except OSError as error:
        os.close(said)
        os.close(say)
        raise OSError(f"no new namespaces: {error.strerror}") from error
    if pid == 0:
        os.close(said)
        first_process(view, command, ids, say)
    os.close(say)
    with os.fdopen(said, "rb") as stream:
        word = stream.read()
    if word != READY:
        os.waitpid(pid, 0)
        if word.startswith(LOST):
            raise LostError(word[len(LOST) :].decode(errors="replace"))
        raise OSError(word.decode(errors="replace") or "its first process was killed")
    return pid


def first_process(
    view: View, command: Callable[[], NoReturn], ids: tuple[int, int], say: int
) -> NoReturn:
    """Go in, start the command, wait for its end, and end as it did.

    The command is not the first process itself, to which its own signals would do nothing.
    """
    try:
        prctl(PR_SET_PDEATHSIG, SIGKILL)
        os.setsid()  # no signal to its group reaches the caller
        become_root(*ids)
        enter(view)
        keep_only(0, 1, 2, say)
        give_up_rights()
        os.write(say, READY)  # fails where the caller ended before there was a signal for that
        os.close(say)
        pid = os.fork()
        if pid == 0:
            os.environ["TMPDIR"] = MEMORY
            command()
        try:
            os.execv(FIRST, [FIRST, str(pid)])
        except OSError:  # a test may bring programs of its own
            pass
        while True:
            ended, status = os.wait()
            if ended == pid:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)
    except BaseException as error:  # noqa: BLE001 (nothing of the caller's is to run here)
        mark = LOST if isinstance(error, LostError) else b""
        try:
            os.write(say, mark + str(error).encode(errors="replace"))
        except OSError:
            pass
    finally:
        os._exit(1)


def become_root(user: int, group: int) -> None:
    """The caller, and nobody else, is root of the new user namespace."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def enter(view: View) -> None:
    """Make the root that a View describes, and leave the host's behind."""
    syscall(syscalls.MOUNT, b"none", b"/", b"", RECURSIVE | PRIVATE, 0)
    trees = [(tree(view, path, kind), place) for path, place, kind in mounts(view)]
    # Over a folder of which a copy is held: nothing else is hidden by it.
    mount("tmpfs", view.run, NO_SUID | NO_DEVICES, "mode=755,size=1m")
    os.chdir(view.run)
    for source, place in trees:
        put(source, f".{place}")
        if place == view.run:  # the names of what is given are in it
            mount("tmpfs", f".{view.run}/host", NO_SUID | NO_DEVICES, "mode=755,size=1m")
            os.symlink(view.run, f".{view.run}/host/run")
    os.makedirs("proc/self")
    os.symlink(view.run, "proc/self/cwd")  # by which the boot line names all folders
    os.mkdir(f".{MEMORY}")
    size = f"mode=700,size={view.memory_mib + BESIDE_MIB}m"
    mount("tmpfs", f".{MEMORY}", NO_SUID | NO_DEVICES, size)
    for place in (f"{view.run}/host", ""):
        read_only = REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES
        mount("tmpfs", f".{place}", read_only, "mode=755,size=1m")
    syscall(syscalls.PIVOT_ROOT, b".", b".")
    syscall(syscalls.UMOUNT2, b".", DETACH)
    os.chdir(view.run)


def mounts(view: View) -> Iterator[tuple[str, str, int]]:
    """What is mounted: where it is outside, where inside, and its attributes."""
    yield view.run, view.run, WRITABLE
    # Where the host goes on writing and reading: a link in their places would lead it elsewhere.
    for name, kind in (
        ("inbox", SHARED),
        ("results", WRITABLE),
        ("events.jsonl", WRITABLE),
        ("console.log", SHARED),
    ):
        yield f"{view.run}/{name}", f"{view.run}/{name}", kind
    for name, path in view.given.items():
        yield path, f"{view.run}/host/{name}", SHARED
    for path in view.libraries:
        yield path, path, SHARED
    yield "/dev/null", "/dev/null", DEVICE
    yield "/proc/cpuinfo", "/proc/cpuinfo", SHARED


def tree(view: View, path: str, attributes: int) -> int:
    """copied_tree(), whose error names the path; LostError for one that was asked for."""
    try:
        return copied_tree(path, attributes, links=path in view.libraries)
    except OSError as error:
        if path in [view.given[name] for name in view.asked]:
            raise LostError(f"{path}: {error.strerror}") from error
        raise OSError(error.errno, error.strerror, path) from error


def put(source: int, place: str) -> None:
    """Attach a file or a folder at a place that is made for it."""
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
    attach(source, place)


def keep_only(*descriptors: int) -> None:
    """Close every other one: a folder's would lead out."""
    first = 0
    for descriptor in [*sorted(descriptors), 1 << 30]:
        if first < descriptor:
            syscall(syscalls.CLOSE_RANGE, first, descriptor - 1, 0)
        first = descriptor + 1


def give_up_rights() -> None:
    """No capability, none to be had by executing anything, and no call that refused.py names."""
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    for capability in range(CAPABILITIES):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # the host's kernel has not so many
            pass
    prctl(PR_SET_SECUREBITS, ROOT_IS_NOBODY)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    syscall(syscalls.CAPSET, bytes(header), bytes(none))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    refuse()
