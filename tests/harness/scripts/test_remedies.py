# SPDX-License-Identifier: GPL-2.0-only
"""What a lab lacked, in sentences; and no sentence for what does no harm. No lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host import paths
from harness.scripts import remedies
from harness.scripts.host import Heard

TOLD = [
    ("command", "vconfig", "vconfig: the image has no such command; try --package vlan"),
    ("command", "python2.7", "python2.7: the image has no such command; try --python2"),
    ("command", "xterm", "xterm: the image has no such command, because a program in the lab "
     "cannot open a window"),
    ("command", "foo", "foo: the image has no such command; --package NAME adds the package of "
     "Debian that has it"),
    ("program", "./stp", "./stp: the lab has no such program; it has the script's folder and "
     "Debian's packages"),
    ("python", "Tkinter", "Tkinter: the image has no such Python module; it opens windows, and a "
     "program in the lab cannot open a window"),
    ("python", "yaml.nodes", "yaml.nodes: the image has no such Python module, and no yaml.py lies "
     "beside the script; try --package python3-yaml or, if Debian has no such package, --pip "
     "pyyaml"),
    ("python", "lib.revent", "lib.revent: the image has no such Python module, and no lib.py lies "
     "beside the script; by its name, lib is a file or a folder of the script's own repository"),
    ("python", "imp", "imp: the image has no such Python module, because Python 3.12 took it out; "
     "try --pip zombie-imp, which has a copy"),
    ("python", "mininet.examples", "mininet.examples: the image has no such Python module; it has "
     "Mininet 2.3.0"),
    ("python", "ConfigParser", "ConfigParser: the image has no such Python module, because this "
     "module is of Python 2; try --python2"),
    ("command", "systemctl", "systemctl: the image has no such command, because the lab starts no "
     "services; start the service's own program"),
    ("sysctl", "net/ipv4/tcp_none", "net.ipv4.tcp_none: the lab's kernel has no such setting "
     "(sysctl)"),
    ("module", "tcp_probe", "tcp_probe: the lab's kernel has no such module"),
    ("refused", "Operation not supported", "ip x: the lab answered 'Operation not supported'"),
    ("kernel", "net-sch-sfb", "the lab's kernel has no queue discipline sfb (tc qdisc)"),
    ("kernel", "rtnl-link-macvlan", "the lab's kernel has no network device of the type macvlan "
     "(ip link)"),
    ("kernel", "8021q", "the lab's kernel has no VLAN device (vconfig)"),
    ("kernel", "ip6t_REJECT", "the lab's kernel has no table, match or target REJECT (iptables)"),
    ("kernel", "tcp_htcp", "the lab's kernel has no congestion control htcp"),
    ("silent", "28", "ip x: this command said nothing and ended with status 28"),
    ("unwritten", "logs/r1", "ip x: not run, because the folder logs does not exist"),
    ("error", "src not in network: s1", "Mininet reported an error: src not in network: s1"),
    ("mininet", "add_link", "add_link(): the script was written for Mininet 1, and the lab has "
     "2.3; in Mininet 2 it is ip x"),
    ("controller", "192.0.2.7", "the controller of --beside had the address 192.0.2.7, which the "
     "script names"),
]  # fmt: skip
HARMLESS = [
    ("kernel", "net-pf-10"),  # most programs try IPv6 first
    ("kernel", "netdev-h1-eth7"),  # a device that is not there
    ("kernel", "net-pf-16-proto-16-family-ovs_ct_limit"),
    ("kernel", "rtnl-link-ovs_geneve"),  # a second Open vSwitch asks; the kernel's own is there
    ("kernel", "net-pf-31"),  # tcpdump looks for Bluetooth
    ("kernel", "binfmt-464c"),
    ("command", "netplan"),  # of Mininet's NAT
    ("sysctl", "net/ipv6/conf/all/disable_ipv6"),
    ("sysctl", "net/bridge/bridge-nf-call-iptables"),  # Mininet's LinuxBridge warns of a 1
]


@pytest.mark.parametrize(("kind", "name", "sentence"), TOLD)
def test_what_was_not_there_has_its_sentence(
    kind: str, name: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remedies, "packages", lambda: {"vconfig": "vlan"})
    assert remedies.sentences([[kind, name, "ip x"]]) == [sentence]


@pytest.mark.parametrize(("kind", "name"), HARMLESS)
def test_what_does_no_harm_has_none(kind: str, name: str) -> None:
    assert remedies.sentences([[kind, name, "a command"]]) == []


def test_the_same_is_told_once() -> None:
    notes = [["module", "x", "modprobe x"], ["module", "x", "modprobe -v x"]]
    assert len(remedies.sentences(notes)) == 1


def test_a_note_that_would_move_the_cursor_is_not_told() -> None:
    assert remedies.sentences([["command", "a\x1b[2Jb", ""]]) == []


def test_a_program_in_another_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "places", lambda: {"mininet": tmp_path})
    monkeypatch.setattr(remedies, "packages", lambda: {"birdc": "bird2"})
    (tmp_path / "usr" / "sbin").mkdir(parents=True)
    (tmp_path / "usr" / "sbin" / "zebra").symlink_to("nowhere")
    told = [("~/quagga/zebra", "the image has it as /usr/sbin/zebra"),
            ("/opt/birdc", "--package bird2 adds birdc, in a folder of Debian's")]  # fmt: skip
    for path, remedy in told:
        begin = f"{path}: the lab has no such program; "
        assert remedies.sentences([["program", path, ""]]) == [f"{begin}{remedy}"]


def test_a_program_that_python_does_not_find_is_told_but_not_a_file() -> None:
    heard = Heard()
    for name in ("git", "notes", "git"):
        heard.listen(f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'\n")
    assert heard.sentences() == ["git: the image has no such command; try --package git"]


REPORT = """[  1] Server Report:
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  1] 0.0000-5.0762 sec  2.96 MBytes  4.88 Mbits/sec   {} ms {}
"""


@pytest.mark.parametrize(
    ("jitter", "lost", "wrong"),
    [
        ("0.000", "1462/3570 (0%)", True),
        ("0.000", "0/3570 (0%)", False),
        ("0.587", "1462/3570 (41%)", False),
        ("0.000", "1462/3570 (41%)", False),
    ],
)
def test_a_wrong_report_of_iperf_is_told(jitter: str, lost: str, wrong: bool) -> None:
    heard = Heard()
    for line in REPORT.format(jitter, lost).splitlines(keepends=True):
        heard.listen(line)
    told = [sentence for sentence in heard.sentences() if "a client of iperf -u" in sentence]
    assert bool(told) == wrong


def test_commands_whose_output_has_no_folder_have_one_sentence() -> None:
    notes = [["unwritten", f"logs/r{n}", f"zebra > logs/r{n}"] for n in (1, 2, 2, 3)]
    assert remedies.sentences(notes) == [
        "zebra > logs/r1: not run, because the folder logs does not exist; so it is with 2 more of"
        " the commands"
    ]
