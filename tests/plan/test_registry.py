# SPDX-License-Identifier: GPL-2.0-only
"""A file or a folder in the folder is a kind; one that is not as it must be is told in one line."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from plan.errors import CellbedError
from plan.registry import Registry, UnknownKindError

NUMBERS = itertools.count()
GOOD = "class Part:\n    pass\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a name that no test before has imported."""
    folder = tmp_path / f"kinds{next(NUMBERS)}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_what_lies_there_is_there(package: Path) -> None:
    (package / "one_more.py").write_text(GOOD)
    (package / "first.py").write_text(GOOD)
    registry = Registry(package.name, "Part")
    assert list(registry.kinds) == ["first", "one-more"]
    assert registry.name_of(registry["one-more"].Part()) == "one-more"
    assert registry.name_of(object()) is None


def test_a_folder_is_a_kind_too_and_may_lie_beside_what_several_share(package: Path) -> None:
    folder = package / "one_more"
    folder.mkdir()
    (folder / "part.py").write_text(GOOD)
    (folder / "__init__.py").write_text(f"from {package.name}.one_more.part import Part\n")
    (package / "interface.py").write_text(GOOD)
    (package / "shared.py").write_text("SIZE = 5\n")
    (package / "programs").mkdir()
    registry = Registry(package.name, "Part", among_others=True, interface="interface")
    assert list(registry.kinds) == ["one-more"]
    assert registry.name_of(registry["one-more"].Part()) == "one-more"


def test_only_kinds_with_a_word_are_imported_for_it(package: Path) -> None:
    """Also where the file takes the name from another module; one without it may be broken."""
    (package / "one_more.py").write_text(f"from {package.name}.shared import LIBRARIES\n{GOOD}")
    (package / "shared.py").write_text("LIBRARIES = ('numpy',)\n")
    (package / "plain.py").write_text("raise AssertionError\n")
    registry = Registry(package.name, "Part", among_others=True, interface="interface")
    assert [kind.LIBRARIES for kind in registry.with_word("LIBRARIES")] == [("numpy",)]


def test_a_folder_with_one_of_two_parts_is_named(package: Path) -> None:
    (package / "half").mkdir()
    (package / "half/__init__.py").write_text(GOOD)
    with pytest.raises(CellbedError, match=r"half/__init__.py must define Other, but"):
        Registry(package.name, "Part", "Other", among_others=True).kinds  # noqa: B018


@pytest.mark.parametrize("name", ["second", "", None, 5, ["first"]])
def test_another_name_says_what_there_is(package: Path, name: object) -> None:
    (package / "first.py").write_text(GOOD)
    with pytest.raises(UnknownKindError, match=": it must be first$"):
        Registry(package.name, "Part")[name]


def test_a_file_without_its_part_is_named(package: Path) -> None:
    (package / "empty.py").touch()
    with pytest.raises(CellbedError, match=r"empty.py must define Part, but does not$"):
        Registry(package.name, "Part").kinds  # noqa: B018 (read for what it raises)


def test_a_name_that_does_not_do_is_told(package: Path) -> None:
    (package / "Red.py").write_text(GOOD)
    with pytest.raises(CellbedError, match=r"Red.py: the name of this file may have only small"):
        Registry(package.name, "Part").kinds  # noqa: B018
