# SPDX-License-Identifier: GPL-2.0-only
"""The version is the same wherever it stands, and it has release notes."""

from __future__ import annotations

import re
import tomllib

from tests.small import PROJECT

VERSION = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def found(pattern: str, name: str) -> list[str]:
    return re.findall(pattern, (PROJECT / name).read_text("utf-8"), re.MULTILINE)


def test_the_changelog_and_the_citation_name_the_version() -> None:
    (version, date), *_ = found(r"^## \[(\d[\w.]*)\] - (\S+)$", "CHANGELOG.md")
    assert version == VERSION
    assert found(r"^version: (\S+)$", "CITATION.cff") == [VERSION]
    assert found(r'^date-released: "(\S+)"$', "CITATION.cff") == [date]


def test_the_version_has_release_notes() -> None:
    notes = f"docs/releases/{VERSION}.md"
    assert found(rf"^# Release notes of version {re.escape(VERSION)}$", notes)
    assert f"]({notes})" in (PROJECT / "CHANGELOG.md").read_text("utf-8")
    assert f'"{notes}"' in (PROJECT / "docs/site/navigation.toml").read_text("utf-8")
