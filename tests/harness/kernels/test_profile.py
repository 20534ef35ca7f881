# SPDX-License-Identifier: GPL-2.0-only
"""The recorded profile of set-up's kernel: what gcc is given of it, and that gcc reads it."""

from __future__ import annotations

import importlib.util
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.host import paths
from tests.small import PROJECT

FOLDER = PROJECT / "lab/kernel/profile"
# Of several folders of the source, so that without a profile they lie far apart.
FREQUENT = ("hrtimer_interrupt", "kmem_cache_alloc_node_noprof", "veth_xmit", "netem_dequeue",
            "tcp_ack", "tcp_v4_rcv", "ovs_dp_process_packet", "timerqueue_add")  # fmt: skip


@pytest.fixture(scope="module")
def gcda() -> ModuleType:
    """lab/kernel/profile/gcda.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("gcda", FOLDER / "gcda.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_file(name: str, *functions: tuple[int, int, list[int]]) -> bytes:
    """What a kernel that counts writes of one file: number, checksum and counts of functions."""
    padded = name.encode() + b"\0"
    made = struct.pack("<IiI", 0x6763666E, 0x4234322A, len(padded)) + padded
    made += struct.pack("<4I", 0x67636461, 0x4234322A, 7, 8)
    made += struct.pack("<IiII", 0xA1000000, 8, 0, 0)
    for number, checksum, counts in functions:
        made += struct.pack("<Ii3I", 0x01000000, 12, number, 9, checksum)
        if any(counts):
            made += struct.pack(f"<Ii{len(counts)}q", 0x01A10000, 8 * len(counts), *counts)
        else:
            made += struct.pack("<Ii", 0x01A10000, -8 * len(counts))
    return made + bytes(4)


def test_the_counts_of_two_kernels_are_added(gcda: ModuleType) -> None:
    """And what is rare in both is left out."""
    rare = (4, 5, [29_999, 0])
    one = of_file("./net#a.gcda", (1, 2, [10**8, 0, 3]), rare) + of_file("./b.gcda", (1, 2, [0]))
    other = of_file("./net#a.gcda", (1, 2, [2 * 10**8, 0, 4]), (4, 5, [0, 0]))
    lines = list(gcda.text(gcda.merged([one, other])))
    assert lines[1].endswith(" Most: 300000000")
    assert lines[2:] == ["net/a", " 1 2 300000000,,7"]
    rare[2][0] += 1
    lines = list(gcda.text(gcda.merged([of_file("./net#a.gcda", (1, 2, [3 * 10**8]), rare)])))
    assert lines[2:] == ["net/a", " 1 2 300000000", " 4 5 30000,"]


def test_what_gcc_is_given_is_what_was_counted(gcda: ModuleType) -> None:
    profile = {("net/a", 1, 2): [300_000_000, 0, 7], ("net/a", 0x7FFFFFFF, 2**32 - 1): [10**12]}
    made = gcda.files(list(gcda.text(profile)))
    assert list(made) == ["net/a"]
    name = of_file("./net#a.gcda").partition(struct.pack("<I", 0x67636461))[0]
    read = {key: list(counts) for key, counts in gcda.functions(name + made["net/a"])}
    assert read == profile
    assert struct.pack("<IiII", 0xA1000000, 8, 1, 2**32 - 1) in made["net/a"]


def test_each_file_of_the_counts_is_unpacked(tmp_path: Path) -> None:
    argv = [sys.executable, "-sEB", FOLDER / "gcda.py", "unpack", tmp_path / "made"]
    subprocess.run(argv, check=True)
    made = {path.name for path in (tmp_path / "made").iterdir()}
    named = (FOLDER / "counts").read_text().splitlines()[2:]
    assert made == {f"{n.replace('/', '#')}.gcda" for n in named if not n.startswith(" ")}
    assert "net#ipv4#tcp_input.gcda" in made and len(made) > 100


def test_gcc_has_read_the_profile_of_set_ups_kernel() -> None:
    """It puts what runs often before the rest, and what no trial did behind it."""
    said = subprocess.run(["nm", paths.kernel()], capture_output=True, text=True, check=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in said.splitlines() if line[0] != " "}
    first, last = at["_stext"], at["_etext"]
    places = {name: (at[name] - first) / (last - first) for name in FREQUENT}
    assert max(places.values()) < 0.15, places
    assert at["tcp_ack.cold"] > max(at[name] for name in FREQUENT)
    assert at["cake_init"] > max(at[name] for name in FREQUENT)
