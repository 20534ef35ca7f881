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

from harness.host import paths
from plan.errors import MissingError, UsageError

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")  # Debian Policy 5.6.1
MODULE = "cellbed_processor.ko"


@dataclass(frozen=True, kw_only=True)
class Products:
    """An image with its disk beside it, and the kernel modules that a lab loads."""

    image: Path
    modules: tuple[Path, ...]
    built_in: tuple[str, ...] = ()


def require(lab: str, clock: str, packages: Sequence[str]) -> Products:
    """Make what is missing.

    Raises:
        UsageError: a package that cannot be one.
        MissingError: set-up has not been run, or making it failed.
    """
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise UsageError(f"--package {package} is not the name of a package of Debian 13")
    paths.programs()  # by set-up, with all else that a lab needs
    places, build = paths.places(), paths.PROJECT / "lab" / "mininet"
    wanted = sorted(set(packages))
    image = Path(",".join([str(places["mininet"]), *wanted]))
    label = " with ".join(["image for Mininet", *filter(None, [", ".join(wanted)])])
    make(label, image, [build / "build", image, *wanted])
    if lab == "vm":
        disk = Path(f"{image}.squashfs")
        make(f"disk of {label}", disk, [build.parent / "vm" / "disk", image, disk])
    if lab != "uml":
        return Products(image=image, modules=())
    module, kernel = places["processor"], places["kernel"]
    names = built_in(kernel)
    if clock != "virtual":
        return Products(image=image, modules=(), built_in=names)
    make("processor module", module, [build / "processor" / "build", kernel, module])
    return Products(image=image, modules=(module,), built_in=names)


def built_in(kernel: Path) -> tuple[str, ...]:
    """The names of the modules that a kernel has built in, as modprobe writes them."""
    table = kernel / "build" / "modules.builtin"
    lines = table.read_text().splitlines() if table.exists() else []
    return tuple(Path(line).stem.replace("-", "_") for line in lines)


def make(what: str, product: Path, argv: Sequence[str | Path]) -> None:
    """Run the script that makes a product, unless that is there."""
    if product.exists():
        return
    with only_one(what, product) as lock:
        if not product.exists():
            say(f"{what}: this command builds it once")
            build(what, argv, lock)


@contextmanager
def only_one(what: str, product: Path) -> Iterator[int]:
    """Two at once would make a product twice, into the same place. Gives the lock's descriptor.

    Raises:
        MissingError: nothing can be written there, as in a cache that others share.
    """
    try:
        lock = Path(f"{product}.lock").open("w")  # noqa: SIM115 (the next line closes it)
    except OSError as error:
        raise MissingError(
            f"{what} is missing and cannot be built in {product.parent} ({error.strerror}); build "
            "it "
            "as the owner of that folder, or name another folder with CELLBED_CACHE"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{what}: another command builds it; this command waits")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def build(what: str, argv: Sequence[str | Path], lock: int) -> None:
    """Run the script; it holds the lock, too, and so goes on alone if this process is killed."""
    log = paths.places()["cache"] / "log" / f"{what.replace(' ', '-')}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("wb") as stream:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, pass_fds=[lock],
            check=False,
        )  # fmt: skip
    if done.returncode:
        raise MissingError(f"{what} could not be built: {reason(log)} ({log})")


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, file=sys.stderr, flush=True)


def reason(log: Path) -> str:
    """The cause that a log names, as lab/setup tells it."""
    script = '. "$1" && reason "$2"'
    argv = ["bash", "-c", script, "-", str(paths.PROJECT / "lab" / "strict"), str(log)]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
