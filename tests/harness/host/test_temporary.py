# SPDX-License-Identifier: GPL-2.0-only
"""A temporary folder goes, whatever a lab has left in it, and nothing else is changed by that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.host import temporary
from tests.small import PROJECT

DEPTH = 1500  # a path has 4096 letters, Python's stack 1000 calls


def nest(folder: Path) -> None:
    """Fill a folder with folders, one in the other, and a file in each."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("a", dir_fd=here)
        below = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_CREAT, dir_fd=below))
        os.close(here)
        here = below
    os.close(here)


def test_deeper_than_pythons_stack() -> None:
    with temporary.folder("lab") as folder:
        nest(folder)
        (folder / "b").mkdir()
        (folder / "b" / "file").touch()
    assert not folder.exists()


LEAVE = """
import sys
from pathlib import Path
from harness.host import temporary
with temporary.folder("lab") as folder:
    for mode in (0o500, 0):
        closed = folder / f"{mode:o}"
        (closed / "inner").mkdir(parents=True)
        for place in (closed, closed / "inner"):
            (place / "link").symlink_to(sys.argv[1])
        (closed / "inner").chmod(mode)
        closed.chmod(mode)
    folder.chmod(0)
print(folder)
"""


def test_a_link_in_a_closed_folder_changes_no_ones_rights(tmp_path: Path) -> None:
    """By a user: root may do all in a closed folder."""
    precious = tmp_path / "precious"
    precious.touch(0o444)
    precious.chmod(0o444)
    user = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    done = subprocess.run(
        [*(user if os.geteuid() == 0 else []), sys.executable, "-c", LEAVE, str(precious)],
        capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()
    assert precious.stat().st_mode & 0o777 == 0o444
