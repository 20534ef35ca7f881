# SPDX-License-Identifier: GPL-2.0-only
"""What Mininet scripts need beside set-up's products: made when first used, and kept."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MissingError, UsageError
from harness.host import paths

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")  # Debian Policy 5.6.1
MODULE = "cellbed_processor.ko"


@dataclass(frozen=True, kw_only=True)
class Products:
    """An image with its disk beside it, and the kernel modules that a lab loads."""

    image: Path
    modules: tuple[Path, ...]


def require(lab: str, clock: str, packages: Sequence[str]) -> Products:
    """Make what is missing.

    Raises:
        UsageError: a package that cannot be one.
        MissingError: set-up has not been run, or making it failed.
    """
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise UsageError(f"--package {package}: not the name of a package of Debian 13")
    paths.programs()  # by set-up, with all else that a lab needs
    places, build = paths.places(), paths.PROJECT / "lab" / "mininet"
    wanted = sorted(set(packages))
    image = Path(",".join([str(places["mininet"]), *wanted]))
    with only_one():
        make("image for Mininet", image, [build / "build", image, *wanted])
        if lab == "vm":
            disk = Path(f"{image}.squashfs")
            make("disk for Mininet", disk, [build.parent / "vm" / "disk", image, disk])
        if lab != "uml" or clock != "virtual":
            return Products(image=image, modules=())
        module = places["processor"]
        kernel = places["kernel"]
        make("processor module", module, [build / "processor" / "build", kernel, module])
    return Products(image=image, modules=(module,))


@contextmanager
def only_one() -> Iterator[None]:
    """Two at once would make everything twice, into the same places."""
    with (paths.places()["cache"] / "mininet.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(what: str, product: Path, argv: Sequence[str | Path]) -> None:
    """Run the script that makes a product, unless that is there."""
    if product.exists():
        return
    print(f"{what}: building, once", file=sys.stderr)
    log = paths.places()["cache"] / "log" / f"{what.replace(' ', '-')}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as stream:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, check=False
        )
    if done.returncode:
        raise MissingError(f"{what} failed: {reason(log)} ({log})")


def reason(log: Path) -> str:
    """The cause that a log names, as lab/setup tells it."""
    script = '. "$1" && reason "$2"'
    argv = ["bash", "-c", script, "-", str(paths.PROJECT / "lab" / "strict"), str(log)]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
