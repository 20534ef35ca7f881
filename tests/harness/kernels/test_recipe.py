# SPDX-License-Identifier: GPL-2.0-only
"""The recipe of every lab kernel: what lab/kernel/build and set-up refuse. The compiler is none."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.small import PROJECT

SYSCTLS = "net/ipv4/sysctl_net_ipv4.c"
# Kconfig takes the lines that its source knows, which stands for all but what it is asked to lack.
MAKE = """#!/bin/sh
for word; do
	case $word in
	O=*) build=${word#O=} ;;
	KCONFIG_ALLCONFIG=*) grep -vE "^CONFIG_($LACKS)=" "${word#*=}" > "$build/.config" ;;
	linux)
		mkdir -p "$build/include/config" && touch "$build/linux" "$build/tcp_bbr.ko" &&
			echo 9.9.7 > "$build/include/config/kernel.release" ;;
	esac
done
exit 0
"""
Build = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """lab/kernel/build with words, on a source that lacks options."""
    (tmp_path / "make").write_text(MAKE)
    (tmp_path / "make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for path in ("init/main.c", SYSCTLS):
        (tmp_path / "work/source" / path).parent.mkdir(parents=True)
    (tmp_path / "work/source" / SYSCTLS).write_text(
        '{ .procname\t= "tcp_b" }, { .procname = "tcp_a" }'
    )

    def run(
        lacks: str, *options: str, hz: str = "", config: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        ticks = [f"CONFIG_HZ={hz}"] if hz else []
        words = [*options, tmp_path / "work", tmp_path / "out", *ticks, *config]
        return subprocess.run(
            [PROJECT / "lab/kernel/build", *words], capture_output=True, text=True, check=False,
            env={**os.environ, "LACKS": lacks},
        )  # fmt: skip

    return run


def note(folder: Path, name: str) -> list[str]:
    return (folder / "out" / name).read_text().splitlines()


def test_what_a_source_lacks_is_told(build: Build, tmp_path: Path) -> None:
    done = build("NET_SCH_CAKE|NET_SCH_FQ_PIE")
    assert done.returncode == 0, done.stderr
    assert note(tmp_path, "lacks") == ["NET_SCH_FQ_PIE", "NET_SCH_CAKE"]
    assert note(tmp_path, "hz") == ["1000"] and note(tmp_path, "release") == ["9.9.7"]
    assert note(tmp_path, "sysctls") == ["tcp_a", "tcp_b"]
    assert (tmp_path / "out/linux").exists() and (tmp_path / "out/tcp_bbr.ko").exists()


@pytest.mark.parametrize(
    ("lacks", "options", "said"),
    [
        ("VETH|NET_SCH_CAKE", [], "VETH"),
        ("VETH|HOSTFS", [], "HOSTFS, VETH"),
        ("NET_SCH_CAKE|VETH", ["--whole"], "VETH, NET_SCH_CAKE"),
    ],
)
def test_what_every_lab_needs_is_not_gone_without(
    build: Build, tmp_path: Path, lacks: str, options: list[str], said: str
) -> None:
    """And of set-up's kernel that is all of lab/kernel/config."""
    done = build(lacks, *options)
    sentence = f"lab/kernel/build: this kernel source lacks options that every lab needs: {said}"
    assert done.returncode == 3 and done.stderr.splitlines()[-1] == sentence
    assert not (tmp_path / "out/linux").exists()


def test_an_option_that_only_newer_sources_have(build: Build, tmp_path: Path) -> None:
    """It is asked for, and set-up's kernel goes without it."""
    done = build("NET_SCH_DUALPI2", "--whole")
    assert done.returncode == 0, done.stderr
    assert note(tmp_path, "lacks") == ["NET_SCH_DUALPI2"]
    assert build("none", "--whole").returncode == 0 and note(tmp_path, "lacks") == []


def test_ticks_that_a_source_refuses(build: Build, tmp_path: Path) -> None:
    assert build("none", hz="250").returncode == 0 and note(tmp_path, "hz") == ["250"]
    assert "this kernel source does not accept CONFIG_HZ=300" in build("HZ", hz="300").stderr


def test_options_that_a_name_asks_for(build: Build, tmp_path: Path) -> None:
    done = build("NET_SCH_CAKE", config=["CONFIG_NET_SCH_CAKE=n", "CONFIG_TLS=y"])
    assert done.returncode == 0, done.stderr
    assert note(tmp_path, "lacks") == ["NET_SCH_CAKE"]
    assert "CONFIG_TLS=y" in (tmp_path / "work/build/.config").read_text().splitlines()
    said = build("TLS", config=["CONFIG_TLS=y"]).stderr
    assert "does not accept CONFIG_TLS=y: its Kconfig makes it CONFIG_TLS=n;" in said
    said = build("VETH", config=["CONFIG_VETH=n"]).stderr
    assert "lacks options that every lab needs: VETH" in said


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """lab/kernel/set-up, with stand-ins of the three programs that it runs."""
    folder = tmp_path / "project/lab/kernel"
    folder.mkdir(parents=True)
    shutil.copy(PROJECT / "lab/strict", folder.parent)
    shutil.copy(PROJECT / "lab/kernel/set-up", folder)
    shutil.copytree(PROJECT / "lab/kernel/profile", folder / "profile")
    recipe(folder / "fetch", 'mkdir -p "$2/net"; touch "$2/net/tcp.c"; echo "$1" > "$2.version"')
    recipe(folder / "patch", "true")
    (tmp_path / "project/lab/root").mkdir()
    recipe(tmp_path / "project/lab/root/enter", 'exec "$@"')
    made = "mkdir -p build/net build/scripts; touch linux build/net/tcp.o build/net/tcp.h"
    asked = 'echo "$@" > "$2/asked"; cd "$2"; ls profile > given'
    recipe(folder / "build", f"{asked}; {made} build/scripts/basic.o")
    return tmp_path / "project"


def recipe(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh -e\n{script}\n")
    path.chmod(0o755)


def set_up(project: Path) -> subprocess.CompletedProcess[str]:
    argv = [project / "lab/kernel/set-up", project.parent / "kernel"]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_set_up_makes_a_whole_kernel_and_keeps_what_modules_need(project: Path) -> None:
    done = set_up(project)
    assert done.returncode == 0, done.stderr
    kernel = project.parent / "kernel"
    assert (kernel / "asked").read_text().split() == ["--whole", str(kernel), str(kernel)]
    assert (kernel / "source.version").read_text() == "6.12\n"
    kept = {"linux", "complete", "build/net/tcp.h", "build/scripts/basic.o"}
    assert "net#ipv4#tcp_input.gcda" in (kernel / "given").read_text().splitlines()
    notes = {"asked", "given", "source.version"}
    found = {str(path.relative_to(kernel)) for path in kernel.rglob("*") if path.is_file()}
    assert found == kept | notes


def test_set_up_takes_no_kernel_without_a_patch(project: Path) -> None:
    """For speed or not: it was made for this source."""
    recipe(project / "lab/kernel/patch", "echo Compile BPF programs to machine code")
    done = set_up(project)
    assert done.returncode == 3
    assert "does not apply: Compile BPF programs to machine code" in done.stderr
    assert not (project.parent / "kernel/complete").exists()


def test_set_up_ends_with_what_fails(project: Path) -> None:
    recipe(project / "lab/kernel/build", "exit 9")
    assert set_up(project).returncode == 9
    assert not (project.parent / "kernel/complete").exists()
