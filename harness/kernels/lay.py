# SPDX-License-Identifier: GPL-2.0-only
"""Lays a source into the folder where it is built, touching only what differs from before.

make goes by times: a file that is the same keeps its own, one that is not has the present one,
however old it is where it comes from.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.kernels.trees import LINK, PLAIN, PROGRAM, File, Tree, blob


def lay(tree: Tree, ours: Mapping[str, bytes], work: Path) -> None:
    """Make WORK/source this tree with our files over it.

    WORK/laid.json says what is there. Without it (the first time, or after a kill in the midst)
    all is laid, and built, anew.
    """
    note, source = work / "laid.json", work / "source"
    if note.exists():
        laid = {path: File(*x) for path, x in json.loads(note.read_text()).items()}
        note.unlink()
    else:
        laid = {}
        for folder in (source, work / "build", work / "module", work / "headers"):
            shutil.rmtree(folder, ignore_errors=True)
    over = {p: File(tree.files.get(p, File(PLAIN, "")).mode, blob(x)) for p, x in ours.items()}
    wanted = {**tree.files, **over}
    for path in laid.keys() - wanted.keys():
        (source / path).unlink()
    changed = [path for path, file in wanted.items() if laid.get(path) != file]
    for path, content in tree.read([path for path in changed if path not in ours]):
        write(source / path, wanted[path].mode, content)
    for path in set(changed) & ours.keys():
        write(source / path, wanted[path].mode, ours[path])
    note.write_text(json.dumps({path: (x.mode, x.blob) for path, x in wanted.items()}))


def write(path: Path, mode: str, content: bytes) -> None:
    """A file of Git's mode, in the place of whatever is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if mode == LINK:
        path.symlink_to(os.fsdecode(content))
        return
    path.write_bytes(content)
    if mode == PROGRAM:
        path.chmod(0o755)
