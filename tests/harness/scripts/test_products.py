# SPDX-License-Identifier: GPL-2.0-only
"""Who waits for whom while images are built; the builder is one that a pipe holds. No lab."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from select import select

import pytest

from harness.host import making, paths
from harness.scripts import products
from harness.scripts.products import Products
from plan.errors import MissingError, UsageError

LIMIT_S = 30.0  # only a test that fails takes it
# Says on the first pipe that it has begun, ends when the second says so; "quick" is not held.
BUILD = """#!/bin/sh
case ${1##*,} in quick) ;; *) echo "$1" > begun && read -r go < go ;; esac
echo "$1" >> built
echo made > "$1"
"""


class Builders:
    """A cache of its own, whose builder waits to be let go; each caller a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.threads = ThreadPoolExecutor()
        self.places = {name: folder / name for name in ("cache", "mininet", "processor", "full")}
        self.places["cache"].mkdir()
        self.places["processor"].touch()
        self.places["full"].mkdir()
        (self.places["full"] / products.COMPLETE).touch()
        build = folder / "lab" / "mininet" / "build"
        build.parent.mkdir(parents=True)
        build.write_text(BUILD)
        build.chmod(0o755)
        for pipe in ("begun", "go"):
            os.mkfifo(folder / pipe)
        self.says, self.goes = ((folder / pipe).open("r+b", 0) for pipe in ("begun", "go"))

    def ask(self, *packages: str) -> Future[Products]:
        return self.threads.submit(products.require, "uml", "virtual", packages)

    def wait_for_begun(self) -> None:
        begun, _, _ = select([self.says], [], [], LIMIT_S)
        assert begun, "no builder has begun"
        self.says.readline()

    def let_go(self) -> None:
        self.goes.write(b"\n")

    def close(self) -> None:
        self.goes.write(b"\n" * 9)  # for all that a test which failed has left
        self.threads.shutdown()
        self.says.close()
        self.goes.close()

    def built(self) -> list[str]:
        return [Path(line).name for line in (self.folder / "built").read_text().splitlines()]


@pytest.fixture
def builders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Builders]:
    made = Builders(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "PROJECT", tmp_path)
    monkeypatch.setattr(paths, "places", lambda: made.places)
    monkeypatch.setattr(paths, "programs", lambda: tmp_path)
    yield made
    made.close()


def test_an_image_that_is_there_waits_for_no_build(builders: Builders) -> None:
    builders.places["mininet"].touch()
    building = builders.ask("slow")
    builders.wait_for_begun()
    there = builders.ask().result(LIMIT_S)
    assert there.image == builders.places["mininet"]
    assert not building.done()


def test_two_images_are_built_side_by_side(builders: Builders) -> None:
    building = builders.ask("slow")
    builders.wait_for_begun()
    builders.ask("quick").result(LIMIT_S)
    assert builders.built() == ["mininet,quick"]
    builders.let_go()
    building.result(LIMIT_S)
    assert builders.built() == ["mininet,quick", "mininet,slow"]


def test_who_waits_says_so_and_the_image_is_built_once(
    builders: Builders, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def wait(text: str) -> None:
        said.append(text)
        builders.let_go()  # not before: it says so while it waits

    building = builders.ask("slow")
    builders.wait_for_begun()
    monkeypatch.setattr(making, "say", wait)
    assert builders.ask("slow").result(LIMIT_S) == building.result(LIMIT_S)
    assert said == ["image for Mininet with slow: another command builds it; this command waits"]
    assert "image for Mininet with slow: this command builds it once" in capfd.readouterr().err
    assert builders.built() == ["mininet,slow"]


def test_an_image_that_cannot_be_built_is_a_sentence(builders: Builders) -> None:
    builders.places["mininet"] = builders.folder / "lab" / "mininet" / "build" / "image"
    said = r"image for Mininet is missing and cannot be built in .*; build it as the owner .*"
    with pytest.raises(MissingError, match=said):
        builders.ask().result(LIMIT_S)


def test_packages_of_python_are_told_from_debians(builders: Builders) -> None:
    made = builders.threads.submit(products.require, "uml", "virtual", [], ["quick"])
    builders.wait_for_begun()
    builders.let_go()
    assert made.result(LIMIT_S).image.name == "mininet,pip:quick"
    with pytest.raises(UsageError, match="--pip ../x is not the name of a package of Python"):
        products.require("uml", "virtual", [], ["../x"])


@pytest.mark.parametrize("name", ["requests[socks]", "requests[socks,use_chardet]==2.31", "quick"])
def test_a_package_of_python_may_have_extras(name: str) -> None:
    assert products.PIP_PACKAGE.fullmatch(name)


@pytest.mark.parametrize("name", ["requests[", "requests[]", "requests[a/b]", "[a]", "x[a]; y"])
def test_what_is_no_package_of_python(name: str) -> None:
    assert not products.PIP_PACKAGE.fullmatch(name)


def test_who_waits_for_a_build_sees_the_time_and_the_last_line(
    builders: Builders, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(making, "PROGRESS_S", 0.01)

    def say(text: str) -> None:
        told.append(text)
        if "so far; step two" in text:
            builders.let_go()

    monkeypatch.setattr(making, "say", say)
    build = builders.folder / "lab" / "mininet" / "build"
    build.write_text(BUILD.replace("case", "printf 'step one\\nstep two\\n'; case", 1))
    builders.ask("cowsay").result(LIMIT_S)
    assert any(
        text.startswith("image for Mininet with cowsay: 0 s so far; step two") for text in told
    )
