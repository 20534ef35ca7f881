# SPDX-License-Identifier: GPL-2.0-only
"""The project on fresh machines: Debian 12 and 13 as a minimal install has them.

Each is a tree in namespaces with nothing but git, make and sudo, in which the clone is set up
from an empty cache and runs a small trial. Needs root, or sudo without a password.
CELLBED_SLOW_TESTS=1 does all of it for root, for a user with sudo and for one without.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from small import PROJECT, run_trials

from harness import experiment, paths, plan

SCRIPT = PROJECT / "tests" / "fresh" / "debian"
SMALL = PROJECT / "tests" / "fresh" / "small.toml"
SUDO = [] if os.geteuid() == 0 else ["sudo", "-n"]
SLOW = "CELLBED_SLOW_TESTS" in os.environ
CLONE = ("git clone -q /opt/cellbed.bundle cellbed && cd cellbed"
         " && git apply --allow-empty /opt/changes")
RUN = "cd ~/cellbed && make setup && ./cellbed run tests/fresh/small.toml --out ~/out"
PYTHON = "$(lab/paths | sed -n s/^environment=//p)/bin/python"
LIMIT_S = 1800

pytestmark = pytest.mark.skipif(
    bool(SUDO) and (shutil.which("sudo") is None or bool(subprocess.call([*SUDO, "true"]))),
    reason="needs root, or sudo without a password",
)


@dataclass
class Fresh:
    """A tree and what may be shared between trees of its release."""

    release: str
    folder: Path
    shared: Path

    def __call__(self, user: str, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command line in it as a user of it."""
        return self.script("run", str(self.folder), str(self.shared), user, command)

    @staticmethod
    def script(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [*SUDO, str(SCRIPT), *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    def metrics(self, user: str) -> dict[str, object]:
        """What the small trial of a user measured."""
        home = "/root" if user == "root" else f"/home/{user}"
        said = self(user, f"cat {home}/out/trials/*/judgement.json")
        assert said.returncode == 0, said.stderr
        document = json.loads(said.stdout)
        assert document["valid"], document["checks"]
        found: dict[str, object] = document["metrics"]
        return found


@pytest.fixture(params=["bookworm", "trixie"])
def fresh(request: pytest.FixtureRequest) -> Iterator[Fresh]:
    """A tree of its own, gone afterwards; only downloaded packages stay in the cache."""
    cache = paths.places()["cache"] / "fresh"
    name = f"{request.param}-{os.getpid()}"
    made = Fresh(request.param, cache / name, cache / f"shared-{request.param}")
    try:
        done = Fresh.script("make", made.release, str(made.folder), str(made.shared))
        assert done.returncode == 0, done.stderr[-2000:]
        yield made
    finally:
        Fresh.script("remove", str(made.folder))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the same trial measures on this machine."""
    [trial] = plan.trials(experiment.load(SMALL), SMALL, (), 1)
    documents = run_trials(tmp_path_factory.mktemp("here"), [trial])
    found: dict[str, object] = documents[trial.name]["metrics"]
    return found


def administrator_allows(fresh: Fresh) -> None:
    done = fresh("root", "echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user")
    assert done.returncode == 0, done.stderr


def refused(fresh: Fresh) -> str:
    """The command that the user without sudo is given, in one line."""
    done = fresh("user", "cd ~/cellbed && ./cellbed setup")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    asked = done.stderr.strip().partition("as an administrator: ")[2]
    assert asked.startswith("apt-get update && apt-get install -y --no-install-recommends ")
    return asked


def runs(fresh: Fresh, user: str, here: dict[str, object]) -> None:
    done = fresh(user, RUN)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert fresh.metrics(user) == here


def unit_tests(fresh: Fresh) -> None:
    """The tests that need no lab, with the Python of this release."""
    packages = "$(sed 's/#.*//' /home/user/cellbed/lab/test-packages)"
    done = fresh("root", f"apt-get install -qy --no-install-recommends {packages}")
    assert done.returncode == 0, done.stderr
    done = fresh("user", f"cd ~/cellbed && {PYTHON} -m pytest -q -n 2 -m 'not lab' -k 'not fuzz' "
                         "tests/harness tests/analysis tests/topology tests/workload")  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


DEFAULT = {"bookworm": "root", "trixie": "sudo"}


def test_from_nothing(fresh: Fresh, here: dict[str, object]) -> None:
    """On 12 as root, on 13 as a user with sudo; first as one without, on both."""
    assert fresh("user", CLONE).returncode == 0
    refused(fresh)
    if DEFAULT[fresh.release] == "root":
        assert fresh("root", CLONE).returncode == 0
        runs(fresh, "root", here)
    else:
        administrator_allows(fresh)
        runs(fresh, "user", here)
        unit_tests(fresh)


@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
@pytest.mark.parametrize("who", ["root", "sudo", "no sudo"])
def test_from_nothing_as(fresh: Fresh, who: str, here: dict[str, object]) -> None:
    user = "root" if who == "root" else "user"
    assert fresh(user, CLONE).returncode == 0
    if who == "sudo":
        administrator_allows(fresh)
    if who == "no sudo":
        assert fresh("root", f"DEBIAN_FRONTEND=noninteractive; {refused(fresh)}").returncode == 0
    runs(fresh, user, here)
