# SPDX-License-Identifier: GPL-2.0-only
"""The queue's loader in the lab's kernel: all or nothing, and nothing of others touched.

Two processors at one queue are in tests/labs/test_vm.py.
"""

from __future__ import annotations

import pytest

from tests import scripts_in_lab
from tests.scripts_in_lab import Said

pytestmark = pytest.mark.lab

# $$ is the process in whose namespace the devices are, LIST the announcing ones.
NETWORK = """
mount -t bpf bpf /sys/fs/bpf
ip link add name down type veth peer name other
ip link add name h1 index 1001 type veth peer name h2 index 1002
ip link add name far index 2000 type veth peer name farther
cellq() { /opt/cellbed/cellq "$@"; }
load() {
    cellq load --name t --policy epd --buffer-cells 531 --threshold-ppm 800000 \
        --rate-bit-per-s 45000000 --access-rate-bit-per-s 149760000 --access-delay-ns 5000 \
        --vcs 100 --ifindex-base 1000 --verdict-dev "$1" --announce-list list
}
left() { tc qdisc show | grep clsact; ls /sys/fs/bpf | grep cellq; }
announce() { printf "$1" | sed "s/PID/$$/" > list; }
"""
# Name: lines of the list, device of the verdicts, exit status, what it says.
REFUSED = {
    "unknown": (r"PID h1\nPID nope\n", "down", 1, "has no device nope"),
    "index": (r"PID h1\nPID far\n", "down", 2, "index is 2000, but must be 1001 to 1100"),
    "verdict": (r"PID h1\n", "nope", 1, "has no device nope"),
    "process": (r"PID h1\n99999999 h2\n", "down", 1, "cannot enter the network namespace of"),
    "words": (r"PID h1 x\n", "down", 2, "line 1: must be PID DEV"),
    "nobody": (r"# nobody\n\n", "down", 2, "no device"),
}
SCRIPTS = {
    name: f"{NETWORK}announce '{lines}'\nload {device}\necho $?\nleft"
    for name, (lines, device, _, _) in REFUSED.items()
} | {
    "others": NETWORK
    + r"announce 'PID h1\nPID h2\n'; tc qdisc add dev h1 clsact"
    + "\nload down; cellq unload --name t; left",
    "twice": NETWORK + r"announce 'PID h1\n'" + "\nload down >&2; load down; echo $?\n"
    "cellq read --name t | head -1",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    return scripts_in_lab.run(SCRIPTS, tmp_path_factory.mktemp("loader"))


@pytest.mark.parametrize("name", REFUSED)
def test_failed_load_leaves_nothing(said: dict[str, Said], name: str) -> None:
    """All or nothing: no filter, no clsact, no pin."""
    _, _, status, says = REFUSED[name]
    assert said[name].out == f"{status}\n"
    assert says in said[name].err
    assert said[name].err.count("\n") == 1


def test_unload_leaves_the_clsact_of_others(said: dict[str, Said]) -> None:
    """What was there before is there after, and nothing else."""
    lines = said["others"].out.splitlines()
    assert lines[1:] == ["qdisc clsact ffff: dev h1 parent ffff:fff1 "]
    assert said["others"].err == ""


def test_second_load_of_a_name_is_refused(said: dict[str, Said]) -> None:
    """And the first goes on undisturbed."""
    assert said["twice"].out == "1\nt: epd, K 531 cells, R 424 cells, 100 VCs\n"
    assert "t is loaded already" in said["twice"].err
