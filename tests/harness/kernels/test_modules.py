# SPDX-License-Identifier: GPL-2.0-only
"""Modules of a person's own: what they are made of. No kernel is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from harness.kernels import modules, names, options, store
from harness.kernels.errors import KernelError
from plan.errors import UsageError
from tests import own_module
from tests.small import SMALL


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return own_module.write(tmp_path / "mine")


def test_what_a_build_has_left_is_no_source(mine: Path) -> None:
    before = modules.contents([mine])
    assert [name for name, _ in before] == ["Kbuild", "tcp_mine.c"]
    for name in ("tcp_mine.o", "tcp_mine.ko", "tcp_mine.mod.c", ".tcp_mine.o.cmd", "modules.order"):
        (mine / name).write_text("made\n")
    (mine / ".git").mkdir()
    (mine / ".git" / "config").write_text("ours\n")
    (mine / "__pycache__").mkdir()
    (mine / "__pycache__" / "table.cpython-313.pyc").write_text("made\n")
    assert modules.contents([mine]) == before


def test_the_module_of_moving_paths_is_made_of_no_python() -> None:
    """Its folder has the code of the host, too, and a change of that needs no other kernel."""
    found = {name for name, _ in modules.contents([modules.MOVING])}
    assert {"Kbuild", "sch_moving.c", "rule.h", "path.h"} <= found
    assert {Path(name).suffix for name in found} == {"", ".c", ".h"} and "Makefile" not in found


def test_a_header_in_a_folder_below_counts(mine: Path) -> None:
    before = modules.contents([mine])
    (mine / "include").mkdir()
    (mine / "include" / "mine.h").write_text("#define BETA 3\n")
    assert set(modules.contents([mine])) - set(before) and set(before) < set(
        modules.contents([mine])
    )


def test_it_is_copied_with_a_rule_for_a_single_file(mine: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "left").mkdir(parents=True)
    modules.lay(mine / "tcp_mine.c", work)
    assert sorted(path.name for path in work.iterdir()) == ["Kbuild", "tcp_mine.c"]
    assert (work / "Kbuild").read_text() == "obj-m := tcp_mine.o\n"


def test_what_builds_no_module_is_told(mine: Path, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="mine builds no module; its Kbuild or Makefile"):
        modules.collect("6.1", mine, mine, tmp_path, set())


def test_a_module_without_its_c_file_is_refused_before_the_build(mine: Path) -> None:
    modules.check_sources([mine, modules.MOVING])
    (mine / "tcp_mine.c").rename(mine / "tcp_other.c")
    said = f"{mine}: its Kbuild builds tcp_mine.o, and the folder has no tcp_mine.c; put this file"
    with pytest.raises(UsageError, match=re.escape(said)):
        store.ready(f"6.12,module={mine}")
    rules = (mine / "Kbuild").read_text()
    for more in ("tcp_mine-y := tcp_other.o", "$(obj)/tcp_mine.c: make", "$(obj)/%.c: make"):
        (mine / "Kbuild").write_text(f"{rules}{more}\n")
        modules.check_sources([mine])


@pytest.mark.parametrize(
    ("names", "product"),
    [
        (("mine.bpf.c", "mine.bpf.c"), "mine.struct_ops.o"),
        (("mine.bpf.c", "mine.bpf.o"), "mine.struct_ops.o"),
        (("tcp_mine.c", "tcp_mine.ko"), "tcp_mine.ko"),
    ],
)
def test_two_files_that_would_be_one_beside_the_kernel(
    tmp_path: Path, names: tuple[str, str], product: str
) -> None:
    paths = [tmp_path / part / name for part, name in zip(("old", "new"), names, strict=True)]
    for path in paths:
        path.parent.mkdir()
        path.write_text("")
    said = f"{paths[0]} and {paths[1]} would both be its {product}; give each file a name"
    with pytest.raises(UsageError, match=re.escape(said)):
        store.found("".join(["6.12", *(f",module={path}" for path in paths)]))
    modules.check("6.12", [paths[0], paths[0]])


def test_two_folders_that_build_the_same_module(mine: Path, tmp_path: Path) -> None:
    output, taken = tmp_path / "output", set[str]()
    output.mkdir()
    (mine / "tcp_mine.ko").write_text("")
    modules.collect("6.1", mine, mine, output, taken)
    with pytest.raises(KernelError, match="builds tcp_mine.ko, and so does another module"):
        modules.collect("6.1", mine, mine, output, taken)


@pytest.mark.parametrize("name", ["Kbuild", "tcp_mine.o"])
def test_a_file_that_is_no_module(mine: Path, name: str) -> None:
    (mine / name).write_text("")
    with pytest.raises(UsageError, match=r"a C file \(.c, .bpf.c\), or a file \.ko"):
        modules.contents([mine / name])


def test_a_name_may_have_one(mine: Path) -> None:
    name = f"6.12,hz=250,module={mine}"
    assert options.parted(name) == (
        "6.12", options.Options(config=("CONFIG_HZ=250",), modules=(mine,))
    )  # fmt: skip
    assert names.runs_code(name) and options.split(f"6.1,{name}") == ["6.1", name]
    with pytest.raises(UsageError, match="there is no such file or folder"):
        options.parted(f"6.12,module={mine}/none")


def test_an_experiment_that_names_a_module_runs_nothing_unasked(mine: Path, tmp_path: Path) -> None:
    text = SMALL.replace('"newreno"', f'"module:{mine}", tcp.parameters = "none"')
    refused = f"lab.kernel = 6.12,module={mine}: the build runs files of this tree or module"
    with pytest.raises(UsageError, match=re.escape(refused)):
        Experiment.from_text(text).prepare(tmp_path / "out")
    with pytest.raises(UsageError, match="lab.kernel = 6.12,module=.* only in the uml lab"):
        Experiment.from_text(text).prepare(tmp_path / "out", lab="vm", trust_kernels=True)


def test_a_missing_file_is_told_before_the_permission(mine: Path, tmp_path: Path) -> None:
    """Also if another trial, which comes before, only needs the permission. Nothing is built."""
    (mine / "tcp_mine.c").rename(mine / "tcp_other.c")
    (tmp_path / "fix.patch").touch()
    (mine.parent / "README.md").write_text("## Where it is\n\nSave it as `tcp_mine.c`.\n")
    text = SMALL.replace('"sack"', f'"module:{mine}", tcp.parameters = "none"')
    text = text.replace("[base]", f'[base]\nlab.kernel = "6.12,patch={tmp_path}/fix.patch"')
    with pytest.raises(UsageError) as refused:
        Experiment.from_text(text).prepare(tmp_path / "out")
    said = (
        "builds tcp_mine.o, and the folder has no tcp_mine.c; put this file into the folder; the"
        f' section "Where it is" of {mine.parent}/README.md is about tcp_mine.c; then add'
        " --trust-kernels if you trust this tree or module: the build runs its files with your"
        " rights"
    )
    assert said in str(refused.value)
    with pytest.raises(UsageError, match=r"lab\.kernel = 6\.12,patch=[^,]+: the build runs files"):
        Experiment.from_text(text).prepare(tmp_path / "out", ["flavor=NewReno"])


def test_module_adds_a_level_that_alone_has_another_kernel(mine: Path, tmp_path: Path) -> None:
    wanted: list[str | None] = []

    def built(name: str) -> None:
        wanted.append(name)

    with pytest.MonkeyPatch.context() as patching:
        patching.setattr("harness.kernels.store.ready", built)
        patching.setattr("harness.kernels.store.found", lambda *_, **__: None)
        running = Experiment.from_text(SMALL).prepare(tmp_path / "out", module=str(mine))
    flavors = {trial.plan.tcp.flavor.name for trial in running.trials}
    assert flavors == {"newreno", "sack", "gentle"} and set(wanted) == {f"6.12,module={mine}"}
    with pytest.raises(UsageError, match="has a level SACK of flavor already"):
        sack = own_module.SOURCE.replace('"gentle"', '"SACK"')
        own_module.write(mine, sack)
        Experiment.from_text(SMALL).prepare(tmp_path / "out", module=str(mine))
    with pytest.raises(UsageError, match="has no factor flavor; write tcp.flavor = "):
        text = SMALL.replace("flavor = [", "tcp.flavor = [")
        Experiment.from_text(text.partition("[[rule]]\nwhen = { flavor")[0]).prepare(
            tmp_path / "out", module=str(mine)
        )
