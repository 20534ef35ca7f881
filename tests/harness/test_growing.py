# SPDX-License-Identifier: GPL-2.0-only
"""A file that grows, and what a lab may put in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.growing import LONGEST_LINE, Growing


def test_each_line_once_and_the_last_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    growing = Growing(path)
    path.write_bytes(b"one\ntw")
    assert list(growing.lines()) == [b"one\n"]
    with path.open("ab") as stream:
        stream.write(b"o\n\nfour\n")
    assert list(growing.lines()) == [b"two\n", b"\n", b"four\n"]
    assert not list(growing.lines())


def test_a_line_without_an_end_is_not_read_to_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(ValueError, match=f"a line of more than {LONGEST_LINE} bytes"):
        list(Growing(path).lines())


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret\n")
    (tmp_path / "file").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="symbolic link"):
        list(Growing(tmp_path / "file").lines())


def test_nobody_who_would_write_to_a_fifo_is_awaited(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file")
    with pytest.raises(OSError, match="is not a file"):
        list(Growing(tmp_path / "file").lines())
