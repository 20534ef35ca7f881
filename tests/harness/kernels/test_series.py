# SPDX-License-Identifier: GPL-2.0-only
"""A source with the user's patches on it, as ,patch=FILE asks for. No kernel is built."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.host import paths
from harness.kernels import debug, names, patches, series, store, struct_ops, tracing
from harness.kernels.errors import KernelError
from harness.kernels.recipe import LAB, SELFTESTS, Recipe
from harness.kernels.trees import LINK, PLAIN, PROGRAM, TOP, Folder, blob
from plan.errors import UsageError

TCP, CUBIC = "net/ipv4/tcp.c", "net/ipv4/tcp_cubic.c"
LINES = "one\ntwo\nthree\n"
WHO = ["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.org"]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source in a repository of its own, and a cache."""
    monkeypatch.setattr(
        paths, "places", lambda: {"cache": tmp_path / "cache", "root": tmp_path / "root-1"}
    )
    folder = tmp_path / "tree"
    for path in (*TOP, CUBIC, "scripts/run.sh", "drivers/y/z.c"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(LINES)
    (folder / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "include").mkdir()
    (folder / "include/link.h").symlink_to("../net/ipv4/tcp.c")
    git(folder, "init", "-q")
    commit(folder, "first")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *WHO, *words], check=True, capture_output=True, text=True
    ).stdout


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)


def tree(source: Path) -> Folder:
    return Folder("x", source, source.parent / "seen.json")


@pytest.fixture
def two(source: Path) -> Path:
    """Two commits as mails in the wrong order, with an answer between them. The source stays."""
    (source / TCP).write_text(LINES.replace("two", "zwei — 2"))
    (source / "drivers/y/z.c").write_text("no lab needs it\n")
    commit(source, "tcp: count in German")
    git(source, "mv", CUBIC, "net/ipv4/tcp_quartic.c")
    (source / TCP).write_text(LINES.replace("two", "deux"))
    (source / "scripts/new.sh").write_text("exit\n")
    (source / "scripts/new.sh").chmod(0o755)
    commit(source, "tcp: count in French")
    mails = [source.parent / f"mail{n}" for n in (1, 2)]
    text = git(source, "format-patch", "--stdout", "-2")
    at = text.index("\nFrom ", 5) + 1
    for mail, part in zip(mails, (text[:at], text[at:]), strict=True):
        mail.write_text(part)
    git(source, "reset", "-q", "--hard", "HEAD~2")
    answer = mails[0].read_text().replace("Subject: ", "Subject: Re: ").replace("zwei", "nein")
    mbox = source.parent / "series.mbox"
    mbox.write_text(mails[1].read_text() + answer + mails[0].read_text())
    return mbox


def test_a_mailbox_is_applied_by_its_numbers(source: Path, two: Path) -> None:
    before = tree(source)
    after = series.amended("x", before, two)
    found = dict(after.read([TCP, "scripts/new.sh", "Makefile", "net/ipv4/tcp_quartic.c"]))
    assert found[TCP].decode() == LINES.replace("two", "deux")
    assert found["net/ipv4/tcp_quartic.c"].decode() == LINES
    assert found["Makefile"] == (source / "Makefile").read_bytes()
    changed = {
        p for p in {*before.files, *after.files} if before.files.get(p) != after.files.get(p)
    }
    assert changed == {TCP, CUBIC, "net/ipv4/tcp_quartic.c", "scripts/new.sh"}
    assert after.files["scripts/new.sh"].mode == PROGRAM and CUBIC not in after.files
    assert after.files[TCP].blob == blob(found[TCP]) and after.files[TCP].mode == PLAIN
    assert after.files["include/link.h"].mode == LINK
    assert (source / TCP).read_text() == LINES, "the user's tree was written to"


def test_a_patched_source_is_the_commit_s(source: Path, two: Path) -> None:
    """And a name that has a patch may run code."""
    none = patches.Patched(files={}, left_out=[])
    found = names.source(f"path:{source},patch={two}")
    assert found.text.endswith("with series.mbox") and names.runs_code(f"6.1,patch={two}")
    git(source, "am", "-q", *(str(source.parent / f"mail{n}") for n in (1, 2)))
    assert store.key(found, none) == store.key(names.source(f"git:{source}@HEAD"), none)


