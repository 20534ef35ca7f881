# SPDX-License-Identifier: GPL-2.0-only
"""Which mirror of Debian set-up takes: the user's, apt's, one of this machine's lists, or none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh import machine, mirror
from tests.fresh.mirror import Mirror
from tests.fresh.test_sentences import sentence
from tests.small import PROJECT

NOWHERE = "http://127.0.0.1:9/debian"  # the port that discards, where nobody listens
SCRIPT = "usr/share/debootstrap/scripts/sid"
LIST = "usr/share/python-apt/templates/Debian.mirrors"


@pytest.fixture
def debian(tmp_path: Path) -> Iterator[Mirror]:
    made, server = mirror.serve(tmp_path)
    made.publish()
    yield made
    server.shutdown()
    server.server_close()


# lab/root/mirror.py on a machine with another root folder.
ASK = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import lists, mirror
root, of_apt, of_host = pathlib.Path(sys.argv[2]), lists.of_apt, lists.of_host
lists.of_apt, lists.of_host = lambda x: of_apt(x, root), lambda: of_host(root)
try:
    print(mirror.address(sys.argv[3]))
except mirror.FetchError as error:
    print(error)
"""


def put(root: Path, files: dict[str, str]) -> Path:
    """A machine's root folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def ask(root: Path, suite: str = "trixie", **environment: str) -> str:
    """The address that is chosen there, or the sentence."""
    argv = [sys.executable, "-c", ASK, PROJECT / "lab/root", root, suite]
    done = subprocess.run(
        argv, env={"PATH": "/nowhere", **environment}, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_the_users_comes_first(tmp_path: Path) -> None:
    root = put(tmp_path, {"etc/apt/sources.list": f"deb {NOWHERE} trixie main\n"})
    assert ask(root, CELLBED_DEBIAN_MIRROR="http://a/debian/") == "http://a/debian"
    security = ask(root, "trixie-security", CELLBED_DEBIAN_MIRROR="http://a/debian/")
    assert security == "http://a/debian-security"


def test_apts_own_where_this_is_a_debian(tmp_path: Path) -> None:
    """It may have its security updates from another server."""
    said = "# deb http://old/debian x\nURIs: http://other/ubuntu\nURIs: http://a/debian/\n"
    root = put(tmp_path, {"etc/apt/sources.list.d/debian.sources": said})
    assert ask(root) == "http://a/debian"
    assert ask(root, "trixie-security") == "http://a/debian-security"
    put(root, {"etc/apt/sources.list.d/updates.list": "deb http://b/debian-security x\n"})
    assert ask(root, "trixie-security") == "http://b/debian-security"
    assert ask(root, "trixie-updates") == "http://a/debian"


def test_a_derivatives_mirror_is_none_of_debians(tmp_path: Path) -> None:
    root = put(tmp_path, {"etc/apt/sources.list": "deb http://a/ubuntu noble main\n"})
    assert "this machine names no mirror of Debian; set CELLBED_DEBIAN_MIRROR=" in ask(root)


def test_the_one_that_debootstrap_has(debian: Mirror, tmp_path: Path) -> None:
    root = put(tmp_path / "root", {SCRIPT: f"default_mirror {debian.address}\n"})
    assert ask(root) == debian.address
    assert ask(root, "trixie-security") == f"{debian.address}-security"


def test_of_a_list_the_first_that_answers(debian: Mirror, tmp_path: Path) -> None:
    """That of the country first: the other one would answer as well."""
    other = debian.address.replace("127.0.0.1", "localhost")
    listed = f"#LOC:AM\n{NOWHERE}/\n{other}/\n#LOC:DE\n{debian.address}/\n"
    root = put(tmp_path / "root", {LIST: listed})
    assert ask(root, LANG="de_DE.UTF-8") == debian.address
    assert ask(root, LANG="C.UTF-8") == other


def test_a_mirror_without_security_updates_is_passed_over(debian: Mirror, tmp_path: Path) -> None:
    root = put(tmp_path / "root", {LIST: f"#LOC:AM\n{NOWHERE}\n{debian.address}\n"})
    assert ask(root) == debian.address
    shutil.rmtree(debian.folder / "debian-security")
    said = ask(root)
    assert "(2 mirrors of this machine's lists did not answer); set CELLBED_DEBIAN_MIRROR=" in said
    assert "Debian's website lists the mirrors" in said


def test_set_up_says_so_before_it_makes_anything(tmp_path: Path) -> None:
    here = machine.make(tmp_path)
    real = "case $2 in lab/root/get) echo lab/root/get: no mirror >&2; exit 3 ;; esac"
    here.replace("python3", real + machine.FAKE_PYTHON)
    done = here.run("cellbed", "setup")
    assert sentence(done) == "lab/setup: no mirror" and done.stderr.count("\n") == 1
    assert not list(here.cache.glob("python-*"))
