# SPDX-License-Identifier: GPL-2.0-only
"""Runs shell scripts in one lab, for tests of programs that a lab has and the host may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit

LIMIT_S = 300.0
# Each script in namespaces of its own, $SAID the folder that is the host's afterwards.
EACH = """
for SAID in /run/cellbed/scripts/*/; do
    export SAID
    cd "$SAID" && PYTHONPATH=/cellbed unshare --net --mount sh ./script > out 2> err
    echo $? > status
done
cd /cellbed && exec python3 -B -m harness.agent.power_off
"""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a script said, its exit status, and the folder ($SAID) that it could write to."""

    out: str
    err: str
    status: int
    folder: Path


def run(scripts: Mapping[str, str], folder: Path) -> dict[str, Said]:
    """Run scripts by name, one after the other, in a uml lab without a network, in virtual time."""
    for name, script in scripts.items():
        (folder / "scripts" / name).mkdir(parents=True)
        (folder / "scripts" / name / "script").write_text(script)
    (folder / "each").write_text(EACH)
    with UmlLab(LabSpec(pairs=1, main="exec sh /run/cellbed/each"), folder) as lab:
        wait_for_exit(lab, LIMIT_S)
    return {name: _said(folder / "scripts" / name) for name in scripts}


def _said(folder: Path) -> Said:
    out, err, status = ((folder / name).read_text() for name in ("out", "err", "status"))
    return Said(out=out, err=err, status=int(status), folder=folder)
