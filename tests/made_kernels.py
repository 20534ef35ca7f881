# SPDX-License-Identifier: GPL-2.0-only
"""Releases of set-up's kernel that nothing has compiled, for tests: `python -m tests.made_kernels`
is ./cellbed, but for a kernel git:DIR@COMMIT, where it takes set-up's bytes and changes in them

    RELEASE   what the kernel calls itself, as long as its own name
    BETA      cubic's factor of backing off (717 in 1024), which changes what a sender does

as the files of these names in the commit say.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.cli.program import main
from harness.host import paths
from harness.kernels import store
from harness.kernels.names import SET_UP
from plan.plan import Plan

BETA = 717
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")


@dataclass(frozen=True)
class Made:
    """As harness.kernels.kernel.Kernel, and runs any plan that set-up's runs."""

    folder: Path

    @property
    def identity(self) -> str:
        return paths.content(self.folder / "linux", *self.folder.glob("*.ko"))

    def fitted(self, wanted: Plan) -> Plan:
        return wanted


def release() -> str:
    """What set-up's kernel calls itself."""
    found = re.search(rb"Linux version (\S+) ", paths.kernel().read_bytes())
    assert found
    return found[1].decode()


def ready(name: str) -> Made | None:
    """In the place of store.ready()."""
    if name == SET_UP:
        return None
    tree, _, commit = name.removeprefix("git:").rpartition("@")
    wanted = {file: shown(tree, commit, file) for file in ("RELEASE", "BETA")}
    folder = Path(os.environ["CELLBED_MADE"]) / "-".join(wanted.values())
    if not folder.exists():
        make(folder, wanted["RELEASE"], int(wanted["BETA"]))
    return Made(folder)


def shown(tree: str, commit: str, file: str) -> str:
    argv = ["git", "-C", tree, "show", f"{commit}:{file}"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def make(folder: Path, called: str, beta: int) -> None:
    """A kernel's folder, which is there when it is whole."""
    own, partial = release(), folder.with_suffix(".partial")
    assert len(called) == len(own)
    partial.mkdir(parents=True)
    for path in (paths.kernel(), *paths.programs().glob("*.ko")):
        data = bytearray(path.read_bytes().replace(own.encode(), called.encode()))
        if path == paths.kernel():
            place = offset(data, "beta")
            assert struct.unpack_from("<i", data, place) == (BETA,)
            struct.pack_into("<i", data, place, beta)
        (partial / path.name).write_bytes(data)
        shutil.copymode(path, partial / path.name)
    (partial / "release").write_text(called)
    partial.rename(folder)


def offset(data: bytearray, symbol: str) -> int:
    """Where a variable of the kernel stands in its file."""
    said = subprocess.run(["nm", paths.kernel()], capture_output=True, text=True, check=True).stdout
    [address] = [int(x.split()[0], 16) for x in said.splitlines() if x.split()[1:] == ["d", symbol]]
    (begin,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        _, _, at, virtual, _, bytes_, *_ = PROGRAM_HEADER.unpack_from(data, begin + number * size)
        if virtual <= address < virtual + bytes_:
            return int(at + address - virtual)
    raise AssertionError(f"{symbol}: in no part of {paths.kernel()}")


if __name__ == "__main__":
    store.ready = ready  # type: ignore[assignment]
    store.found = lambda *_, **__: None  # type: ignore[assignment]
    sys.exit(main())
