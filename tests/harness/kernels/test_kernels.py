# SPDX-License-Identifier: GPL-2.0-only
"""Kernels by name: sources read and laid, patches tried, refusals in one sentence. No lab."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from harness.design import experiment
from harness.host import paths
from harness.kernels import names, options, parts, patches, store
from harness.kernels.errors import KernelError
from harness.kernels.kernel import Kernel, tell
from harness.kernels.lay import lay
from harness.kernels.recipe import LAB, Recipe
from harness.kernels.trees import TOP, Commit, Folder, Tree
from plan.errors import LabError, UsageError
from plan.plan import to_json
from tests.small import PROJECT, TINY, tiny_trials, trials_of

TCP = "net/ipv4/tcp.c"
MAKEFILE, HEADER = "net/ipv4/Makefile", "include/net/trial_random_below.h"
PATCH = """Say more.

SPDX-License-Identifier: GPL-2.0-only
--- a/net/ipv4/tcp.c
+++ b/net/ipv4/tcp.c
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source in a repository of its own, with what a build in it leaves."""
    folder = tmp_path / "tree"
    for path in (*TOP, "scripts/run.sh", "net/ipv4/tcp.o", "Documentation/x.rst", "drivers/y/z.c"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("one\ntwo\nthree\n")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "include").mkdir()
    (folder / "include/link.h").symlink_to("../net/ipv4/tcp.c")
    (folder / ".gitignore").write_text("*.o\n")
    git(folder, "init", "-q")
    commit(folder, "first")
    return folder


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    argv = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path, title: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", title)
    return git(folder, "rev-parse", "HEAD")


def folder_tree(source: Path) -> Folder:
    return Folder("path:x", source, source.parent / "seen.json")


def test_a_folder_and_its_commit_are_the_same_source(source: Path) -> None:
    expected = {*TOP, "scripts/run.sh", "include/link.h"}
    trees: list[Tree] = [folder_tree(source), Commit("git:x@HEAD", source, "HEAD")]
    assert [set(tree.files) for tree in trees] == [expected, expected]
    assert trees[0].files == trees[1].files
    assert [dict(tree.read(sorted(expected))) for tree in trees][0] == dict(
        trees[1].read(sorted(expected))
    )
    (source / ".git").rename(source.parent / "no-git")
    assert folder_tree(source).files == trees[1].files


def test_a_change_is_seen_and_a_commit_does_not_have_it(source: Path) -> None:
    before = folder_tree(source).files
    (source / TCP).write_text("one\ntwo\nTHREE\n")
    after = folder_tree(source).files
    assert {path for path in after if after[path] != before[path]} == {TCP}
    assert Commit("git:x@HEAD", source, "HEAD").files == before


def test_only_what_differs_is_laid_anew(source: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    first = folder_tree(source)
    lay(first, {TCP: b"patched\n", "init/ours.c": b"ours\n"}, work)
    laid = work / "source"
    assert (laid / TCP).read_text() == "patched\n" and (laid / "init/ours.c").exists()
    assert os.access(laid / "scripts/run.sh", os.X_OK) and (laid / "include/link.h").is_symlink()
    times = {path: (laid / path).stat().st_mtime_ns for path in first.files}
    (source / "scripts/run.sh").write_text("new\n")
    (source / "include/link.h").unlink()
    lay(folder_tree(source), {TCP: b"patched\n"}, work)
    changed = {p for p in TOP if (laid / p).stat().st_mtime_ns != times[p]}
    assert not changed and (laid / "scripts/run.sh").read_text() == "new\n"
    assert not (laid / "include/link.h").is_symlink() and not (laid / "init/ours.c").exists()
    assert (source / TCP).read_text() == "one\ntwo\nthree\n"


def needing(words: str) -> str:
    """PATCH, with words on where it is needed."""
    return PATCH.replace("---", f"Needed{words}\n---", 1)


ELSEWHERE = PATCH.replace(" one\n", " ONE\n")
Add = Callable[[str, str], None]


@pytest.fixture
def with_patches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Patches of a project of one's own: by name and text."""
    project = tmp_path / "project"
    for path in ("lab/strict", "lab/kernel/parts", patches.PATCH):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / path, project / path)
    monkeypatch.setattr(paths, "PROJECT", project)

    def add(name: str, text: str) -> None:
        path = project / patches.FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return add