def test_a_folder_of_plain_patches(source: Path) -> None:
    folder = source.parent / "fixes"
    folder.mkdir()
    (folder / "README").write_text("no patch\n")
    head = f"--- linux/{TCP}\t2026-01-01\n+++ mine/{TCP}\t2026-01-02\n"
    (folder / "1.diff").write_text(f"{head}@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n")
    (folder / "2.patch").write_text(f"{head}@@ -1,3 +1,3 @@\r\n-1\r\n+eins\r\n two\r\n three\r\n")
    [(_, content)] = series.amended("x", tree(source), folder).read([TCP])
    assert content.decode() == LINES.replace("one", "eins")


def test_of_selftests_alone_a_patch_may_change_nothing(source: Path) -> None:
    """The kernel's own tests are a source of their own, with other files of the same tree."""
    fix, before = source.parent / "fix.patch", tree(source)
    fix.write_text(WRONG.replace(TCP, "drivers/y/z.c"))
    assert series.amended("x", before, fix, Recipe(kind=SELFTESTS)) is before
    of_bpf = Recipe(kind=struct_ops.KIND)
    with pytest.raises(UsageError, match="changes no file that a lab's kernel is made of"):
        series.amended("x", before, fix, of_bpf)


WRONG = f"--- a/{TCP}\n+++ b/{TCP}\n@@ -1,3 +1,3 @@\n one\n-zwo\n+2\n three\n"


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (WRONG, KernelError, f"fix.patch does not apply: {TCP}: Hunk #1 FAILED at 1."),
        ("", UsageError, "fix.patch has no patch in it"),
        (WRONG.replace("net/ipv4/tcp.c", "drivers/y/z.c"), UsageError, "changes no file that"),
        (WRONG.replace("net/ipv4/tcp.c", "net/ipv4/no.c"), KernelError, "does not apply: "),
    ],
)  # fmt: skip
def test_a_patch_that_cannot_be_used(
    source: Path, text: str, error: type[Exception], said: str
) -> None:
    fix = source.parent / "fix.patch"
    fix.write_text(text)
    with pytest.raises(error) as found:
        series.amended("6.1,patch=fix.patch", tree(source), fix)
    assert str(found.value).startswith("kernel 6.1,patch=fix.patch: ")
    assert said in str(found.value) and "\n" not in str(found.value)


def test_an_option_of_ours_brings_its_patch(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ours.patch").write_text(
        f"--- a/{CUBIC}\n+++ b/{CUBIC}\n@@ -2 +2 @@\n-two\n+ours\n"
    )
    monkeypatch.setattr(debug, "PATCHES", {"CONFIG_OURS=y": tmp_path / "ours.patch"})
    for name, content in ((",config=+OURS", "ours"), (",config=+OTHER", "two"), ("", "two")):
        tree = names.source(f"path:{source}{name}").tree
        [(_, found)] = tree.read([CUBIC])
        assert found.decode().splitlines()[1] == content


@pytest.mark.parametrize(
    ("options", "with_part", "built"),
    [("", False, True), (",config=+FTRACE", False, False), (",config=+FTRACE", True, True)],
)
def test_a_kernel_with_events_is_built_without_those_that_no_part_has(
    source: Path, options: str, with_part: bool, built: bool
) -> None:
    line = "obj-$(CONFIG_TRACING)\t\t+= trace.o\n"
    pci = source / "drivers/pci"
    pci.mkdir()
    (pci / "Makefile").write_text(f"CFLAGS_trace.o := -I$(src)\n{line}")
    (pci / "trace.c").write_text(LINES)
    recipe = Recipe(made=source.parent, kind="x", parts="tree/parts") if with_part else LAB
    (source / "parts").write_text("**/Makefile*\ndrivers/pci/*.[ch]\n" + "\n".join(TOP))
    [(_, found)] = names.source(f"path:{source}{options}", recipe).tree.read([tracing.MAKEFILE])
    assert (line in found.decode()) == built


@pytest.mark.lab  # it may fetch a source
@pytest.mark.parametrize("version", ["6.1", "6.12", "7.3"])
def test_the_patch_for_calls_applies(version: str, tmp_path: Path) -> None:
    folder, _ = names.debian(version)
    tree = Folder(version, folder, tmp_path / "seen.json")
    amended = series.amended(version, tree, debug.PATCHES["CONFIG_CELLBED_CALLS=y"])
    assert "net/ipv4/calls.c" in amended.files
