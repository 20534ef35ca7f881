# SPDX-License-Identifier: GPL-2.0-only
"""What Mininet scripts need beside set-up's products: made when first used, and kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.host import paths
from harness.host.making import make
from harness.labs import processors
from harness.scripts.job import BUILT_IN, CONFIG
from plan.errors import UsageError

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")  # Debian Policy 5.6.1
# PEP 508: a name, extras in brackets, and a version.
PIP_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
PIP_PACKAGE = re.compile(rf"{PIP_NAME}(?:\[{PIP_NAME}(?:,{PIP_NAME})*\])?(?:==[A-Za-z0-9.]+)?")
PIP = "pip:"  # before such a name in the words of lab/mininet/build
COMPLETE = "complete"
# The names are what the kernel's build gives them.
NOTES = {**{f"build/{name}": name for name in BUILT_IN}, "build/.config": CONFIG}
# Modules that are built in make no device of which a script knows nothing, as on a machine that has
# not loaded them; events have the lab's clock, and not that of its ticks.
WORDS = "fb_tunnels=none bonding.max_bonds=0 dummy.numdummies=0 ifb.numifbs=0 trace_clock=mono"


@dataclass(frozen=True, kw_only=True)
class Products:
    """What a lab is made of.

    Attributes:
        image: with its disk beside it.
        modules: of the kernel, which the lab loads.
        kernel: its folder; None: the lab has another.
    """

    image: Path
    modules: tuple[Path, ...] = ()
    kernel: Path | None = None

    @property
    def notes(self) -> dict[str, bytes]:
        """What the lab is told of its kernel, by file names."""
        if self.kernel is None:
            return {}
        return {name: (self.kernel / made).read_bytes() for made, name in NOTES.items()}


def require(lab: str, clock: str, packages: Sequence[str], pip: Sequence[str] = ()) -> Products:
    """Make what is missing.

    Args:
        packages: of Debian.
        pip: of Python's index.

    Raises:
        UsageError: a package that cannot be one, or a lab for which nothing is made.
        MissingError: set-up has not been run, or making it failed.
    """
    if lab == processors.OF_ARM64:
        raise UsageError(f"--lab {lab}: scripts of Mininet do not run in this lab")
    check(packages)
    for package in pip:
        if not PIP_PACKAGE.fullmatch(package):
            raise UsageError(f"--pip {package} is not the name of a package of Python")
    label, made = image([*packages, *(f"{PIP}{package}" for package in pip)])
    if lab == "vm":
        disk = Path(f"{made}.squashfs")
        make(f"disk of {label}", disk, [recipes().parent / "vm" / "disk", made, disk])
    if lab != "uml":
        return Products(image=made)
    of_scripts = kernel()
    if clock != "virtual":
        return Products(image=made, kernel=of_scripts)
    module = paths.places()["processor"]
    make("processor module", module, [recipes() / "processor" / "build", of_scripts, module])
    return Products(image=made, modules=(module,), kernel=of_scripts)


def check(packages: Sequence[str]) -> None:
    """Refuse what cannot be a package of Debian.

    Raises:
        UsageError: one is none.
    """
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise UsageError(f"--package {package} is not the name of a package of Debian 13")


def recipes() -> Path:
    """The folder of the scripts that make them."""
    return paths.PROJECT / "lab" / "mininet"


def image(packages: Sequence[str] = ()) -> tuple[str, Path]:
    """What the image with these packages is called, and the image, made if it is not there."""
    paths.programs()  # by set-up, with all else that a lab needs
    wanted = sorted(set(packages))
    made = Path(",".join([str(paths.places()["mininet"]), *wanted]))
    label = " with ".join(["image for Mininet", *filter(None, [", ".join(wanted)])])
    make(label, made, [recipes() / "build", made, *wanted])
    return label, made


def kernel() -> Path:
    """The folder of the kernel for scripts, made if it is not there."""
    made = paths.places()["full"]
    make("kernel for Mininet", made, [recipes() / "kernel" / "build", made], made / COMPLETE)
    return made
