# SPDX-License-Identifier: GPL-2.0-only
"""module:FILE.bpf.c as a flavor: what it is called, and which recipe its kernel has."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.flavors import own
from harness.kernels import modules, patches, store, struct_ops
from harness.kernels.names import Source
from harness.kernels.patches import Patched
from harness.kernels.recipe import LAB
from harness.kernels.trees import PLAIN, File
from plan.errors import LabError, MissingError, UsageError
from tests.small import PROJECT, TINY, trials_of

MINE = PROJECT / "tests" / "labs" / "mine.bpf.c"


def test_a_source_says_what_it_registers() -> None:
    found = own.load(f"module:{MINE}")
    assert (found.name, found.congestion) == ("bpf_mine", "bpf_mine")
    assert found.module == "mine.struct_ops.o"


def test_an_object_is_called_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "bpf_cubic.bpf.o").write_bytes(b"\x7fELF")
    found = own.load(f"module:{tmp_path}/bpf_cubic.bpf.o")
    assert (found.congestion, found.module) == ("bpf_cubic", "bpf_cubic.struct_ops.o")


def test_two_programs_of_a_list_have_different_names(tmp_path: Path) -> None:
    """The second would be built over the first, or its flows would run the first."""
    old, new, other = tmp_path / "old.bpf.c", tmp_path / "new" / "old.bpf.c", tmp_path / "o.bpf.c"
    new.parent.mkdir()
    old.write_text(MINE.read_text())
    other.write_text(MINE.read_text())
    new.write_text(MINE.read_text().replace('"bpf_mine"', '"bpf_new"'))

    def plan(*names: object) -> None:
        listed = ", ".join(f'"{name}"' for name in names)
        trials_of(tmp_path, TINY.replace('"sack"', f"[{listed}]"))

    with pytest.raises(UsageError, match="have the same module old.struct_ops.o; give yours a"):
        plan(f"module:{old}", f"module:{new}")
    with pytest.raises(UsageError, match="have the same congestion control bpf_mine; give yours"):
        plan(f"module:{old}", f"module:{other}")
    other.write_text(MINE.read_text().replace('"bpf_mine"', '"cubic"'))
    with pytest.raises(UsageError, match="cubic and module.* have the same congestion control cub"):
        plan("cubic", f"module:{other}")
    same = (old, f"{tmp_path}/new/../old.bpf.c")
    own.check_distinct({f"module:{path}": own.load(f"module:{path}") for path in same})


def test_it_does_not_run_on_a_moving_path(tmp_path: Path) -> None:
    """Its kernel would be built for minutes, and then lack the module of the path."""
    (tmp_path / "path.csv").write_text("time_us,rate_bit_per_s,delay_us\n0,10000000,5000\n")
    text = TINY.replace("delay_us = 5_000", 'path = "path.csv", delay_us = 5_000')
    text = text.replace('{ policy = "plain", buffer_cells = 300 }', '{ kind = "fq-codel" }')
    assert trials_of(tmp_path, text.replace('"sack"', '"cubic"'))
    with pytest.raises(UsageError, match=r"BPF \(bpf_mine\) does not run with a moving path yet"):
        trials_of(tmp_path, text.replace('"sack"', f'"module:{MINE}"'))


@pytest.mark.parametrize("option", ["BPF_JIT", "DEBUG_INFO_BTF"])
def test_its_kernel_is_not_asked_to_go_without_what_it_needs(option: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"cannot run mine.bpf.c; leave out config=-{option}"):
        store.recipe_of(f"6.12,config=-{option},module={MINE}")
    (tmp_path / "tcp_mine.c").write_text("")
    assert store.recipe_of(f"6.12,config=-{option},module={tmp_path}/tcp_mine.c") == LAB


@dataclass(frozen=True)
class FewFiles:
    """A tree of a kernel's source."""

    files: Mapping[str, File]

    def read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        yield from ()


def test_a_source_without_the_compiler_is_refused_before_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, recipe = f"7.3,module={MINE}", store.recipe_of(f"6.12,module={MINE}")
    of_tree = {"Makefile": File(PLAIN, "0")}
    of_patches: dict[str, bytes] = {}

    def source(*_: object) -> Source:
        return Source(tree=FewFiles(dict(of_tree)), version="7.3", text="x", modules=(MINE,))

    def key(*_: object) -> str:
        raise LabError("the build begins")

    monkeypatch.setattr(store, "source", source)
    monkeypatch.setattr(store, "key", key)
    monkeypatch.setattr(patches, "patched", lambda *_: Patched(files=of_patches, left_out=[]))
    said = r"\(7.3\) has no compiler of BPF programs, which a congestion control in BPF needs; 6.12"
    with pytest.raises(UsageError, match=said):
        store.made(name, recipe)
    of_tree[struct_ops.COMPILER] = File(PLAIN, "0")
    with pytest.raises(LabError, match="the build begins"):
        store.made(name, recipe)
    of_tree.clear()
    of_patches[struct_ops.COMPILER] = b""
    with pytest.raises(LabError, match="the build begins"):
        store.made(name, recipe)


def test_it_is_copied_without_a_rule_for_a_module(tmp_path: Path) -> None:
    modules.lay(MINE, tmp_path / "work")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["mine.bpf.c"]


def of_the_kernel_s_tree(folder: Path) -> Path:
    """A program with headers beside it, as in the kernel's selftests; its link has another name."""
    progs = folder / "progs"
    progs.mkdir()
    (progs / "net.h").write_text('#include <vmlinux.h>\n # include "kfuncs.h"\n')
    (progs / "kfuncs.h").write_text('#include "net.h"\n')
    (progs / "other.h").write_text("")
    (folder / "above.h").write_text("")
    includes = ("net.h", "../above.h", "lacking.h")
    (progs / "cubic.c").write_text("".join(f'#include "{name}"\n' for name in includes))
    (folder / "bpf_cubic.bpf.c").symlink_to("progs/cubic.c")
    return folder / "bpf_cubic.bpf.c"


