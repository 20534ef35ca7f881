# SPDX-License-Identifier: GPL-2.0-only
"""Requests over netlink: made in their order in one call, and a refused one is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
