# SPDX-License-Identifier: GPL-2.0-only
"""The kernels of an experiment's trials: built when they are first needed, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

from harness.design.trials import Kernels, OwnKernel, TrialKernel
from harness.kernels import modules, names, store
from harness.kernels.kernel import read
from harness.kernels.options import parted, with_options
from harness.records import identity
from harness.runners.options import Cluster
from plan.errors import LabError, MissingError, NoFileError, UsageError
from plan.plan import Plan

NEEDS_TRUST = (
    "; then add --trust-kernels if you trust this tree or module: the build runs its files with"
    " your rights"
)


def kernels_of(
    lab: str, cluster: Cluster | None, trusted: Sequence[str] | None, debug: Sequence[str] = ()
) -> Kernels:
    """Return the kernels that lab.kernel names; each is built when it is first needed.

    If a trial needs options of Kconfig, its kernel is built with them (the other labs have stock
    kernels, which have them or do not).

    A person who receives an experiment's file does not expect that it runs code. Therefore only
    Debian's kernels are built without permission.

    trusted: the trees that may be built (their build files run here); None: all.
    debug: options of Kconfig that each kernel is built with.
    """

    here = lab == "uml" and cluster is None
    # The vm lab has Debian 13's kernel, of the same version. The native lab has the machine's.
    own = OwnKernel("" if lab == "native" else names.SET_UP)

    @cache
    def made(name: str | None, options: tuple[str, ...], *, linked: bool) -> TrialKernel:
        if name is None and linked:
            name = names.SET_UP
        if name is None:
            needed = bool(options) and here
            return Built(with_options(names.SET_UP, options)) if needed else own
        if name.startswith(","):
            name = names.SET_UP + name
        untrusted = names.runs_code(name) and trusted is not None and name not in trusted
        check_files(name, NEEDS_TRUST if untrusted else "")
        if not here:
            raise UsageError(
                f"kernel {name} works only in the uml lab of this machine; leave out --lab"
                " and --scheduler"
            )
        if untrusted:
            raise UsageError(
                f"kernel {name}: the build runs files of this tree or module with your "
                "rights; if you trust it, add --trust-kernels"
            )
        name = with_options(name, options)
        return Linked(name) if linked else Built(name)

    def kernel(
        name: str | None, options: Sequence[str] = (), *, linked: bool = False
    ) -> TrialKernel:
        return made(name, (*options, *debug), linked=linked)

    return kernel


def check_files(name: str, then: str) -> None:
    """UsageError where a name is that of no kernel, or a patch or a file of a module is missing.

    then: what else is to be said where a file is missing.
    """
    try:
        names.check(name)
        modules.check_sources(parted(name)[1].modules)
    except NoFileError as error:
        raise NoFileError(error.said, error.file, then) from error


class Built:
    """A kernel that is built when a trial first needs it, so that all names are read before."""

    def __init__(self, name: str) -> None:
        names.check(name)
        self.name = name

    @cached_property
    def kernel(self) -> TrialKernel:
        place = vars(self).get("_place")  # to look for it takes seconds
        if place is not None and self.name != names.SET_UP:
            return read(place)
        return store.ready(self.name) or OwnKernel(names.SET_UP)

    @property
    def folder(self) -> Path | None:
        return self.kernel.folder

    @property
    def identity(self) -> str:
        return self.kernel.identity

    def fitted(self, wanted: Plan) -> Plan:
        return self.kernel.fitted(wanted)

    def is_there(self) -> bool:
        """Is it built already? Builds and fetches nothing."""
        return "kernel" in vars(self) or self._place is not None

    @cached_property
    def _place(self) -> Path | None:
        """Where it was when this was first asked; None: it was not there."""
        return store.found(self.name)


class Linked(Built):
    """A kernel with the module of the wire to another lab (harness/linked)."""

    @cached_property
    def kernel(self) -> TrialKernel:
        """The kernel; a sentence about it has the name that the person wrote."""
        place = vars(self).get("_place")
        return replace(read(place) if place else store.linked(self.name), name=self.name)

    @property
    def identity(self) -> str:
        return f"{self.kernel.identity} {identity.linked()}"

    @cached_property
    def _place(self) -> Path | None:
        return store.found(self.name, wire=True)


@dataclass(frozen=True)
class NotBuilt:
    """A kernel that is not there, in a plan of which nothing is to be built or run.

    What only the built kernel tells, such as a queue that it lacks, is not known.
    """

    name: str
    identity: ClassVar[str] = " not built"

    @property
    def folder(self) -> Path:
        """One that does not exist; name_of() has the kernel's name from it."""
        return not_built_folder() / self.name

    def fitted(self, wanted: Plan) -> Plan:
        return wanted


def not_built_folder() -> Path:
    return names.home() / "not-built"


def name_of(folder: Path) -> str:
    """The name of a kernel that is not built, from the folder of NotBuilt."""
    return str(folder.relative_to(not_built_folder()))


def not_building(kernels: Kernels) -> Kernels:
    """The same kernels, of which none is built: NotBuilt stands for those that are not there."""

    @cache
    def kernel(
        name: str | None, options: Sequence[str] = (), *, linked: bool = False
    ) -> TrialKernel:
        found = kernels(name, options, linked=linked)
        return NotBuilt(found.name) if isinstance(found, Built) and not found.is_there() else found

    return kernel


def not_refusing(kernels: Kernels) -> Kernels:
    """The same kernels for trials that nobody runs: NotBuilt stands also for what is refused."""
    building = not_building(kernels)

    @cache
    def kernel(
        name: str | None, options: Sequence[str] = (), *, linked: bool = False
    ) -> TrialKernel:
        try:
            return building(name, options, linked=linked)
        except (UsageError, MissingError, LabError):
            return NotBuilt(name or names.SET_UP)

    return kernel
