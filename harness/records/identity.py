# SPDX-License-Identifier: GPL-2.0-only
"""Identity of what runs a trial and makes its record: code, boot line, image, kernel, programs.

All of it enters the trial's name, so that a record is taken up again only by what would run
the same. What only judges a record does not (harness/judge/judgement.py has a version of its own).

What set-up made is known by its content: a recipe alone gives another kernel when Debian has
another source package, another image when it has other packages. Kernel and programs are
byte for byte the same wherever the same compiler made them, so their bytes are hashed. Of an
image, whose files have the time of its making, lab/image/build notes a hash over the
checksums and versions of all its packages, and its first process.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness.host import paths
from harness.labs import LABS, Lab, LabSpec, layers
from harness.labs.base import MODULES
from harness.records import sources
from plan.plan import WORKLOADS

# What Python, nginx and wrk read in the lab.
IN_THE_LAB = ("harness/agent", "harness/captures", "plan", "topology", "workload")
SHARED = ("__init__", "capture")
# Compiled: known by what came of them. Read by nobody: documents.
NOT_READ = frozenset({".c", ".h", ".md", ".mk"})
# How what is compiled is made; and what the kinds' trials are held to, which only judges.
NOT_RUN = frozenset({"Makefile", "checks.py"})
# What makes a record's facts of what the lab left.
MAKES_RECORDS = ("harness.records.record",)
HOST_CODE = ("harness", "analysis", "plan")
CLOCKS = ("virtual", "real")


def code(lab: str = "uml", kernel: Path | None = None) -> str:
    """A hash over all that can change what a trial does in a lab (16 hex digits)."""
    return hashed(json.dumps(software(lab, kernel), sort_keys=True))


def software(
    lab: str,
    kernel: Path | None = None,
    receiver: Path | None = None,
    layer: Path | None = None,
) -> dict[str, str]:
    """What runs a trial in a lab and makes its record: a hash or a description of each part.

    Args:
        kernel: folder of a kernel that is not the lab's own.
        receiver: folder of the receivers' kernel, where they have one of their own.
        layer: folder of the packages that the lab has beside its image.

    Remembered as of the first call: the names of a campaign's trials have it in them.
    """
    return remembered(lab, kernel, receiver, layer)


@cache
def remembered(
    lab: str, kernel: Path | None, receiver: Path | None, layer: Path | None
) -> dict[str, str]:
    """found(), as of the first call; a cache tells an argument that is left out from None."""
    return found(lab, kernel, receiver, layer)


def found(
    lab: str,
    kernel: Path | None = None,
    receiver: Path | None = None,
    layer: Path | None = None,
) -> dict[str, str]:
    """software() as it is now."""
    arch = unbooted(lab).arch
    boot = [MODULES, *(unbooted(lab, clock).told() for clock in CLOCKS)]
    return {
        "code": sources.digest([*lab_code(), *record_code()]),
        "boot": hashed(json.dumps(boot)),
        "image": image(arch),
        "kernel": unbooted(lab, kernel=kernel).kernel_identity(),
        "programs": programs(paths.product("programs", arch)),
        "libraries": " ".join(f"{name} {version(name)}" for name in libraries()),
        **({} if kernel is None else {"release": (kernel / "release").read_text().strip()}),
        **({} if receiver is None else of_receivers(lab, receiver)),
        **({} if layer is None else {"layer": layers.identity(layer)}),
    }


def of_receivers(lab: str, kernel: Path) -> dict[str, str]:
    """What runs the receivers' half of a trial on two labs, and joins both."""
    return {
        "receiver_kernel": unbooted(lab, kernel=kernel).kernel_identity(),
        "receiver_release": (kernel / "release").read_text().strip(),
        "linked": linked(),
    }


def linked() -> str:
    """A hash over what joins two labs; no other trial depends on it."""
    return sources.digest(sources.files("harness/linked"))


def libraries() -> list[str]:
    """What is used on the host to make something for a lab (workload/source.py: LIBRARIES)."""
    kinds = WORKLOADS.with_word("LIBRARIES")
    return sorted({name for kind in kinds for name in getattr(kind, "LIBRARIES", ())})


def version(library: str) -> str:
    """The version of an installed library, from its folder of metadata in Python's path.

    importlib.metadata says the same, but its import takes a tenth of all imports of a command.
    """
    for folder in sys.path:
        for found in Path(folder).glob(f"{library}-*.dist-info/METADATA"):
            for line in found.read_text(encoding="utf-8").splitlines():
                if line.startswith("Version: "):
                    return line.removeprefix("Version: ").strip()
    from importlib import metadata  # for a library that is installed in another way

    return metadata.version(library)


def unbooted(lab: str, clock: str = "real", kernel: Path | None = None) -> Lab:
    """A lab to be asked, not to be booted."""
    return LABS[lab](LabSpec(pairs=0, clock=clock, kernel=kernel), Path())


def lab_code() -> Iterator[Path]:
    """The project's files that are read inside a lab."""
    shared = (paths.PROJECT / "harness" / f"{name}.py" for name in SHARED)
    for path in (*shared, *sources.files(*IN_THE_LAB)):
        if path.suffix not in NOT_READ and path.name not in NOT_RUN:
            yield path


def record_code() -> Iterator[Path]:
    """The files of MAKES_RECORDS."""
    yield from (path for module in MAKES_RECORDS if (path := sources.file_of(module)))


def image(arch: str = "") -> str:
    """The lab image: its recipe's name, and what its build noted of it."""
    path = paths.product("image", arch)
    note = path / "etc" / "cellbed-identity"
    return f"{path.stem} {note.read_text().strip()}" if note.exists() else paths.ABSENT


def programs(folder: Path) -> str:
    """The compiled programs, BPF objects and modules."""
    files = [path for path in folder.glob("*") if used(path)]
    return paths.content(*files) if files else paths.ABSENT


def used(path: Path) -> bool:
    """Is a file among the programs one that a lab uses? A compiler leaves more."""
    tool = not path.suffix and path.stat().st_mode & 0o100
    return path.is_file() and bool(tool or path.name.endswith((".ko", ".bpf.o")))


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: paths.DIGITS]


@cache
def checkout(lab: str) -> str:
    """A hash over all that a campaign's machines must have in common: code(), and the harness.

    Remembered as of the first call, since the code of a process is what it was then.
    """
    host = [path for path in sources.files(*HOST_CODE) if path.suffix == ".py"]
    return hashed(code(lab) + sources.digest(host))
