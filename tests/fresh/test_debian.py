# SPDX-License-Identifier: GPL-2.0-only
"""The project on fresh machines: Debian 12 and 13 as a minimal install has them.

Each is a tree in namespaces with nothing but git, make and sudo, in which the clone is set up
from an empty cache and runs a small trial, of which the tables and the lab's facts are this
machine's byte for byte, and so are kernel and programs.
Needs root, or sudo without a password.
A tree in which that went well is kept in the cache: until something changes that set-up
reads (trees.py), the next test begins there, with a clone of its own.
CELLBED_SLOW_TESTS=1 does all of it for root, for a user with sudo and for one without.
All of `make test` on such a machine, as root, DIR not there yet:
tests/fresh/debian test bookworm DIR ~/.cache/cellbed/fresh/shared-bookworm
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from harness.design import experiment
from harness.design.trials import planned
from tests.fresh import trees
from tests.fresh.trees import SUDO, Fresh
from tests.small import PROJECT, run_trials

SMALL = PROJECT / "tests" / "fresh" / "small.toml"
SLOW = "CELLBED_SLOW_TESTS" in os.environ
CLONE = (
    "rm -rf cellbed out && git clone -q /opt/cellbed.bundle cellbed && cd cellbed"
    " && git apply --allow-empty /opt/changes"
)
RUN = "cd ~/cellbed && make setup && ./cellbed run tests/fresh/small.toml --out ~/out"
PYTHON = "$(lab/paths | sed -n s/^environment=//p)/bin/python"

pytestmark = pytest.mark.skipif(
    bool(SUDO) and (shutil.which("sudo") is None or bool(subprocess.call([*SUDO, "true"]))),
    reason="needs root, or sudo without a password",
)


@pytest.fixture(params=trees.RELEASES)
def fresh(request: pytest.FixtureRequest) -> Iterator[Fresh]:
    """A tree that may have been set up before; kept when it was."""
    with trees.kept(request.param) as tree:
        yield tree


@pytest.fixture(params=trees.RELEASES)
def bare(request: pytest.FixtureRequest) -> Iterator[Fresh]:
    """A tree of its own, gone afterwards."""
    with trees.made(request.param, f"once-{request.param}-{os.getpid()}") as tree:
        yield tree


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The checksums of the same trial's record on this machine."""
    folder = tmp_path_factory.mktemp("here")
    [trial] = planned(experiment.load(SMALL), SMALL, (), 1)
    run_trials(folder, [trial])
    return record((folder / "trials" / trial.name / "SHA256SUMS").read_text())


def record(sums: str) -> list[str]:
    """The lines of a trial's checksums, but for what tells of the run, and of what ran it."""
    lines = sums.splitlines()
    found = [line for line in lines if not line.endswith((" run.json", " trial.json"))]
    assert len(found) == len(lines) - 2 >= 2, sums
    return found


def assert_same_products(said: str) -> None:
    """What tests/fresh/products says on another machine is what it says here."""
    argv = [PROJECT / "tests/fresh/products"]
    ours = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    # Debian may have renewed a package since one of the two was set up.
    if said.partition("--\n")[0] == ours.partition("--\n")[0]:
        assert said == ours and len(said.partition("--\n")[2].splitlines()) > 10


def administrator_allows(fresh: Fresh) -> None:
    done = fresh("root", "echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user")
    assert done.returncode == 0, done.stderr


def refused(fresh: Fresh) -> str:
    """The command that the user without sudo is given, in one line."""
    done = fresh("user", "cd ~/cellbed && ./cellbed setup")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    asked = done.stderr.strip().partition("run as root: ")[2]
    assert asked.startswith("apt-get update && apt-get install -y --no-install-recommends ")
    return asked


def runs(fresh: Fresh, user: str, here: list[str]) -> None:
    done = fresh(user, RUN)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    home = "/root" if user == "root" else f"/home/{user}"
    said = fresh(user, f"cd {home}/out/trials/* && cat SHA256SUMS && cat judgement.json >&2")
    assert said.returncode == 0, said.stderr
    judgement = json.loads(said.stderr)
    assert judgement["valid"], judgement["checks"]
    assert record(said.stdout) == here
    products = fresh(user, "~/cellbed/tests/fresh/products")
    assert products.returncode == 0, products.stderr
    assert_same_products(products.stdout)


def unit_tests(fresh: Fresh) -> None:
    """Types, and the tests that need neither lab nor browser, with the Python of this release."""
    packages = "$(sed 's/#.*//' /home/user/cellbed/lab/test-packages)"
    done = fresh("root", f"apt-get install -qy --no-install-recommends {packages}")
    assert done.returncode == 0, done.stderr
    done = fresh("user", "cd ~/cellbed && make lint && "
                         f"{PYTHON} -m pytest -q -n 2 -m 'not lab and not browser' -k 'not fuzz' "
                         "tests/harness tests/analysis tests/topology tests/workload")  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


DEFAULT = {"bookworm": "root", "trixie": "user"}


def test_from_nothing(fresh: Fresh, here: list[str]) -> None:
    """On 12 as root, on 13 as a user with sudo; first as one without, on both."""
    user = DEFAULT[fresh.release]
    assert fresh("user", CLONE).returncode == 0
    if not fresh.was_set_up():
        refused(fresh)
        if user != "root":
            administrator_allows(fresh)
    assert fresh(user, CLONE).returncode == 0
    runs(fresh, user, here)
    fresh.note_set_up()
    if fresh.release == "trixie":
        unit_tests(fresh)


@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
@pytest.mark.parametrize("who", ["root", "sudo", "no sudo"])
def test_from_nothing_as(bare: Fresh, who: str, here: list[str]) -> None:
    user = "root" if who == "root" else "user"
    assert bare(user, CLONE).returncode == 0
    if who == "sudo":
        administrator_allows(bare)
    if who == "no sudo":
        assert bare("root", f"DEBIAN_FRONTEND=noninteractive; {refused(bare)}").returncode == 0
    runs(bare, user, here)
