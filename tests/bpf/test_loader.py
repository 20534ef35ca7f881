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
        --vcs 100 --ifindex-base 1000 --verdict-dev "$1" --announce-list list ${2:+--path $2}
}
# Rows of time, work and rate, as path.h has them, and bytes behind them.
table() {
    python3 - "$@" > table << 'END'
import struct, sys
rows, more = eval(sys.argv[1]), eval(sys.argv[2])
said = eval(sys.argv[3]) if len(sys.argv) > 3 else len(rows)
sys.stdout.buffer.write(struct.pack("=5QII", 0, 1, 0, 1 << 62, 1 << 62, said, 1))
for time, work, rate in rows:
    sys.stdout.buffer.write(struct.pack("=5Q", time, work, rate, 0, 0))
sys.stdout.buffer.write(b"x" * more)
END
}
left() { tc qdisc show | grep clsact; ls /sys/fs/bpf | grep cellq; }
announce() { printf "$1" | sed "s/PID/$$/" > list; }
# What the verifier has followed of the programs together: bpf_prog_info.verified_insns.
followed() {
    python3 << 'END'
import ctypes, os, struct
bpf, number, total = ctypes.CDLL("libbpf.so.1"), ctypes.c_uint32(0), 0
while bpf.bpf_prog_get_next_id(number, ctypes.byref(number)) == 0:
    file, size = bpf.bpf_prog_get_fd_by_id(number), ctypes.c_uint32(256)
    info = ctypes.create_string_buffer(size.value)
    bpf.bpf_obj_get_info_by_fd(file, info, ctypes.byref(size))
    total += struct.unpack_from("=I", info, 216)[0]
print(total)
END
}
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
ROWS = "[(0, 0, 9), (1, 9, 9)]"
# Name: arguments of table, exit status, what it says.
TABLES = {
    "missing": ("", 2, "cannot read --path table"),
    "more": (f"'{ROWS}' 7", 2, "the file is no whole table"),
    "fewer": (f"'{ROWS}' 0 3", 2, "the file is no whole table"),
    "none": ("'[]' 0", 2, "the file is no whole table"),
    "backwards": (f"'{ROWS}[::-1]' 0", 2, "do not ascend"),
    "work": ("'[(0, 9, 9), (1, 8, 9)]' 0", 2, "do not ascend"),
    "much": ("'[(0, 0, 9), (1, 1 << 62, 9)]' 0", 2, "or are 2^62 or more"),
}
LENGTHS = (1, 64, 65, 8_192, 8_193, 1 << 18)
# Rows of a table (0: a still path) -> the most instructions that the verifier may follow. A load of
# 460,000 took four times as long as that of a still path.
MOST_FOLLOWED = {0: 50_000, 64: 120_000, 65: 200_000, 9_000: 200_000}
SCRIPTS = {
    name: f"{NETWORK}announce '{lines}'\nload {device}\necho $?\nleft"
    for name, (lines, device, _, _) in REFUSED.items()
} | {
    "others": NETWORK
    + r"announce 'PID h1\nPID h2\n'; tc qdisc add dev h1 clsact"
    + "\nload down; cellq unload --name t; left",
    "twice": NETWORK + r"announce 'PID h1\n'" + "\nload down >&2; load down; echo $?\n"
    "cellq read --name t | head -1",
} | {
    name: NETWORK + "announce 'PID h1\\n'\n" + (f"table {words}\n" if words else "")
    + "load down table; echo $?; left"
    for name, (words, _, _) in TABLES.items()
} | {
    f"rows {rows}": NETWORK + "announce 'PID h1\\n'\n"
    + f"table '[(n, n, 9) for n in range({rows})]' 0\nload down table > /dev/null; echo $?; left\n"
    "cellq unload --name t"
    for rows in LENGTHS
} | {
    f"followed {rows}": NETWORK + "announce 'PID h1\\n'\n"
    + (f"table '[(n, n, 9) for n in range({rows})]' 0\n" if rows else "")
    + f"load down {'table' if rows else ''} > /dev/null; followed; cellq unload --name t"
    for rows in MOST_FOLLOWED
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


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_none_leaves_nothing(said: dict[str, Said], name: str) -> None:
    _, status, says = TABLES[name]
    assert said[name].out == f"{status}\n"
    assert says in said[name].err and said[name].err.count("\n") == 1


@pytest.mark.parametrize("rows", LENGTHS)
def test_tables_of_all_lengths(said: dict[str, Said], rows: int) -> None:
    """Those of up to 64 rows and those of up to 8,192 rows have programs of their own."""
    lines = said[f"rows {rows}"].out.splitlines()
    assert lines[0] == "0" and lines[-1] == "cellq" and said[f"rows {rows}"].err == ""
    assert "clsact" in said[f"rows {rows}"].out


@pytest.mark.parametrize("rows", MOST_FOLLOWED)
def test_a_load_is_cheap(said: dict[str, Said], rows: int) -> None:
    """The verifier takes most of a load's time, and a trial loads two queues."""
    assert 10_000 < int(said[f"followed {rows}"].out) < MOST_FOLLOWED[rows]


def test_unload_leaves_the_clsact_of_others(said: dict[str, Said]) -> None:
    """What was there before is there after, and nothing else."""
    lines = said["others"].out.splitlines()
    assert lines[1:] == ["qdisc clsact ffff: dev h1 parent ffff:fff1 "]
    assert said["others"].err == ""


def test_second_load_of_a_name_is_refused(said: dict[str, Said]) -> None:
    """And the first goes on undisturbed."""
    assert said["twice"].out == "1\nt: epd, K 531 cells, R 424 cells, 100 VCs\n"
    assert "t is loaded already" in said["twice"].err
