# SPDX-License-Identifier: GPL-2.0-only
"""Notes what a command says that the lab lacks; Node.cmd() may throw it away.

Only what a lab can lack is noted. That a link is already there or no longer there is no such thing.
Besides it notes what makes a script wrong in silence on any machine: a command that the shell does
not run, as it cannot write its output; an error that Mininet tells on one line of many.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

NOTES = "/run/cellbed-missed"
BESIDE = "/run/cellbed-beside"  # is there if a controller runs beside the script (beside.py)
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
SHELL = r"(?:sudo|\S*sh): (?:line )?(?:\d+: )?"
NO_FILE = "(?:No such file or directory|nonexistent directory|Permission denied)"
NOT = "((?:Operation|Protocol|Address family) not supported(?: by protocol)?)"
SAID = [
    ("command", rf"{SHELL}([\w.+-]+): command not found"),
    ("command", r"\S+: \d+: ([\w.+-]+): not found"),
    ("command", r"(?:env|nohup|timeout|nice|stdbuf): .*[‘']([\w.+-]+)[’']: No such file.*"),
    ("program", r"bash: (\S*/\S+): No such file or directory"),
    ("unwritten", r"bash: (\S*/\S+): No such file or directory"),
    ("python", r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?.*"),
    ("python", r"\S*python\S*: No module named ([\w.]+).*"),
    ("sysctl", r"sysctl: cannot stat /proc/sys/(\S+): No such file or directory"),
    ("sysctl", rf".*sh: .*/proc/sys/(\S+): {NO_FILE}"),
    ("module", r"modprobe: FATAL: Module (\S+) not found in directory \S+"),
    ("refused", rf"(?:RTNETLINK answers|Error|ioctl.*|socket|\w+): .*{NOT}"),
    ("refused", r"((?:Unknown|unknown) (?:qdisc|filter|action|type) \S+),? ?.*"),
]
PATTERNS = [(kind, re.compile(said)) for kind, said in SAID]
COLOUR = re.compile(r"\x1b\[[\d;]*m")  # of Python's messages on a terminal, as a node's shell has
# What a shell says besides: the number of a process, and that it is ready.
MARKS = re.compile(r"\x01\d*|\x7f|\s")
# Mininet 1's, and the first of Mininet 2's, for which there are other names now.
OLD = {"add_node": "addHost() and addSwitch()", "add_edge": "addLink()", "enable_all": "",
       "add_host": "addHost()", "add_switch": "addSwitch()", "add_link": "addLink()"}  # fmt: skip
WORDS = "not found|No such file|No module|nonexistent|not supported|Unknown|unknown|Permission"
QUICK = re.compile(WORDS)


def listen(node: Any, text: str) -> None:
    """Look at what a node's shell says, whole lines only.

    Args:
        node: of Mininet.
        text: what was read from its shell.
    """
    node.silent = getattr(node, "silent", True) and not MARKS.sub("", text)
    *lines, node.unheard = (getattr(node, "unheard", "") + text).split("\n")
    for line in lines:
        look(line, node.lastCmd)


def look(line: str, command: Any) -> None:
    """Note the line if it says that the lab lacks something."""
    if not QUICK.search(line):
        return
    line = COLOUR.sub("", line).strip().replace("\x7f", "")
    text = " ".join(command if isinstance(command, (list, tuple)) else str(command or "").split())
    for kind, pattern in PATTERNS:
        found = pattern.fullmatch(line)
        if found and PLACES.get(kind, anywhere)(found[1], text):
            note(kind, found[1], text)
            return


def anywhere(_name: str, _command: str) -> bool:
    """What is lacking is so wherever the command names it."""
    return True


def starts(path: str, command: str) -> bool:
    """Is the path the program of a command, and no file that it reads or writes?"""
    return (
        re.search(rf"(?:^|[;&|(]\s*|\bsudo\s+){re.escape(path)}(?:\s|$|[;&|)])", command)
        is not None
    )


def written(path: str, command: str) -> bool:
    """Is the path a file that the command's output goes to? Then the shell did not run it."""
    return re.search(rf">\s*[\"']?{re.escape(path)}", command) is not None


PLACES = {"program": starts, "unwritten": written}


def telling(error: Callable[..., None]) -> Callable[..., None]:
    """Mininet's error(), which notes the first line of what it tells.

    Args:
        error: of mininet.log.
    """

    def told(*said: object) -> None:
        error(*said)
        lines = " ".join(map(str, said)).strip().splitlines()
        if lines:
            note("error", lines[0].removeprefix("*** ")[:200].replace("\t", " "), "")

    return told


def note(kind: str, name: str, command: str) -> None:
    """Append it for the lab (harness/scripts/lab.py)."""
    with open(NOTES, "a", errors="replace") as notes:  # noqa: PTH123 (no package of ours is here)
        notes.write(f"{kind}\t{name}\t{command[:200]}\n")


def failed(node: Any, command: str) -> None:
    """Note a command of the prompt that failed and said nothing.

    Args:
        node: of Mininet, whose silent was True before the command.
    """
    if not node.silent:
        return
    status = node.cmd("echo $?").strip()
    if status.isdigit() and status != "0":
        note("silent", status, f"{node.name} {command}")


def old_name(owner: Any, name: str) -> AttributeError:
    """The error of a name that an object has not; noted if it is one of an old Mininet's."""
    if name in OLD:
        note("mininet", name, OLD[name])
    said = f"{type(owner).__name__!r} object has no attribute {name!r}"
    return AttributeError(said, name=name, obj=owner)


def take_address(controller: Any) -> None:
    """Give this machine the address of a remote controller, if one runs beside the script.

    Args:
        controller: of Mininet.
    """
    if not os.path.exists(BESIDE) or not ADDRESS.fullmatch(str(controller.ip)):  # noqa: PTH110
        return
    if controller.ip.startswith(("127.", "0.")):
        return
    routed = controller.cmd(f"ip route get {controller.ip}")
    if not routed.startswith("local") and "dev" not in routed:
        controller.cmd(f"ip address add {controller.ip}/32 dev lo")
        note("controller", controller.ip, "")
