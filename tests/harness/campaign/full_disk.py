# SPDX-License-Identifier: GPL-2.0-only
"""Run in a mount namespace: a campaign on a disk that gets full, at every page it writes.

Prints a line a run: pages that were free, exit code, records there, last words.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

from harness import events
from harness.campaign import costs
from harness.judge import judgement
from harness.labs import LABS
from harness.records import record
from tests.paper import PaperLab, finish
from tests.small import small_trials, write_small

LABS["paper"] = PaperLab  # before the command line lists its labs

from harness.cli.program import main  # noqa: E402

PAGE = os.sysconf("SC_PAGESIZE")
PAGES = 1024


def cellbed(*words: str) -> tuple[int, str]:
    """Exit code and last words of a command."""
    said = io.StringIO()
    sys.argv = ["cellbed", *words]
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main()
    return code, (said.getvalue().splitlines() or [""])[-1]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the records that are there by their names."""
    files = folder.glob("trials/[!.]*/[!.]*")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def campaign(disk: Path, free: int) -> int:
    """One campaign with so many pages free, and the same again with enough; the exit code."""
    trials = small_trials(disk.parent, "network=WAN")
    PaperLab.script = {trials[0].name: ["fail"]}
    ballast, folder = disk / "ballast", disk / f"with {free} pages"
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, (PAGES - free) * PAGE)
    options = ("--lab", "paper", "--only", "network=WAN", "--out", str(folder))
    words = ("run", str(disk.parent / "small.toml"), *options)
    code, said = cellbed(*words)
    print(f"{free} pages: exit {code}, {len(list(folder.glob('trials/[!.]*')))} records: {said}")
    if code != 5:  # paper trials are invalid
        assert code == 1 and "No space left on device" in said, said
        assert said.startswith(f"cellbed: {folder}"), said
        assert not list(folder.rglob("*.partial")), "half a record left"
    lines = folder / events.NAME
    for line in lines.read_text().splitlines(keepends=True) if lines.exists() else ():
        assert line.endswith("\n") and events.from_json(json.loads(line))
    ballast.unlink()
    before = contents(folder)
    PaperLab.tried = []
    again, said = cellbed(*words)
    assert again == 5, said
    assert len(PaperLab.tried) == len(trials) - len({name.split("/")[1] for name in before})
    after = contents(folder)
    assert all(after[name] == data for name, data in before.items() if judgement.FILE not in name)
    subprocess.run(["rm", "-rf", folder], check=True)
    return code


def everywhere(folder: Path) -> None:
    """From no page on until the campaign has enough; nothing else is on the disk."""
    disk = folder / "disk"
    disk.mkdir()
    size = f"size={PAGES * PAGE}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", disk], check=True)
    costs.file = lambda: folder / "costs.json"
    record.finish = finish
    write_small(folder)
    free = 0
    while campaign(disk, free) == 1:
        free += 1
    assert free > 10, free


everywhere(Path(sys.argv[1]))
