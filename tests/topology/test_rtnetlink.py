# SPDX-License-Identifier: GPL-2.0-only
"""Requests over netlink: made in their order in one call, and a refused one is named.

In a lab, a request leaves what the words for ip or tc leave.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import scripts_in_lab
from tests.scripts_in_lab import Said
from tests.small import PROJECT

UNSHARE = ["unshare", "--user", "--map-root-user", "--net"]
LOOPBACK = 1


def in_a_namespace(requests: str) -> subprocess.CompletedProcess[str]:
    code = "from topology import netlink, rtnetlink as n\n"
    code += f"n.apply(netlink.open_here(), [{requests}])\n"
    code += "print(open('/proc/net/route').read())"
    return subprocess.run(
        [*UNSHARE, sys.executable, "-c", code],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_all_are_made() -> None:
    done = in_a_namespace(
        f"n.link_up({LOOPBACK}), n.address({LOOPBACK}, '10.1.0.2', 8),"
        f" n.route({LOOPBACK}, '10.2.0.2', '10.1.0.2')"
    )
    assert done.returncode == 0, done.stderr
    # One route, to 10.2.0.2: none came with the address.
    assert [line.split()[1] for line in done.stdout.strip().splitlines()[1:]] == ["0200020A"]


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ("n.link_up(77)", "link 77 up: No such device"),
        (f"n.link_up({LOOPBACK}), n.route(77, '10.2.0.2', '10.1.0.2')", "route 10.2.0.2: "),
        (f"n.neighbour(77, '10.2.0.2', '02:00:00:00:00:01'), n.link_up({LOOPBACK})",
         "neighbour 10.2.0.2: No such device"),
    ],
)  # fmt: skip
def test_a_refused_one_is_named(requests: str, said: str) -> None:
    done = in_a_namespace(requests)
    assert done.returncode == 1 and f"NetlinkError: the kernel refused {said}" in done.stderr


def test_the_mtu_is_what_was_asked_for() -> None:
    code = "from topology import netlink, rtnetlink as n\n"
    code += f"link = netlink.open_here(); n.apply(link, [n.mtu({LOOPBACK}, 1064)])\n"
    code += "print(*netlink.mtus(link), *netlink.netem_delays(link))"
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-c", code],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert f"({LOOPBACK}, 'lo', 1064)" in done.stdout, done.stderr


PYTHON = """
python() { python3 -c "import socket
from plan.framing import ATM
from plan.layout import Link
from topology import commands, netlink, rtnetlink as n
from topology.rtnetlink import Device
index = socket.if_nametoindex
link = Link(rate_bit_per_s=149_760_000, delay_ns=5_000_000, framing=ATM)
$1"; }
request() { python "n.apply(netlink.open_here(), [$1])"; }
words() { python "print($1)" | tc -batch -; }
"""
DEVICE = f"{PYTHON}ip link add name v1 type veth peer name v2; ip link set v1 up\n"
SHOW = "tc -d qdisc show dev v1 | sed 's/ [0-9a-f]*: root/ root/; s/ seed .*//'\n"
# Name: the words, the request.
QDISCS = {
    "access": ("commands.access_netem('v1', link)", "commands.access_link(index('v1'), link)"),
    "constant": ("commands.box_delay('v1', link)", "commands.constant_delay(index('v1'), link)"),
    "departures": ("commands.departure_fq('v1')", "commands.departures(index('v1'))"),
}
SCRIPTS = {
    name: f'{DEVICE}words "{words}"\n{SHOW}tc qdisc del dev v1 root\nrequest "{request}"\n{SHOW}'
    for name, (words, request) in QDISCS.items()
} | {
    "none": f"{DEVICE}request \"commands.departures(index('v1'))\"\n"
    f"request \"n.no_qdisc(index('v1'))\"\n{SHOW}",
    "pair": f"{PYTHON}ip link add name v1 index 7 mtu 1064 gso_max_segs 1 type veth"
    " peer name v2 index 9 address 02:00:00:00:00:01 mtu 1064 gso_max_segs 1\n"
    "ip link set dev v1 address 02:00:00:00:00:02 up\nsleep 1\nip -d link\nip link del v1\n"
    "request \"n.veth(Device(name='v1', index=7, mac='02:00:00:00:00:02'),"
    " Device(name='v2', index=9, mac='02:00:00:00:00:01'), 1064), n.named_up('v1')\"\nsleep 1\n"
    "ip -d link",
    "elsewhere": f"{PYTHON}unshare --net sleep 100 & there=$!\nsleep 1\n"
    "request \"n.veth(Device(name='v1'), Device(name='v2', pid=$there), 1064)\"\n"
    "ip -br link show v1\nnsenter --net --target $there ip -br link show v2\nkill $there",
    "many": f"{PYTHON}request \"*[n.address(1, f'10.1.{{at // 250}}.{{at % 250}}', 8)"
    " for at in range(1200)]\"\nip -4 address show dev lo | grep -c 'inet 10'",
    "late": f'{PYTHON}request "*[n.link_up(1)] * 700, n.link_up(77)"',
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    return scripts_in_lab.run(SCRIPTS, tmp_path_factory.mktemp("rtnetlink"))


@pytest.mark.lab
@pytest.mark.parametrize("name", QDISCS)
def test_a_request_leaves_the_qdisc_of_its_words(said: dict[str, Said], name: str) -> None:
    words, request = said[name].out.splitlines()
    assert words == request and " root " in words and said[name].err == ""


@pytest.mark.lab
def test_a_qdisc_is_removed(said: dict[str, Said]) -> None:
    assert said["none"].out.startswith("qdisc noqueue root") and said["none"].err == ""


@pytest.mark.lab
def test_a_pair_of_devices_is_that_of_ip(said: dict[str, Said]) -> None:
    lines = said["pair"].out.splitlines()
    half = len(lines) // 2
    assert lines[:half] == lines[half:] and "gso_max_segs 1 " in said["pair"].out


@pytest.mark.lab
def test_a_device_of_a_pair_may_be_in_another_namespace(said: dict[str, Said]) -> None:
    near, far = said["elsewhere"].out.splitlines()
    assert near.startswith("v1@") and far.startswith("v2@") and said["elsewhere"].err == ""


@pytest.mark.lab
def test_more_requests_than_a_call_holds(said: dict[str, Said]) -> None:
    assert said["many"].out == "1200\n"
    assert "the kernel refused link 77 up: No such device" in said["late"].err