def test_a_patch_applies_or_its_other_form_does(source: Path, with_patches: Add) -> None:
    with_patches("02-say.patch", ELSEWHERE.replace("---", "Needed: always\n---", 1))
    with pytest.raises(KernelError, match="02-say.patch does not apply.*exact: Say more$"):
        patches.patched("x", folder_tree(source))
    with_patches("9.9/02-say.patch", PATCH)
    found = patches.patched("x", folder_tree(source))
    assert found.files == {TCP: b"one\n2\nthree\n"} and not found.left_out


def test_a_patch_that_adds_a_file_applies_after_another(source: Path, with_patches: Add) -> None:
    """And one with two hunks whole or not at all."""
    more = PATCH.replace("one\n-two\n+2\n three", "one\n 2\n-three\n+3").replace(
        "more", "still more"
    )
    new = "--- a/net/new.h\n+++ b/net/new.h\n@@ -0,0 +1 @@\n+new\n"
    with_patches("01-say.patch", PATCH)
    with_patches("02-say.patch", more + new)
    other = new.replace("new.h", "other.h") + PATCH[PATCH.index("---") :]
    with_patches("03-say.patch", f"Say it again\n\n{other}")
    found = patches.patched("x", folder_tree(source))
    assert found.files == {TCP: b"one\n2\n3\n", "net/new.h": b"new\n"}
    assert found.left_out == ["Say it again"]


def test_a_patch_for_speed_is_left_out_with_a_word(source: Path, with_patches: Add) -> None:
    with_patches("08-say.patch", ELSEWHERE)
    found = patches.patched("x", folder_tree(source))
    assert found.left_out == ["Say more"] and not found.files


def test_a_patch_is_needed_where_its_head_says_so(source: Path, with_patches: Add) -> None:
    with_patches("17-say.patch", needing(rf" where {TCP} has: two\nthr\w+"))
    assert patches.patched("x", folder_tree(source)).files
    (source / TCP).write_text("One\ntwo\nthree")
    with pytest.raises(KernelError, match="17-say.patch does not apply"):
        patches.patched("x", folder_tree(source))
    (source / TCP).write_text("one\ntwo\n\nthree\n")
    found = patches.patched("x", folder_tree(source))
    assert not found.files and not found.left_out


BBR_3 = PROJECT / "lab/kernel/patches/6.12/1005-bbr-3-trial-random.patch"
DRAWN = {
    1: "get_random_u32_below(bbr_cycle_rand);\n",
    3: "get_random_u32_below(bbr_param(sk, x));\n",
}


@pytest.mark.parametrize("version", [1, 3])
def test_version_3_of_bbr_draws_from_the_trial_s_seed(
    source: Path, with_patches: Add, version: int
) -> None:
    """Its patch is a person's own: the lab's changes how it is compiled, and no other kernel."""
    with_patches(f"6.12/{BBR_3.name}", BBR_3.read_text())
    before = [f"obj-$(CONFIG_INET_{name}_DIAG) += {name.lower()}_diag.o" for name in ("TCP", "UDP")]
    before.append("obj-$(CONFIG_INET_RAW_DIAG) += raw_diag.o")
    after = [
        f"obj-$(CONFIG_TCP_CONG_{name}) += tcp_{name.lower()}.o" for name in ("BBR", "BIC", "CDG")
    ]
    put(source / MAKEFILE, "\n".join([*before, *after, ""]))
    put(source / "net/ipv4/tcp_bbr.c", DRAWN[version])
    found = patches.patched("x", folder_tree(source))
    assert not found.left_out
    if version == 1:
        assert not found.files
        return
    assert set(found.files) == {HEADER, MAKEFILE}
    lines = found.files[MAKEFILE].decode().splitlines()
    assert lines == [
        *before,
        f"CFLAGS_tcp_bbr.o += -include {HEADER.removeprefix('include/')}",
        *after,
    ]
    assert (
        b"#define get_random_u32_below(ceil) reciprocal_scale(trial_random_u32()"
        in found.files[HEADER]
    )


