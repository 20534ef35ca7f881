# SPDX-License-Identifier: GPL-2.0-only
"""The series of lab/upstream have the code of the lab's own patches, which the labs' tests run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.small import PROJECT

UPSTREAM, OURS = PROJECT / "lab" / "upstream", PROJECT / "lab" / "kernel" / "patches"
SERIES = {
    "red": ["7.3/0016-*", "0015-*"],
    "um": ["0013-*", "0002-*", "0003-*"],
    "tcp": ["7.3/0020-*"],
}


def changes(patch: Path) -> list[str]:
    """The lines that a patch adds and takes away, with the files that they are in."""
    _, *files = re.split(r"^--- a/", patch.read_text(), flags=re.MULTILINE)
    found = []
    for text in files:
        file, *lines = text.splitlines()
        found += [file, *(line for line in lines if re.match(r"[-+](?!\+\+ b/|- $)", line))]
    return found


def is_test(mail: Path) -> bool:
    """Does a mail change the kernel's own tests alone? The lab has no such patch."""
    changed = re.findall(r"^\+\+\+ b/(.*)$", mail.read_text(), flags=re.MULTILINE)
    return bool(changed) and all(path.startswith("tools/testing/selftests/") for path in changed)


def test_each_folder_is_known() -> None:
    assert {path.name for path in UPSTREAM.iterdir() if path.is_dir()} == set(SERIES)


@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_ours(name: str) -> None:
    cover, *mails = sorted((UPSTREAM / name).glob("*.patch"))
    assert re.search(rf"^Subject: \[PATCH 0/{len(mails)}\] \w", cover.read_text(), re.MULTILINE)
    assert "***" not in cover.read_text()
    code = [mail for mail in mails if not is_test(mail)]
    ours = [next(OURS.glob(pattern)) for pattern in SERIES[name]]
    assert [changes(mail) for mail in code] == [changes(patch) for patch in ours]
    assert all(len(changes(mail)) > 1 for mail in code)
