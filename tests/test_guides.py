# SPDX-License-Identifier: GPL-2.0-only
"""The guides do what they say: their sh blocks are run as they stand, in a copy of the project.

By default the one that changes the project; with CELLBED_SLOW_TESTS=1 all.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.guides import NOT_COPIED, follow
from tests.small import PROJECT

SLOW = "CELLBED_SLOW_TESTS" in os.environ
GUIDES = sorted((PROJECT / "docs" / "guides").glob("*.md" if SLOW else "extend.md"))


@pytest.mark.lab
@pytest.mark.parametrize("guide", GUIDES, ids=[guide.stem for guide in GUIDES])
def test_a_guide_can_be_followed(tmp_path: Path, guide: Path) -> None:
    copy = tmp_path / "cellbed"
    shutil.copytree(PROJECT, copy, ignore=NOT_COPIED)
    follow(guide, copy)
