# SPDX-License-Identifier: GPL-2.0-only
"""The artificial shell of the example is the one that its program writes."""

from __future__ import annotations

from tests import shell


def test_the_file_has_the_satellites_that_the_example_can_use() -> None:
    assert shell.FILE.read_text(encoding="utf-8") == shell.used()
