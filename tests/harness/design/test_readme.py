# SPDX-License-Identifier: GPL-2.0-only
"""The section of a README that is about a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.design.readme import section, section_on

PAGE = """No heading yet: lone.c.

# All

The file of another one is my-one.c, and two.cc is a third.

```sh
# get one.c here
```

## Three

`three.c`
"""


@pytest.mark.parametrize(
    ("name", "title"),
    [("one.c", "All"), ("three.c", "Three"), ("two.c", ""), ("hree.c", ""), ("lone.c", "")],
)
def test_the_first_section_that_names_a_file(name: str, title: str) -> None:
    """A comment in a block is no heading, and a part of a longer name is another name."""
    assert section(PAGE, name) == title


def test_the_first_folder_with_such_a_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / name for name in ("none", "plain", "told", "later")]
    for folder in folders[1:]:
        folder.mkdir()
        text = "# Nothing" if folder.name == "plain" else PAGE
        (folder / "README.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    said = '; the section "Three" of told/README.md is about three.c'
    assert section_on("three.c", folders) == said
    assert section_on("four.c", folders) == ""
