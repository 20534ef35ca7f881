# SPDX-License-Identifier: GPL-2.0-only
"""A file that is being written belongs to its writer, on whatever machine that is."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from harness.records.whole import write_whole


def test_only_what_a_dead_process_of_this_machine_left_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a shared file system the numbers of another machine's processes say nothing here."""
    path, none, kept = tmp_path / "x.json", 2**22 + 1, []  # no process has this number
    for machine, number in (("here", none), ("here", os.getppid()), ("there", none),
                            ("here.too", none)):  # fmt: skip
        monkeypatch.setattr(socket, "gethostname", lambda machine=machine: machine)
        monkeypatch.setattr(os, "getpid", lambda number=number: number)
        with monkeypatch.context() as dies:
            dies.setattr(Path, "replace", lambda *_: os.kill(0, 0))
            dies.setattr(Path, "unlink", lambda *_, **__: None)
            write_whole(path, "of another writer")
        kept += [found.name for found in tmp_path.iterdir() if found.name not in kept]
    assert len(kept) == 4
    monkeypatch.undo()
    monkeypatch.setattr(socket, "gethostname", lambda: "here")
    write_whole(path, "ours")
    assert {found.name for found in tmp_path.iterdir()} == {"x.json", *kept[1:]}
