# SPDX-License-Identifier: GPL-2.0-only
"""tests.fresh.rooms writes its table only of machines with the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fresh import rooms

MARKED = "before\n<!-- tests.fresh.rooms -->\nold\n<!-- end -->\nafter\n"
SAME = ("1", "2", "3")


def write(
    monkeypatch: pytest.MonkeyPatch, page: Path, text: str, *found: tuple[str, ...] | None
) -> str:
    """The page after machines with these checksums."""
    page.write_text(text)
    of = {str(number): digests for number, digests in enumerate(found)}
    monkeypatch.setattr(rooms, "PAGE", page)
    monkeypatch.setattr(rooms, "caches", lambda more: [(name, Path(name)) for name in of])
    monkeypatch.setattr(rooms, "digests", lambda cache: of[cache.name])
    rooms.main([])
    return page.read_text()


def test_the_same_bytes_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = write(monkeypatch, tmp_path / "page.md", MARKED, SAME, None, SAME)
    assert "| 0 | 1 | 2 | 3 |\n| 2 | 1 | 2 | 3 |\n<!-- end -->\nafter" in text


@pytest.mark.parametrize(
    ("text", "found", "says"),
    [
        (MARKED, (SAME, ("1", "2", "4")), "do not have the same bytes"),
        (MARKED, (None,), "do not have the same bytes"),
        ("no marks\n", (SAME,), "has not one place for the table"),
    ],
)
def test_else_the_page_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    text: str, found: tuple[tuple[str, ...] | None, ...], says: str,
) -> None:  # fmt: skip
    with pytest.raises(SystemExit, match=says):
        write(monkeypatch, tmp_path / "page.md", text, *found)
    assert (tmp_path / "page.md").read_text() == text
