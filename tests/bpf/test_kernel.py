# SPDX-License-Identifier: GPL-2.0-only
"""The queue in this machine's own kernel, JIT-compiled, two CPUs at once.

Needs root, clang, libbpf's headers and a kernel with clsact and veth; skipped
where one is missing. Everything happens in namespaces that end with the test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import libcellq
import pytest
import replay
from libcellq import POLICIES

BURSTS = 1500
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """cellq, its programs and stress, compiled here."""
    missing = [tool for tool in ("clang", "cc", "make", "ip", "unshare") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing or not Path("/usr/include/bpf/libbpf.h").exists():
        pytest.skip(f"needs root, libbpf-dev and {missing or 'no other tool'}")
    build = tmp_path_factory.mktemp("build")
    subprocess.run(["make", "-s", "-C", libcellq.SOURCE, f"OUT={build}", "all"], check=True)
    cc = ["cc", "-O2", "-Wall", str(HERE / "stress.c"), "-o", str(build / "stress"), "-lbpf"]
    subprocess.run(cc, check=True)
    return build


@pytest.fixture(scope="module")
def records(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that one run of stress.sh over all policies left."""
    out = tmp_path_factory.mktemp("out")
    words = [str(HERE / "stress.sh"), str(build), str(out), str(BURSTS), *POLICIES]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if "Operation not permitted" in done.stderr or "Unknown device type" in done.stderr:
        pytest.skip(f"this kernel does not let us: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("policy", POLICIES)
def test_concurrent_hooks_equal_the_reference(records: Path, policy: str) -> None:
    """Whatever the order in which two CPUs got the lock, it was a valid one."""
    recording = replay.read(records / f"{policy}.rec")
    said = json.loads((records / f"{policy}.json").read_text())
    assert said["faults_total"] == 0
    assert len(recording.frames) == said["frames"]["in"] > BURSTS
    assert 0 < said["frames"]["delivered"] < said["frames"]["in"]
    assert list(replay.differences(recording, replay.simulate(recording))) == []


LOADER_NETWORK = """
mount -t bpf bpf /sys/fs/bpf
ip link add name down type veth peer name other
ip link add name h1 index 1001 type veth peer name h2 index 1002
ip link add name far index 2000 type veth peer name farther
load() {
    "$BUILD/cellq" load --name t --policy epd --buffer-cells 531 --threshold-ppm 800000 \
        --rate-bit-per-s 45000000 --access-rate-bit-per-s 149760000 --access-delay-ns 5000 \
        --vcs 100 --ifindex-base 1000 --verdict-dev "$1" --announce-list "$LIST"
}
"""
LEFT = "; tc qdisc show | grep clsact; ls /sys/fs/bpf | grep cellq"


def shell(build: Path, script: str, lines: str, folder: Path) -> tuple[str, str]:
    """Run a script in namespaces of its own, $LIST holding ``lines`` ($$: its pid)."""
    listed = folder / "list"
    make = f"sed -i s/PID/$$/ {listed}\n"
    listed.write_text(lines)
    done = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", LOADER_NETWORK + make + script],
        env={**os.environ, "BUILD": str(build), "LIST": str(listed)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if "Operation not permitted" in done.stderr or "Unknown device type" in done.stderr:
        pytest.skip(f"this kernel does not let us: {done.stderr.strip()}")
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("lines", "device", "status", "says"),
    [
        ("PID h1\nPID nope\n", "down", 1, "device nope: no such device"),
        ("PID h1\nPID far\n", "down", 2, "interface index 2000, must be 1001 to 1100"),
        ("PID h1\n", "nope", 1, "device nope: no such device"),
        ("PID h1\n99999999 h2\n", "down", 1, "entering the network namespace of process"),
        ("PID h1 x\n", "down", 2, "line 1: must be PID DEV"),
        ("# nobody\n\n", "down", 2, "no device"),
    ],
)
def test_failed_load_leaves_nothing(
    build: Path, tmp_path: Path, lines: str, device: str, status: int, says: str
) -> None:
    """All or nothing: no filter, no clsact, no pin."""
    said, error = shell(build, f"load {device}; echo $?{LEFT}", lines, tmp_path)
    assert said == f"{status}\n"
    assert says in error
    assert error.count("\n") == 1


def test_unload_leaves_the_clsact_of_others(build: Path, tmp_path: Path) -> None:
    """What was there before is there after, and nothing else."""
    script = f'tc qdisc add dev h1 clsact; load down; "$BUILD/cellq" unload --name t{LEFT}'
    said, error = shell(build, script, "PID h1\nPID h2\n", tmp_path)
    assert said.splitlines()[1:] == ["qdisc clsact ffff: dev h1 parent ffff:fff1 "]
    assert error == ""


def test_second_load_of_a_name_is_refused(build: Path, tmp_path: Path) -> None:
    """And the first goes on undisturbed."""
    script = 'load down >&2; load down; echo $?; "$BUILD/cellq" read --name t | head -1'
    said, error = shell(build, script, "PID h1\n", tmp_path)
    assert said == "1\nt: epd, K 531 cells, R 424 cells, 100 VCs\n"
    assert "t is loaded already" in error
