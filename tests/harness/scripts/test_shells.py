# SPDX-License-Identifier: GPL-2.0-only
"""What a shell other than bash says of commands that are not there, in a script's output."""

from __future__ import annotations

import pytest

from harness.scripts import shells
from harness.scripts.host import MOST, Heard

BEGIN = "the image has no such command"
ADDS = "--package NAME adds the package of Debian that has it"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("sh: 1: nosuch: not found\n", f"nosuch: {BEGIN}; {ADDS}"),
        ("/bin/sh: 1: tshark: not found\r\n", f"tshark: {BEGIN}; try --package tshark"),
        ("it said: /bin/sh: 1: nosuch: not found\n", f"nosuch: {BEGIN}; {ADDS}"),
        ("./run.sh: 12: nosuch: not found\n", f"nosuch: {BEGIN}; {ADDS}"),
        ("sudo: tshark: command not found\n", f"tshark: {BEGIN}; try --package tshark"),
        ("timeout: failed to run command ‘nosuch’: No such file or directory\n",
         f"nosuch: {BEGIN}; {ADDS}"),
        ("sudo: apt-get: command not found\n",
         f"apt-get: {BEGIN}, and the lab has no Internet access; --package NAME adds a package"),
        ("sh: 1: pip: not found\n",
         f"pip: {BEGIN}, and the lab has no Internet access; --pip NAME adds a package"),
        ("ping: google.com: Temporary failure in name resolution\n", shells.NO_INTERNET),
        ("curl: (6) Could not resolve host: example.com\n", shells.NO_INTERNET),
        ("--- 8.8.8.8 ping statistics ---\r\n3 packets transmitted, 0 received, 100% packet loss\n",
         "8.8.8.8 did not answer a ping: the lab has no Internet access"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_once(said: str, sentence: str) -> None:
    heard = Heard()
    heard.listen(f"before\n{said[:9]}")
    heard.listen(said[9:])
    heard.listen(said)
    assert heard.sentences() == [sentence]


def test_a_program_with_its_folder_is_told() -> None:
    heard = Heard()
    heard.listen("sh: 1: /opt/nosuch/bin/player: not found\n")
    assert heard.sentences() == [
        "/opt/nosuch/bin/player: the lab has no such program; "
        "it has the script's folder and Debian's packages"
    ]


@pytest.mark.parametrize(
    "said",
    [
        "sh: 1: source: not found\n",  # a word of bash, which Debian's sh has nowhere
        "sh: 1: ./client: not found\n",  # of the script's own folder
        "host not found\n",
        "main.c:12: foo: not found\n",
        "the table: 3: rows: not found in it\n",
        "cat: nofile: No such file or directory\n",
        "--- 10.0.0.9 ping statistics ---\n3 packets transmitted, 0 received\n",  # of the script
        "--- 8.8.8.8 ping statistics ---\n3 packets transmitted, 3 received\n",  # a host's address
        "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.03 ms\n",
    ],
)
def test_what_happens_on_any_machine_is_not_told(said: str) -> None:
    heard = Heard()
    heard.listen(said)
    assert heard.sentences() == []


def test_a_script_that_asks_for_a_thousand_names_gets_few_lines() -> None:
    heard = Heard()
    heard.listen("".join(f"sh: 1: no{i}: not found\n" for i in range(1000)))
    assert len(heard.sentences()) == MOST
