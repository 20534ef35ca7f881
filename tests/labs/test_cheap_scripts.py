# SPDX-License-Identifier: GPL-2.0-only
"""What makes Mininet scripts cheap: light commands, quiet daemons, and fewer page faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.test_scripts import cellbed, write

pytestmark = pytest.mark.lab

COMMANDS = """
import os, subprocess

def run(*words, **variables):
    env = {**os.environ, **variables}
    return subprocess.run(words, env=env, capture_output=True, text=True)

def libraries(*words):
    said = run(*words, LD_DEBUG="files").stderr
    return [name for name in ("libcrypto", "libunbound")
            if any("calling init" in line and name in line and "/light/" not in line
                   for line in said.splitlines())]

def same(*words):
    light, real = run("ovs-vsctl", *words), run("/usr/lib/cellbed/ovs-vsctl", *words)
    ours, theirs = ((x.returncode, x.stdout, x.stderr.split("|")[-1]) for x in (light, real))
    assert light.returncode and ours == theirs, (ours, theirs)

print("asks", *libraries("ovs-vsctl", "show"))
print("changes", *libraries("ovs-vsctl", "add-br", "s1"))
print("ofctl", *libraries("ovs-ofctl", "show", "s1"))
for name in ("vsctl", "ofctl"):
    print(run(f"ovs-{name}", "--version").stdout.split(" (")[0])
print(run("ovs-vsctl", "list-br").stdout.strip(), run("ovs-vsctl", "no-such").returncode)
print(subprocess.check_output(["a", "list-br"], executable="/usr/bin/ovs-vsctl", text=True), end="")
same("--timeout=5", "--db=ssl:127.0.0.1:6640", "show")
same("--timeout=5", "--db=tcp:nowhere.example:6640", "show")
for daemon in ("ovsdb-server", "ovs-vswitchd"):
    number = run("pidof", daemon).stdout.strip()
    print(daemon, "/usr/lib/cellbed/quiet.so" in open(f"/proc/{number}/maps").read())
"""
COMMANDS_SAID = """\
asks
changes libcrypto libunbound
ofctl libcrypto libunbound
ovs-vsctl
ovs-ofctl
s1 1
s1
ovsdb-server True
ovs-vswitchd True
"""
# The mapping has a size of its own, by which smaps shows it. Of 15 written pages, one is written
# between two forks.
FAULTS = """
import mmap, os

PAGE = 4096

def kib(name):
    for text in open("/proc/self/smaps").read().split("VmFlags")[:-1]:
        sizes = dict(line.split()[:2] for line in text.splitlines() if line.endswith("kB"))
        if sizes["Size:"] == "444":
            return int(sizes[name + ":"])

def new():
    return mmap.mmap(-1, 444 << 10, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

memory = new()
for page in range(4):
    memory[page * PAGE] = 1
print("in order", kib("Rss") > 4 * 4)
memory.close()

memory = new()
for page in range(0, 100, 7):
    memory[page * PAGE] = 1
print("here and there", kib("Rss") == 15 * 4)

def fork():
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        shared = kib("Shared_Dirty")
        seen = memory[7 * PAGE]
        memory[7 * PAGE] = 99
        os.write(writer, f"{shared} {seen}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reader, 99).decode(), memory[7 * PAGE]

print("first fork", *fork())
memory[7 * PAGE] = 2
print("second fork", *fork())
memory[7 * PAGE] = 3
print("third fork", *fork())
"""
FAULTS_SAID = """\
in order True
here and there True
first fork 60 1 1
second fork 56 2 2
third fork 56 3 3
"""
# Each child joins a group when it is made, so only what it then takes counts for the limit.
LIMITED = """
import itertools, mmap, os

PAGE, PAGES = 4096, 300
numbers = itertools.count()

def within(pages, what):
    group = f"/sys/fs/cgroup/memory/{next(numbers)}"
    os.mkdir(group)
    with open(group + "/memory.limit_in_bytes", "w") as limit:
        limit.write(str(pages * PAGE))
    child = os.fork()
    if not child:
        try:
            with open(group + "/tasks", "w") as tasks:
                tasks.write(str(os.getpid()))
            what()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]

def written(order):
    memory = mmap.mmap(-1, PAGES * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in order:
        memory[page * PAGE] = 1
    return memory

def forks():
    memory = written(range(PAGES))
    for _ in range(4):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        for page in range(PAGES):
            memory[page * PAGE] = 2

def least(order):
    return next(n for n in range(PAGES, 2 * PAGES) if not within(n, lambda: written(order)))

in_order, backward = least(range(PAGES)), least(range(PAGES - 1, -1, -1))
print("limits differ by at most two pages", abs(in_order - backward) <= 2)
ended = [within(pages, forks) for pages in range(PAGES, 2 * PAGES, 3)]
print("forks", ended[0] != 0, ended[-1] == 0)
"""
LIMITED_SAID = """\
limits differ by at most two pages True
forks True True
"""
# A map that a program has not written to shows what the file has now, as Linux does elsewhere.
PRIVATE = """
import mmap, os

PAGE, PAGES = 4096, 8
file = os.open("private", os.O_RDWR | os.O_CREAT)
os.write(file, b"o" * PAGE * PAGES)
memory = mmap.mmap(file, PAGE * PAGES, mmap.MAP_PRIVATE)
for page in range(4):
    memory[page * PAGE] = 0
os.pwrite(file, b"n" * PAGE * PAGES, 0)
print("".join(chr(memory[page * PAGE + 1]) for page in range(PAGES)))
"""


def check(folder: Path, script: str, said: str) -> None:
    """Run the script in a lab; it must print this."""
    write(folder, {"script.py": script})
    done = cellbed(folder, "mininet", "script.py")
    assert (done.returncode, done.stdout) == (0, said), done.stderr


def test_commands_that_ask_need_few_libraries_and_daemons_ask_less(tmp_path: Path) -> None:
    check(tmp_path, COMMANDS, COMMANDS_SAID)


def test_a_fault_and_a_fork_do_what_the_next_writes_need(tmp_path: Path) -> None:
    check(tmp_path, FAULTS, FAULTS_SAID)


def test_a_limit_of_memory_is_what_a_program_needs_and_a_fork_may_fail(tmp_path: Path) -> None:
    check(tmp_path, LIMITED, LIMITED_SAID)


def test_pages_of_a_file_that_is_written_are_not_copied_ahead(tmp_path: Path) -> None:
    check(tmp_path, PRIVATE, "oooonnnn\n")