def test_it_is_compiled_with_the_headers_beside_it(tmp_path: Path) -> None:
    given = of_the_kernel_s_tree(tmp_path)
    modules.lay(given, tmp_path / "work")
    laid = {path.name for path in (tmp_path / "work").iterdir()}
    assert laid == {"bpf_cubic.bpf.c", "net.h", "kfuncs.h"}
    before = modules.contents([given])
    (tmp_path / "progs" / "kfuncs.h").write_text("\n")
    assert modules.contents([given]) != before


def test_a_link_has_its_own_name_and_not_that_of_the_file(tmp_path: Path) -> None:
    """By its file's name cubic.c would be a module of the kernel."""
    given = of_the_kernel_s_tree(tmp_path)
    name = own.on_kernel("6.12", [f"module:{given}"])
    assert name == f"6.12,module={given}"
    assert store.recipe_of(name).kind == struct_ops.KIND


def test_its_kernel_keeps_its_options_and_not_its_debugging_information() -> None:
    recipe = store.recipe_of(f"6.12,module={MINE}")
    assert recipe.kept == (".config",)
    build = (recipe.root / "lab" / "kernel" / "build").read_text()
    copies = [line.strip() for line in build.splitlines() if '"$work/build/linux"' in line]
    assert copies == [
        '*" CONFIG_DEBUG_INFO"*) cp "$work/build/linux" "$output" ;;',
        '*) strip --strip-debug -o "$output/linux" "$work/build/linux" ;;',
    ]


def test_an_object_that_is_none_of_bpf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.o").write_bytes(b"\x7fELF")
    with pytest.raises(UsageError, match=r"a C file \(.c, .bpf.c\), or a file \.ko or \.bpf\.o"):
        modules.contents([tmp_path / "mine.o"])


def test_its_kernel_has_a_recipe_of_its_own_and_no_other_kernel_has_it(tmp_path: Path) -> None:
    (tmp_path / "tcp_mine.c").write_text("")
    assert store.recipe_of(f"6.12,module={tmp_path}/tcp_mine.c") == LAB
    assert store.only_modules(f"6.12,module={tmp_path}/tcp_mine.c") == (tmp_path / "tcp_mine.c",)
    recipe = store.recipe_of(f"6.12,module={MINE}")
    assert recipe.kind == struct_ops.KIND and store.only_modules(f"6.12,module={MINE}") is None
    config = (recipe.root / "lab" / "kernel" / "config").read_text()
    ours = (PROJECT / "lab" / "kernel" / "config").read_text()
    assert config.startswith(ours) and "CONFIG_DEBUG_INFO_BTF=y" in config.splitlines()
    build = (recipe.root / "lab" / "kernel" / "build").read_text()
    assert "PAHOLE=pahole" in build and "PAHOLE=false" not in build


def test_how_it_is_compiled_is_a_part_of_its_kernel_s_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_bpf = store.recipe_of(f"6.12,module={MINE}")
    found = Source(tree=FewFiles({}), version="6.12", text="x", modules=(MINE,))
    none = Patched(files={}, left_out=[])
    before = [store.key(found, none, recipe) for recipe in (LAB, of_bpf)]
    changed = tmp_path / "compile"
    changed.write_text(struct_ops.COMPILE.read_text().replace("-O2", "-O1"))
    monkeypatch.setattr(struct_ops, "COMPILE", changed)
    after = [store.key(found, none, recipe) for recipe in (LAB, of_bpf)]
    assert after[0] == before[0] and after[1] != before[1]


def script(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the scripts for BPF, and a build root that set-up has made."""
    found = tmp_path / "project"
    for name in ("lab/strict", "lab/struct_ops/root", "lab/struct_ops/packages"):
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, found / name)
    (tmp_path / "root-1").mkdir()
    script(found / "lab/paths", f"echo root={tmp_path}/root-1")
    monkeypatch.setattr(struct_ops, "ROOT", found / "lab/struct_ops/root")
    return found


def test_why_its_build_root_cannot_be_made(project: Path, tmp_path: Path) -> None:
    """The last line has to be the reason, not the command that failed."""
    get = project / "lab/root/get"
    get.parent.mkdir()
    get.write_text('import sys; sys.exit("lab/root/get: the mirror cannot be reached")\n')
    with pytest.raises(MissingError) as told:
        struct_ops.make_root(tmp_path / "root-bpf")
    assert str(told.value) == (
        "the build root of kernels with BTF could not be made: its packages could not be fetched:"
        " the mirror cannot be reached"
    )
    assert not list(tmp_path.glob("root[.-]b*")) and not list(tmp_path.glob("root.*"))


def test_a_build_root_that_takes_too_long_is_told_in_a_sentence(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(project / "lab/paths", "exec sleep 5")
    monkeypatch.setattr(struct_ops, "TIMEOUT_S", 0.1)
    with pytest.raises(MissingError, match=r"could not be made: its packages were not there after"):
        struct_ops.make_root(tmp_path / "root-bpf")


def test_a_name_with_a_minus_sign_is_no_option_of_clang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "bin/bpftool")
    script(tmp_path / "bin/clang", f'printf "%s\\n" "$@" > {tmp_path}/given')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    source, made = tmp_path / "-mine.bpf.c", tmp_path / "made.o"
    source.write_text("")
    subprocess.run([struct_ops.COMPILE, tmp_path / "linux", source, made], check=True, timeout=60)
    given = (tmp_path / "given").read_text().splitlines()
    assert given[-4:] == ["-c", "./-mine.bpf.c", "-o", str(made)]
