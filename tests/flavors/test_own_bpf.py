# SPDX-License-Identifier: GPL-2.0-only
"""module:FILE.bpf.c as a flavor: what it is called, and which recipe its kernel has."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.flavors import own
from harness.kernels import modules, store, struct_ops
from harness.kernels.recipe import LAB
from plan.errors import UsageError
from tests.small import PROJECT

MINE = PROJECT / "tests" / "labs" / "mine.bpf.c"


def test_a_source_says_what_it_registers() -> None:
    found = own.load(f"module:{MINE}")
    assert (found.name, found.congestion) == ("bpf_mine", "bpf_mine")
    assert found.module == "mine.struct_ops.o"


def test_an_object_is_called_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "bpf_cubic.bpf.o").write_bytes(b"\x7fELF")
    found = own.load(f"module:{tmp_path}/bpf_cubic.bpf.o")
    assert (found.congestion, found.module) == ("bpf_cubic", "bpf_cubic.struct_ops.o")


def test_it_is_copied_without_a_rule_for_a_module(tmp_path: Path) -> None:
    modules.lay(MINE, tmp_path / "work")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["mine.bpf.c"]


def test_an_object_that_is_none_of_bpf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.o").write_bytes(b"\x7fELF")
    with pytest.raises(UsageError, match=r"name a folder, a C file, or a file \.ko or \.bpf\.o"):
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
