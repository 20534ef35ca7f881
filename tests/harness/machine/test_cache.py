# SPDX-License-Identifier: GPL-2.0-only
"""Of the cache only what cellbed made goes, and nothing while something is being made."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.host import paths
from harness.machine import clean
from plan.errors import CellbedError
from tests.small import PROJECT

A, B, C = "0123456789abcdef", "fedcba9876543210", "00112233445566ff"
FOLDERS = (
    *(f"{name}-{A}/x" for name in ("root", "image", "kernel", "full-kernel", "vm", "mininet")),
    *(f"programs-{A}-{B}-{C}", f"programs-{A}-{B}-{C}.tools", f"python-{A}-3.11/bin"),
    f"python-{B}-debian/bin",
    *(f"arm64-{name}-{A}/x" for name in ("cross", "image", "vm")),
    f"arm64-programs-{A}-{B}/x",
    f"quic-{A}-{B}/usr",
    *(f"mininet-{A},vim,g++", f"kernels/built-{A}", "kernels/work-6.1", "kernels/debian-6.1"),
    *(f"kernels/{name}-{A}" for name in ("recipe", "tests", "tools")),
    *("kernels/work-6.1-selftests", "kernels/debian-6.1-selftests"),
)
FILES = (
    *(f"arm64-disk-{A}.squashfs", f"arm64-disk-{B}.squashfs.partial"),
    *(f"disk-{A}.squashfs", f"processor-{A}-{B}.ko", "costs.json", "costs.123", "lock"),
    *(
        "mininet.lock",
        f"mininet-{A}.lock",
        f"quic-{A}-{B}.lock",
        f"kernels/recipe-{A}.lock",
        f"kernels/tests-{A}-{B}.lock",
        "kvm-00000000-1111-2222-3333-444444444444",
    ),
    *("log/lab-image.log", f"kernels/seen-{A}.json", "kernels/work-6.1/lock", "cluster.pem"),
)
PARTIALS = ("image.Xy12Ab", "root.Xy12Ab", "mininet.abcdef", "full-kernel.a1b2c3", "vm.123456",
            "cross.Xy12Ab", f"arm64-programs-{A}-{B}.Xy12Ab", "disk.from.xy12ab_3",
            f"programs-{A}-{B}-{C}.aB3dE6", "quic.a1B2c3",
            "kernels/debian-6.1.Xy12Ab", f"kernels/tools-{A}.Xy12Ab",
            f"kernels/recipe-{A}.xy12ab_3", f"kernels/tests-{A}.xy12ab_3",
            f"kernels/tests-{A}-{B}.Xy12Ab")  # fmt: skip
OTHERS = ("thesis.pdf", "image-of-my-cat/cat.png", "kernel-sources/Makefile", "python-3.11/x",
          "log/diary.txt", "kernels/notes", "image.jpegs/1", ".config/x")  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    for name in (*FOLDERS, *PARTIALS):
        (folder / name).mkdir(parents=True)
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(paths, "places", lambda: {"cache": folder})
    return folder


def put_others(cache: Path) -> None:
    for name in OTHERS:
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).touch()


def test_a_cache_of_cellbed_alone_goes_whole(cache: Path) -> None:
    assert clean.remove_cache() == clean.Leftovers(removed=[str(cache)])
    assert not cache.exists()


def test_whatever_else_is_in_it_stays(cache: Path) -> None:
    put_others(cache)
    [said] = clean.remove_cache().removed
    left = {str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()}
    assert left == set(OTHERS)
    assert said.startswith(f"what cellbed made in {cache}; left: .config, image-of-my-cat, ")


def test_a_link_goes_and_what_it_leads_to_stays(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "x").touch()
    (cache / f"image-{B}").symlink_to(tmp_path / "disk")
    clean.remove_cache()
    assert (tmp_path / "disk" / "x").exists() and not cache.exists()


@pytest.mark.parametrize(
    "name",
    [
        "lock",
        "mininet.lock",
        f"mininet-{A}.lock",
        "kernels/work-6.1/lock",
        f"kernels/recipe-{A}.lock",
    ],
)
def test_nothing_goes_while_something_is_being_made(cache: Path, name: str) -> None:
    with (cache / name).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CellbedError, match="another process writes there; try again"):
            clean.remove_cache()
        assert clean.remove_leftovers() == clean.Leftovers()
    assert all((cache / name).exists() for name in (*FOLDERS, *FILES, *PARTIALS))


def test_what_killed_set_ups_left_goes_without_being_asked_for(cache: Path) -> None:
    put_others(cache)
    assert sorted(clean.remove_leftovers().removed) == sorted(str(cache / x) for x in PARTIALS)
    assert all((cache / name).exists() for name in (*FOLDERS, *FILES, *OTHERS))
    assert clean.remove_leftovers() == clean.Leftovers()


def test_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path / "none"})
    assert clean.remove_leftovers() == clean.Leftovers()
    clean.remove_cache()


def test_what_is_mounted_in_it_is_not_entered(tmp_path: Path) -> None:
    """A killed build may leave the machine's own /proc or /dev mounted in its folder."""
    folder = tmp_path / f"image-{A}"
    (folder / "proc").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").touch()
    code = (
        "import sys; from pathlib import Path; from harness.machine import cache\n"
        "print(cache.remove(Path(sys.argv[1])))"
    )
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    script = f'mount --bind {tmp_path}/mine {folder}/proc && exec "$@"'
    said = subprocess.run(
        [*namespace, "sh", "-c", script, "-", sys.executable, "-c", code, str(folder)],
        cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert said == f"{folder}/proc is mounted in it\n"
    assert (tmp_path / "mine" / "x").exists() and folder.exists()
