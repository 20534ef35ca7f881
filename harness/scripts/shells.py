# SPDX-License-Identifier: GPL-2.0-only
"""Hears in a script's output that a shell other than bash did not find a command. On the host."""

from __future__ import annotations

import re
from collections.abc import Iterator

# dash, which is Debian's sh and the shell of os.system(), and two programs that start others.
SAID = re.compile(
    r"(?:(?:^\S+|(?<!\S)(?:/bin/)?sh): \d+: (?P<sh>/?[\w.+-][\w.+/-]*): not found"
    r"|^sudo: (?P<sudo>[\w.+-]+): command not found"
    r"|^(?:env|nohup|timeout|nice|stdbuf): .*[‘'](?P<other>[\w.+-]+)['’]: No such file or directory"
    r")\r?\n",
    re.MULTILINE,
)
# Words of bash that dash has on no machine.
OF_BASH = ("declare", "disown", "function", "let", "popd", "pushd", "shopt", "source", "typeset")
# What looks up a name in the Internet says so, each in its words.
LOOKED_UP = re.compile(
    r"Temporary failure in name resolution|Could not resolve host"
    r"|unable to resolve host address|no servers could be reached"
)
NO_INTERNET = (
    "a program could not look up a name: the lab has no Internet access, and no DNS server but "
    "those that the script starts"
)
# Addresses that only the Internet has. A script's own network may have most other addresses.
PUBLIC = ("8.8.8.8", "8.8.4.4", "114.114.114.114", "208.67.222.222")
NO_ANSWER = re.compile(
    rf"^--- (?P<address>{'|'.join(map(re.escape, PUBLIC))}) ping statistics ---\r?\n"
    r"\d+ packets transmitted, 0 received",
    re.MULTILINE,
)


def no_answer(address: str) -> str:
    """Why a ping to an address of the Internet got no answer."""
    return f"{address} did not answer a ping: the lab has no Internet access"


def not_found(text: str) -> Iterator[tuple[str, str, str]]:
    """Notes, as of lab.py: kind, name and command."""
    for found in SAID.finditer(text):
        name = found["sh"] or found["sudo"] or found["other"]
        if name.startswith("/"):
            yield "program", name, ""
        elif "/" not in name and name not in OF_BASH:
            yield "command", name, ""
