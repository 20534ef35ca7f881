# SPDX-License-Identifier: GPL-2.0-only
"""What tests/fresh/musl compiles, and when. On a machine of stand-ins: it compiles nothing."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.fresh import machine
from tests.fresh.machine import Machine
from tests.small import PROJECT

SCRIPT = "tests/fresh/musl"


@pytest.fixture
def made(tmp_path: Path) -> Machine:
    found = machine.make(tmp_path)
    (found.project / SCRIPT).parent.mkdir(parents=True)
    shutil.copy2(PROJECT / SCRIPT, found.project / SCRIPT)
    found.replace("musl-gcc", "")
    return found


def source(folder: Path, version: str) -> None:
    """An archive of zlib whose configure says its version, and fails."""
    text = f"#!/bin/sh\necho this is {version}\nexit 1\n".encode()
    member = tarfile.TarInfo(f"zlib-{version}/configure")
    member.size, member.mode = len(text), 0o755
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"zlib_{version}.orig.tar.gz", "w:gz") as archive:
        archive.addfile(member, io.BytesIO(text))


def test_a_changed_script_compiles_anew(made: Machine, tmp_path: Path) -> None:
    script = made.project / SCRIPT
    for more, folders in (("", 1), ("", 1), ("# a change\n", 2)):
        script.write_text(script.read_text() + more)
        done = made.run(SCRIPT, str(tmp_path / "tree"))
        assert done.returncode == 3 and "musl-gcc is missing" in done.stderr
        assert len([*(made.cache / "fresh" / "musl").glob("built-*")]) == folders


def test_the_newest_of_several_sources_is_compiled(made: Machine, tmp_path: Path) -> None:
    """As after a point release of Debian."""
    made.replace("musl-gcc", "true")
    for version in ("1.9", "1.10"):
        source(made.cache / "fresh" / "musl" / "source", version)
    done = made.run(SCRIPT, str(tmp_path / "tree"))
    assert "this is 1.10\n" in done.stdout and done.returncode != 0, done.stderr
