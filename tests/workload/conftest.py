# SPDX-License-Identifier: GPL-2.0-only
"""The client compiled for this machine, and a network namespace of the tests' own to run it in."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
UNSHARE = ["unshare", "--user", "--map-root-user", "--net", "--fork", "--kill-child"]


@pytest.fixture(scope="session")
def compiler():
    """A C compiler, or a skip."""
    found = shutil.which("clang") or shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler (clang or cc) on this machine")
    return found


@pytest.fixture(scope="session")
def client(compiler, tmp_path_factory):
    """The path of www_client."""
    out = tmp_path_factory.mktemp("client")
    subprocess.run(
        ["make", "-s", "-C", PROJECT / "workload", f"OUT={out}", f"CC={compiler}"], check=True
    )
    return out / "www_client"


@pytest.fixture(scope="session")
def isolated():
    """Run a scenario script in a network namespace of its own: isolated(script, *args) -> data.

    The script prints one JSON text; the namespace has a loopback interface that is up.
    """
    probe = subprocess.run(
        [*UNSHARE, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no network namespace for this user: {probe.stderr.strip()}")

    def run(script: Path, *arguments: object) -> object:
        inner = [sys.executable, "-B", str(script)]
        words = " ".join(["ip link set lo up && exec", '"$@"'])
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", words, "sh", *inner, *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
