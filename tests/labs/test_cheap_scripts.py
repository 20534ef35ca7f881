# SPDX-License-Identifier: GPL-2.0-only
"""What makes Mininet scripts cheap: light commands and quiet daemons."""

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
ovsdb-server True
ovs-vswitchd True
"""


def test_commands_that_ask_need_few_libraries_and_daemons_ask_less(tmp_path: Path) -> None:
    write(tmp_path, {"commands.py": COMMANDS})
    done = cellbed(tmp_path, "mininet", "commands.py")
    assert (done.returncode, done.stdout) == (0, COMMANDS_SAID), done.stderr
