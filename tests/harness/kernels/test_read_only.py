# SPDX-License-Identifier: GPL-2.0-only
"""A cache that is shared and cannot be written gives what is in it (docs/guides/classroom.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.kernels.trees import TOP
from tests.fresh import machine
from tests.read_only import read_only
from tests.small import PROJECT

# A kernel whose build is a stand-in; no patch of ours applies to its source.
ASK = """
import dataclasses, json, sys
from harness.kernels import kernel, patches, store
def build(name, found, patched, work, product, recipe):
    product.mkdir()
    note = {"name": name, "version": "6.1", "release": "6.1.3", "source": "", "left_out": [],
            "lacks": [], "sysctls": [], "no_module": "", "hz": 100}
    known = {field.name for field in dataclasses.fields(kernel.Kernel)}
    note = {key: value for key, value in note.items() if key in known}
    (product / kernel.NOTE).write_text(json.dumps(note))
store.build = build
patches.patched = lambda name, tree, recipe: patches.Patched(files={}, left_out=[])
print(store.ready(sys.argv[1]).release)
"""


def ask(source: Path, cache: Path, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-c", ASK, f"path:{source}"], cwd=PROJECT,
        env={**os.environ, "CELLBED_CACHE": str(cache)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


def test_a_kernel_that_is_built_needs_no_lock(tmp_path: Path) -> None:
    source, cache = tmp_path / "source", tmp_path / "cache"
    for path in (*TOP, "net/ipv4/tcp.c"):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text("one\n")
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
    cache.mkdir()
    first = ask(source, cache)
    assert first.stdout == "6.1.3\n", first.stderr
    again = ask(source, cache, *read_only(cache))
    assert again.stdout == "6.1.3\n", again.stderr
    (source / "net/ipv4/tcp.c").write_text("two\n")
    other = ask(source, cache, *read_only(cache))
    assert "Read-only file system" in other.stderr and str(cache) in other.stderr


def test_set_up_that_is_done_writes_nothing(tmp_path: Path) -> None:
    here = machine.make(tmp_path)
    assert here.run("cellbed", "setup").returncode == 0
    argv = here.argv_of("cellbed", "setup")
    argv["args"] = [*read_only(here.cache), *argv["args"]]  # type: ignore[misc]
    done = subprocess.run(**argv, capture_output=True, text=True, timeout=60, check=False)  # type: ignore[call-overload]
    [line] = done.stderr.splitlines()
    assert done.returncode == 0 and line.startswith("setup ") and line.endswith(" s  ready")