def test_what_patch_cannot_do_is_no_fault_of_the_source(
    source: Path, with_patches: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_patches("02-say.patch", PATCH)
    (tmp_path / "patch").write_text(
        "#!/bin/sh\necho patch: write error: No space left >&2\nexit 2\n"
    )
    (tmp_path / "patch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(
        LabError, match="^kernel x: .*02-say.patch: patch: write error: No "
    ) as told:
        patches.patched("x", folder_tree(source))
    assert not isinstance(told.value, KernelError)


LINES = (PROJECT / LAB.parts).read_text().splitlines()
PARTS = ["Makefile", "drivers/a/Kconfig.b", "arch/arm/Makefile", "Kbuild", "drivers/net/veth.c",
         *(f"{line}/a/b.c" for line in LINES if re.fullmatch(r"[\w/]+", line))]  # fmt: skip
NO_PARTS = ["drivers/a/b.c", "drivers/net/a/b.c", "drivers/net/veth.o", "nets/a.c", "anet/a.c",
            "tools/perf/a.c", "Documentation/a.rst"]  # fmt: skip
# In place of lab/root/get: the package's file, as if it were Debian's.
GET = """
import shutil, sys
assert sys.argv[1] == "file" and sys.argv[4] == "linux-source-9.9"
shutil.copy({!r}, sys.argv[2])
"""
ENTER = '#!/bin/sh\nexec "$@"\n'  # this machine is the build root


@pytest.fixture
def debians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project for which Debian has the source 9.9."""
    top, package = tmp_path / "linux-source-9.9", tmp_path / "package"
    for path in PARTS + NO_PARTS:
        put(top / path, "")
    put(
        package / "DEBIAN/control",
        "Package: linux-source-9.9\nVersion: 9.9.7\nArchitecture: all\n"
        "Maintainer: t <t@t>\nDescription: t\n",
    )
    archive = package / "usr/src/linux-source-9.9.tar.xz"
    archive.parent.mkdir(parents=True)
    subprocess.run(["tar", "-C", tmp_path, "-cJf", archive, top.name], check=True)
    deb = tmp_path / "linux-source-9.9_1.deb"
    subprocess.run(["dpkg-deb", "-b", package, deb], check=True, capture_output=True)
    project = tmp_path / "project"
    for name in ("lab/strict", "lab/kernel/fetch", "lab/kernel/unpack", "lab/kernel/parts"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, project / name)
    put(project / "lab/root/get", GET.format(str(deb)))
    put(project / "lab/root/enter", ENTER)
    (project / "lab/root/enter").chmod(0o755)
    monkeypatch.setattr(paths, "PROJECT", project)
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path / "cache"})
    return project


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def fetched(recipe: Recipe) -> set[str]:
    """What of the source is kept."""
    folder, text = names.debian("9.9", recipe)
    assert text == "linux-source-9.9 9.9.7"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return found - {names.NOTE}


@pytest.mark.usefixtures("debians")
def test_what_is_fetched_is_what_the_kernel_is_made_of() -> None:
    """lab/kernel/parts means the same to tar and to the room; the package is a stand-in."""
    assert fetched(LAB) == {*PARTS, ".package"}
    assert [path for path in PARTS + NO_PARTS if parts.wanted(path)] == PARTS


@pytest.mark.usefixtures("debians")
def test_a_recipe_has_parts_of_its_own(tmp_path: Path) -> None:
    """As that of selftests, whose folder has no lab/root."""
    put(tmp_path / "made/lab/kernel/parts", "Documentation\n")
    assert fetched(Recipe(tmp_path / "made", "other")) == {"Documentation/a.rst", ".package"}


def test_tar_is_told_of_no_part_twice() -> None:
    """It takes a part that an earlier one has given it for one that is not there."""
    told = ["scripts", "arch/x86", "scripts", "arch/x86/Makefile*", "lib", "tools/lib"]
    assert parts.once(told) == ["scripts", "arch/x86", "lib", "tools/lib"]


@pytest.mark.usefixtures("debians")
def test_a_source_is_fetched_again_when_other_parts_are_named(tmp_path: Path) -> None:
    recipe = Recipe(tmp_path / "made", "other")
    named = tmp_path / "made/lab/kernel/parts"
    put(named, "Documentation\n")
    assert fetched(recipe) == {"Documentation/a.rst", ".package"}
    put(names.debian("9.9", recipe)[0] / "mark", "")
    put(named, "# a comment alone\nDocumentation\n")
    assert fetched(recipe) == {"Documentation/a.rst", ".package", "mark"}
    put(named, "Documentation\ninit\n")
    assert fetched(recipe) == {"Documentation/a.rst", "init/a/b.c", ".package"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("six", "one of 6.12"),
        ("6.1.2", "one of 6.12"),
        ("path:", "one of 6.12"),
        ("git:x", "one of 6.12"),
        ("path:/nowhere/at/all", "no such folder"),
        ("git:/nowhere/at/all@HEAD", "no such folder"),
        (f"git:{PROJECT}@no-such-commit", "no such commit"),
        ("git:/proc@HEAD", "/proc is in no repository of Git"),
        ("path:/proc", "no kernel source: it has no Makefile"),
        (f"git:{PROJECT}@HEAD", "no kernel source: it has no "),
        (f"path:{PROJECT}", "no kernel source: it has no "),
        ("6.12,hz=", "hz= must be a number from 100 to 1000$"),
        ("6.12,hz=99", "hz=99 must be a number from 100 to 1000$"),
        ("6.1,hz=10_0", "hz=10_0 must be a number from 100 to 1000$"),
        ("6.1,HZ=250", "one of 6.12"),
        (",hz=250", "one of 6.12"),
        ("path:/nowhere/at/all,hz=250", "no such folder"),
        ("6.1,config=", "config= must be [+]NAME, -NAME or NAME=VALUE"),
        ("6.1,config=VETH", "config=VETH must be [+]NAME, -NAME or NAME=VALUE"),
        ("6.1,config=+VETH=y", "config=[+]VETH=y must be [+]NAME, -NAME or NAME=VALUE"),
        ("6.1,patch=", "patch=: there is no such file or folder"),
        ("6.1,hz=250,patch=/nowhere", "patch=/nowhere: there is no such file or folder"),
    ],
)
def test_a_name_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path})
    with pytest.raises(UsageError, match=f"^kernel {re.escape(name)}: .*{words}"):
        store.ready(name)


def test_a_step_of_a_build_holds_the_lock_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may outlive the command that began it."""
    monkeypatch.setattr(store, "ENTER", "/bin/sh")
    is_open = f"readlink /proc/$$/fd/* | grep -Fx '{tmp_path / 'lock'}'"
    with (tmp_path / "log").open("wb") as log, store.locked(tmp_path, "6.1"):
        store.run("6.1", ["-c", is_open], log)


def test_who_waits_for_a_builder_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def flock(descriptor: int, how: int) -> None:
        if how & fcntl.LOCK_NB:
            raise BlockingIOError

    monkeypatch.setattr(store.fcntl, "flock", flock)
    with store.locked(tmp_path, "6.1"):
        pass
    said = f"kernel 6.1: another command builds in {tmp_path}; waiting\n"
    assert capsys.readouterr().err == said


def test_what_does_not_build_says_why(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("CC a.o\nnet/a.c:7:3: error: no such thing\nmake: *** [x] Error 2\n")
    error = store.failed("path:x", log)
    assert error.exit_code == 125 and "\n" not in str(error)
    start = "kernel path:x does not build: net/a.c:7:3: error: no such thing ("
    assert str(error).startswith(start)
    assert error.console.endswith("make: *** [x] Error 2")
    log.write_text(
        "lab/kernel/build: this kernel source lacks options that every lab needs: VETH\n"
    )
    assert "does not build: this kernel source lacks options that every lab needs: VETH (" in str(
        store.failed("6.1", log)
    )


def kernel(folder: Path, **more: object) -> Kernel:
    about: dict[str, object] = {
        **{"name": "6.1", "version": "6.1", "release": "6.1.9", "source": "s", "left_out": []},
        **{"lacks": [], "sysctls": ["tcp_sack"], "no_module": "needs 6.10"},
    }
    return Kernel(folder=folder, **(about | more))  # type: ignore[arg-type]


def test_what_a_kernel_lacks_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell.cache_clear()  # another test of this process may have said the same
    [trial] = tiny_trials(tmp_path)
    with pytest.raises(UsageError, match=r"6.1.9.* may_goto \(Linux 6.9\), .*; queue.kind = d"):
        kernel(tmp_path).fitted(trial.plan)
    newer = kernel(tmp_path, version="6.9")
    with pytest.raises(UsageError, match=r"cellbed_tcp, .*sack needs \(needs 6.10\); cubic"):
        newer.fitted(trial.plan)
    (tmp_path / "cellbed_tcp.ko").touch()
    fitted = newer.fitted(trial.plan)
    assert set(fitted.tcp.flavor.sysctl) == {"tcp_sack"}
    said = capsys.readouterr().err
    assert "kernel 6.1: without net.ipv4.tcp_dsack, which it does not have" in said


def test_another_queue_is_no_advice_for_a_flavor(tmp_path: Path) -> None:
    [trial] = tiny_trials(tmp_path)
    flavor = replace(trial.plan.tcp.flavor, sysctl={"tcp_ecn": 3})
    plan = replace(trial.plan, tcp=replace(trial.plan.tcp, flavor=flavor))
    with pytest.raises(UsageError, match=r"AccECN \(Linux 6.18\), which tcp.sysctl.*needs$"):
        kernel(tmp_path, version="6.12").fitted(plan)


def test_a_program_of_bpf_needs_its_file_and_the_compiler(tmp_path: Path) -> None:
    [trial] = tiny_trials(tmp_path)
    flavor = replace(trial.plan.tcp.flavor, name="mine", module="mine.struct_ops.o", sysctl={})
    plan = replace(trial.plan, tcp=replace(trial.plan.tcp, flavor=flavor))
    with pytest.raises(UsageError, match=r"no module mine.struct_ops.o, which tcp.flavor = mine"):
        kernel(tmp_path, version="6.12").fitted(plan)
    (tmp_path / "linux").write_bytes(b"")
    without = kernel(tmp_path, version="6.12").identity
    (tmp_path / "mine.struct_ops.o").write_bytes(b"\x7fELF")
    assert kernel(tmp_path, version="6.12").fitted(plan) == plan
    assert kernel(tmp_path, version="6.12").identity != without
    with pytest.raises(UsageError, match="no compiler of BPF programs, which tcp.flavor = mine"):
        kernel(tmp_path, version="7.3", lacks=["BPF_JIT"]).fitted(plan)


def test_losses_of_the_path_need_a_seed(tmp_path: Path) -> None:
    text = TINY.replace("delay_us", "loss = { share = 0.1 }, delay_us")
    text = text.replace('"sack"', '"cubic"').replace('{ policy = "plain", buffer_cells = 300 }',
                                                     '{ kind = "fq-codel" }')  # fmt: skip
    [trial] = trials_of(tmp_path, text)
    with pytest.raises(UsageError, match=r"no netem with a seed \(Linux 6.1\), which topology"):
        kernel(tmp_path, version="5.15").fitted(trial.plan)
    assert kernel(tmp_path).fitted(trial.plan).topology.loss is not None


def test_each_flavor_of_a_list_is_looked_at(tmp_path: Path) -> None:
    [trial] = trials_of(tmp_path, TINY.replace('"sack"', '["cubic", "bbr"]'))
    newer = kernel(tmp_path, version="6.9")
    with pytest.raises(UsageError, match="no module tcp_bbr, which tcp.flavor = bbr needs"):
        newer.fitted(trial.plan)
    (tmp_path / "tcp_bbr.ko").touch()
    fitted = newer.fitted(trial.plan).tcp
    assert [set(flavor.sysctl) for flavor in fitted.flavors] == [{"tcp_sack"}, {"tcp_sack"}]


def test_a_kernel_without_a_queue_is_refused(tmp_path: Path) -> None:
    text = TINY.replace('{ policy = "plain", buffer_cells = 300 }', '{ kind = "fq-codel" }')
    (tmp_path / "q.toml").write_text(text)
    loaded = experiment.load(tmp_path / "q.toml")
    from harness.design.trials import planned

    found = kernel(tmp_path, lacks=["NET_SCH_FQ_CODEL"])
    with pytest.raises(UsageError) as refused:
        planned(loaded, tmp_path, kernels=lambda name, options: found)
    said = "line 8: queue.kind = fq-codel: kernel 6.1 (6.1.9) has no queue fq_codel"
    assert str(refused.value) == f"{tmp_path / 'q.toml'}, {said}"


def test_the_lab_s_own_kernel_changes_no_name(tmp_path: Path) -> None:
    """And another one is another trial, whatever its level is called."""
    [plain] = tiny_trials(tmp_path)
    assert "kernel" not in plain.name and plain.kernel is None
    loaded = experiment.load(tmp_path / "small.toml")
    twice = experiment.with_kernels(loaded, tmp_path, ["6.12", "6.1"])
    assert twice.factors["kernel"] == ("6.12", "6.1")
    settings = [twice.settings(cell)["lab"] for cell in twice.cells()]
    assert settings == [{"kernel": "6.12"}, {"kernel": "6.1"}]
    with pytest.raises(UsageError, match="has a factor kernel"):
        experiment.with_kernels(twice, tmp_path, ["6.1"])


def test_a_trace_is_recorded_on_the_same_kernel_with_tracing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(store, "ready", asked.append)
    monkeypatch.setattr(store, "found", lambda *_, **__: None)
    (tmp_path / "x.toml").write_text(TINY)
    given = Experiment.from_file(tmp_path / "x.toml")
    tracing = ",config=+FTRACE,config=+ENABLE_DEFAULT_TRACERS"
    given.prepare(tmp_path / "out", trace=["tcp:tcp_probe"], kernels=["6.1", "6.12,hz=250"])
    assert asked == [f"6.1{tracing}", f"6.12,hz=250{tracing}"]
    asked.clear()
    [trial] = given.prepare(tmp_path / "out", trace=["tcp:tcp_probe"]).trials
    assert asked == [f"6.12{tracing}"] and to_json(trial.plan)["record"]["trace"]
    asked.clear()
    given.prepare(tmp_path / "out", trace=["tcp:tcp_probe", "calls:enter"])
    assert asked == [f"6.12{tracing},config=+CELLBED_CALLS"]
    asked.clear()
    [trial] = given.prepare(tmp_path / "out").trials
    assert asked == [] and "trace" not in to_json(trial.plan)["record"]
    [trial] = given.prepare(tmp_path / "out", lab="vm", trace=["tcp:tcp_probe"]).trials
    assert asked == [] and trial.kernel is None  # Debian's has tracing


def test_a_kernel_with_a_long_name_is_a_level_all_the_same() -> None:
    names = [f"6.12,config=+FTRACE,config=+ENABLE_DEFAULT_TRACERS,patch=/x/{n}.patch" for n in "ab"]
    levels = [experiment.kernel_level(name) for name in names]
    assert levels[0] != levels[1] and {len(level) for level in levels} == {64}
    assert all(level.startswith("6.12 config +FTRACE config +ENABLE_DEFAULT") for level in levels)


def test_a_patch_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence has the folder where it was looked for, and the comment that tells of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(
        f'# Get bbr3.patch from its author.\n{TINY}lab.kernel = "6.12,patch=bbr3.patch"\n'
    )
    here = f"in {tmp_path}, where this command runs"
    said = f"patch=bbr3.patch: there is no such file or folder {here}"
    more = "; the comment in line 1 of x.toml is about bbr3.patch"
    line = TINY.count("\n") + 2
    with pytest.raises(UsageError) as refused:
        Experiment.from_file(Path("x.toml")).prepare(tmp_path / "out", trust_kernels=True)
    key = "lab.kernel = 6.12,patch=bbr3.patch"
    assert str(refused.value) == f"x.toml, line {line}: {key}: {said}{more}"
    (tmp_path / "README.md").write_text("# All\n\n## BBR of today\n\nGet `bbr3.patch`.\n")
    more = '; the section "BBR of today" of README.md is about bbr3.patch'
    trust = "; then add --trust-kernels if you trust this tree or module: the build runs its files"
    with pytest.raises(UsageError) as refused:
        Experiment.from_file(Path("x.toml")).prepare(tmp_path / "out")
    assert str(refused.value) == f"x.toml, line {line}: {key}: {said}{more}{trust} with your rights"
    (tmp_path / "x.toml").write_text(TINY)
    with pytest.raises(UsageError) as refused:
        Experiment.from_file(Path("x.toml")).prepare(
            tmp_path / "out", kernels=["6.12,patch=bbr3.patch"]
        )
    assert str(refused.value).endswith(said)


@pytest.mark.parametrize("name", ["path:/nowhere", "git:/nowhere@HEAD", "path:/nowhere,hz=250"])
def test_a_file_builds_no_tree_of_its_own_accord(tmp_path: Path, name: str) -> None:
    """What its sender put into it runs only by the user's own word."""
    file = tmp_path / "x.toml"
    file.write_text(f'{TINY}[[rule]]\nwhen = {{}}\nset = {{ lab.kernel = "{name}" }}\n')
    given = Experiment.from_file(file)
    line = TINY.count("\n") + 3
    said = f"lab.kernel = {name}: the build runs files of this tree or module with your rights"
    refused = f"{file}, line {line}: {said}"
    with pytest.raises(UsageError, match=f"^{re.escape(refused)}; .* add --trust-kernels\n"):
        given.prepare(tmp_path / "out")
    with pytest.raises(UsageError, match="/nowhere: no such folder; put"):
        given.prepare(tmp_path / "out", trust_kernels=True)
    with pytest.raises(UsageError, match="/nowhere: no such folder; put"):
        given.prepare(tmp_path / "out", kernels=[name])


def cellbed(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "harness", *words]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=600, check=False, cwd=PROJECT
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["compare", "x.toml", "--kernel", "6.1"],
            "--kernel 6.1: name two different kernels, A,B",
        ),
        (["compare", "x.toml"], "compare needs either --factor FACTOR=A,B or --kernel A,B"),
        (["run", "x.toml", "--kernel", "six"], "kernel six: this name is not known; write one of"),
        (["run", "x.toml", "--kernel", "6.12,6.12"], "--kernel: 6.12 is named twice; name each"),
        (["run", "x.toml", "--kernel", "6.1", "--lab", "vm"], "only in the uml lab"),
        (["kernel", "remove", "6.12"], "set-up's kernel; ./cellbed clean --cache"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "x.toml").write_text(TINY)
    done = cellbed(*(str(tmp_path / word) if word == "x.toml" else word for word in words))
    code = 130 if words[0] == "compare" else 2  # git bisect stops by any from 128 on
    assert done.returncode == code and said in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_sources_of_a_version_are_built_in_one_folder(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path, "root": tmp_path / "root-1"})
    with pytest.raises(UsageError, match="its Makefile names no version"):
        names.source(f"path:{source}")
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 3\n")
    commit(source, "a version")
    found = [names.source(name) for name in (f"path:{source}", f"git:{source}@HEAD")]
    assert [one.version for one in found] == ["6.1", "6.1"]
    none = patches.Patched(files={}, left_out=[])
    assert store.key(found[0], none) == store.key(found[1], none)


