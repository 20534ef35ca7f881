# SPDX-License-Identifier: GPL-2.0-only
"""Packages that some workloads need beside the lab image (workload/source.py: LAYER).

A layer is a folder that a lab mounts beside its root. So the image of all other trials is the same
whether there are layers or not, and set-up makes none. lab/NAME/build makes the layer NAME when a
trial first needs it. It is kept in the cache like set-up's products, so it is there without a
network afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.host import paths
from harness.host.making import make
from harness.labs import stock
from plan.errors import UsageError
from plan.plan import WORKLOADS, Plan

IDENTITY = Path("etc", "cellbed-identity")


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer that has been made: its name, and its folder."""

    name: str
    folder: Path

    @property
    def identity(self) -> str:
        """Its packages and its recipe, for the names of trials."""
        return identity(self.folder)


def identity(folder: Path) -> str:
    """What the build of a layer noted of it; paths.ABSENT where there is none."""
    note = folder / IDENTITY
    return f"{folder.name} {note.read_text().strip()}" if note.exists() else paths.ABSENT


def layer_of(lab: str, plan: Plan, *, build: bool = True) -> Layer | None:
    """The layer that a trial needs, made if it is not there; None: it needs none.

    This is asked of each trial before one runs, so it also refuses what the lab's kernel lacks.

    build: False makes none, and a layer that is not there then has a folder that does not exist.

    Raises:
        UsageError: the lab cannot have it.
        MissingError: it could not be made.
    """
    stock.refuse(lab, plan)
    kind = WORKLOADS.name_of(plan.workload)
    name = getattr(WORKLOADS[kind], "LAYER", None)
    if name is None:
        return None
    if lab != "uml":
        raise UsageError(f"workload.kind = {kind}: not with --lab {lab}; leave out --lab")
    return made(name) if build else Layer(name=name, folder=paths.places()[name])


@cache
def made(name: str) -> Layer:
    """A layer, made if it is not there."""
    image, folder = paths.image(), paths.places()[name]
    recipe = paths.PROJECT / "lab" / name / "build"
    make(f"packages for workload.kind = {name}", folder, [recipe, folder, image])
    return Layer(name=name, folder=folder)
