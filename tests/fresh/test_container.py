# SPDX-License-Identifier: GPL-2.0-only
"""The container file: what its image holds; and by podman the trial of this machine, unprivileged.

CELLBED_SLOW_TESTS=1 makes a release, a base image and the image, and runs trials in it, as an
ordinary user: that takes a few minutes and a network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fresh.test_debian import SLOW, SMALL, here, record
from tests.small import PROJECT

__all__ = ["here"]
FILE = PROJECT / "lab/container/Containerfile"
USER = 1000
# Of no use to who runs experiments.
LEFT_OUT = {
    ".ci", ".devcontainer", ".dockerignore", ".github", ".gitignore", "CHANGELOG.md",
    "CONTRIBUTING.md", "Makefile", "SECURITY.md", "Vagrantfile", "tests",
}  # fmt: skip
LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]
NO_NETWORK = ["--network", "none"]
RULES = Path("/usr/share/containers/seccomp.json")
# Docker's rules allow these only to who may administer the system; podman's allow them.
ONLY_ADMINISTRATORS = set(
    "bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick mount mount_setattr move_mount"
    " open_tree perf_event_open pivot_root quotactl setdomainname sethostname setns syslog umount"
    " umount2 unshare".split()
)
NEW_NAMESPACES = 0x7E020000  # flags of clone()


def tracked() -> set[str]:
    """The names in the project's folder."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return {name.split("/")[0] for name in listed.stdout.splitlines()}


def copied() -> set[str]:
    """The names that the container file copies."""
    found = re.search(r"cp -r (.*?) /opt/cellbed\b", FILE.read_text(), re.DOTALL)
    assert found
    return set(found[1].replace("\\", " ").split())


def test_the_image_has_all_of_the_project() -> None:
    assert copied() == tracked() - LEFT_OUT


def test_the_build_sees_nothing_else() -> None:
    """Neither .git nor results: the first rule leaves all out, and others let names in again."""
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    let_in = [rule[1:] for rule in rules if rule.startswith("!")]
    assert sorted(let_in) == sorted(copied() | {"build/cellbed-*.tar"})
    assert rules == ["*", *(f"!{name}" for name in let_in), "**/__pycache__"]


def test_the_editor_uses_the_same_file() -> None:
    text = (PROJECT / ".devcontainer/devcontainer.json").read_text()
    said = json.loads(re.sub(r"^\s*//.*", "", text, flags=re.MULTILINE))
    folder = PROJECT / ".devcontainer"
    assert (folder / said["build"]["dockerfile"]).resolve() == FILE
    assert (folder / said["build"]["context"]).resolve() == PROJECT


@dataclass
class Podman:
    """podman of an ordinary user: `home` has its images, `given` is what containers see."""

    home: Path

    def __call__(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run podman."""
        as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        argv = [
            *(as_user if os.geteuid() == 0 else []),
            *("podman", "--cgroup-manager=cgroupfs"),
            *(["--runtime", "runc"] if shutil.which("runc") else []),
            *map(str, words),
        ]
        told = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home / "run")}
        return subprocess.run(
            argv, cwd=self.home, env={"PATH": os.environ["PATH"], **told, **more},
            capture_output=True, text=True, timeout=1800, check=False,
        )  # fmt: skip

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """`podman run`, with no network."""
        given = f"{self.home / 'work'}:/work"
        return self("run", "--rm", *NO_NETWORK, *LIMITS, "-v", given, *words)


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    """One with the image `cellbed`, made by what docs/guides/container.md says."""
    home = Path(tempfile.mkdtemp(prefix="cellbed-podman.", dir="/var/tmp"))
    try:
        made = Podman(home)
        for name in ("run", "work"):
            (home / name).mkdir(mode=0o700)
        shutil.copy(SMALL, home / "work")
        (home / "rules.json").write_text(json.dumps(rules_of_docker()))
        context(home / "project")
        with (home / "base.tar").open("wb") as stream:
            subprocess.run([PROJECT / "lab/container/base"], stdout=stream, check=True, timeout=900)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", home], check=True)
        done = made("import", home / "base.tar", "cellbed-base")
        assert done.returncode == 0, done.stderr
        done = made("build", *NO_NETWORK, *LIMITS, "-f", "project/lab/container/Containerfile",
                    "--build-arg", "BASE=cellbed-base", "-t", "cellbed", "project")  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        yield made
    finally:
        subprocess.run(["rm", "-rf", home], check=True)


def rules_of_docker() -> dict[str, Any]:
    """podman's rules for system calls, with Docker's for namespaces and mounts."""
    rules: dict[str, Any] = json.loads(RULES.read_text())
    for rule in rules["syscalls"]:
        if rule["action"] == "SCMP_ACT_ALLOW":
            rule["names"] = [name for name in rule["names"] if name not in ONLY_ADMINISTRATORS]
    no_namespace = {"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    allowed = {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [no_namespace]}
    rules["syscalls"] = [rule for rule in rules["syscalls"] if rule["names"]] + [allowed]
    return rules


def context(folder: Path) -> None:
    """The project as it is in this folder, with a release."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True)
    folder.mkdir()
    for name in filter(None, listed.stdout.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / name, folder / name, follow_symlinks=False)
    argv = [PROJECT / "cellbed", "release", "--out", folder / "build"]
    subprocess.run(argv, check=True, capture_output=True, timeout=1800)


@pytest.mark.lab
@pytest.mark.skipif(SLOW and shutil.which("podman") is None, reason="needs podman")
@pytest.mark.skipif(not SLOW, reason="slow: CELLBED_SLOW_TESTS=1")
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--cap-drop", "all", "--security-opt", "no-new-privileges", "--read-only",
         "--shm-size", "64m"],
        ["--security-opt", "seccomp=rules.json"],
    ],
    ids=["as it comes", "with less", "rules of Docker"],
)  # fmt: skip
def test_a_trial_in_a_container_is_the_same(
    podman: Podman,
    options: list[str],
    here: list[str],
    request: pytest.FixtureRequest,  # noqa: F811
) -> None:
    out = request.node.callspec.id.replace(" ", "-")
    done = podman.run(*options, "cellbed", "run", SMALL.name, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    [trial] = (podman.home / "work" / out / "trials").iterdir()
    assert json.loads((trial / "judgement.json").read_text())["valid"]
    assert record((trial / "SHA256SUMS").read_text()) == here