def test_options_and_a_compiler_make_another_kernel(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same source, in the same folder."""
    places = {"cache": tmp_path, "root": tmp_path / "root-1"}
    monkeypatch.setattr(paths, "places", lambda: places)
    (source / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
    asked = ("", ",hz=250", ",config=-VETH,config=HZ=300")
    found = [names.source(f"path:{source}{words}") for words in asked]
    lines = [(), ("CONFIG_HZ=250",), ("CONFIG_VETH=n", "CONFIG_HZ=300")]
    assert [one.config for one in found] == lines
    assert {one.version for one in found} == {"6.1"}
    none = patches.Patched(files={}, left_out=[])
    keys = {store.key(one, none) for one in found}
    assert len(keys) == 3
    places["root"] = tmp_path / "root-2"  # another compiler
    assert store.key(found[0], none) not in keys


def test_a_list_of_names_keeps_what_belongs_to_each(tmp_path: Path) -> None:
    """A level has no comma, by which --only would part it."""
    text = "6.1,6.12,hz=250,git:x@y,hz=1000,6.12,6.1,patch=../a/fix.mbox,config=HZ=300"
    listed = options.split(text)
    assert [len(one.split(",")) for one in listed] == [1, 2, 2, 1, 3] and ",".join(listed) == text
    tiny_trials(tmp_path)
    asked = experiment.with_kernels(experiment.load(tmp_path / "small.toml"), tmp_path, listed)
    levels = (
        *("6.1", "6.12 hz 250", "git:x@y hz 1000", "6.12"),
        "6.1 patch fix.mbox config HZ 300",
    )
    assert asked.factors["kernel"] == levels
    assert [asked.settings(cell)["lab"]["kernel"] for cell in asked.cells()] == listed


def test_removing_takes_what_no_other_kernel_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "places", lambda: {"cache": tmp_path})
    home = names.home()
    for name in ("git:x@a", "git:x@b", "6.1", "6.1 with the lab's wire"):
        folder = home / f"built-{name}"
        folder.mkdir()
        about = {k: v for k, v in vars(kernel(folder, name=name)).items() if k != "folder"}
        (folder / "kernel.json").write_text(json.dumps(about))
    (home / "work-6.1").mkdir()
    store.remove("git:x")
    left = [one.name for one in store.built()]
    assert left == ["6.1", "6.1 with the lab's wire"] and (home / "work-6.1").exists()
    store.remove("6.1")
    assert not store.built() and not (home / "work-6.1").exists()
    with pytest.raises(UsageError, match="kernel 6.1: it is not built"):
        store.remove("6.1")


def test_the_wire_is_in_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of the checkout may have a comma, and what a person reads has no path."""
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(paths, "PROJECT", project := tmp_path / "a,module=b")
    monkeypatch.setattr(store, "beside_set_up", lambda *words: asked.append(words))
    monkeypatch.setattr(store, "made", lambda *words: asked.append(words))
    for name in ("6.12", "6.1,hz=250"):
        store.linked(name)
    wire = (project / "lab/wire",)
    assert asked == [
        ("6.12 with the lab's wire", wire),
        ("6.1,hz=250", LAB, wire, " with the lab's wire"),
    ]
