# SPDX-License-Identifier: GPL-2.0-only
"""The lab kernel's compiler: no stale object is linked, and none of other flags than it should."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

FILES = {
    "include/inner.h": "struct inner { int one; };\n",
    "include/outer.h": "#ifndef OUTER\n#define OUTER\n#include <inner.h>\n#endif\n",
    "init/precompiled.c": "#include <outer.h>\n",
    "net/user.c": "#include <outer.h>\nint size = sizeof(struct inner);\n",
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder of a version of Linux, as lab/kernel/build makes it, with a source of two files."""
    for path, text in FILES.items():
        (tmp_path / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / path).write_text(text)
    (tmp_path / "headers" / "all.h.gch").mkdir(parents=True)
    (tmp_path / "headers" / "all.h").touch()
    shutil.copy(PROJECT / "lab/kernel/cc", tmp_path / "cc")
    return tmp_path


def compile_file(work: Path, path: str, *options: str) -> list[str]:
    """Compile a file of the source as Kbuild does; what its object depends on."""
    source, dependencies = work / "source" / path, work / "d"
    argv = [
        *(work / "cc", work / "headers", f"-Wp,-MMD,{dependencies}"),
        *(
            "-D__KERNEL__",
            "-Wall",
            *options,
            "-I",
            work / "source/include",
            "-c",
            "-o",
            work / "o",
            source,
        ),
    ]
    subprocess.run(list(map(str, argv)), check=True)
    return dependencies.read_text().replace("\\\n", "").split()[1:]


def test_a_header_that_is_precompiled_makes_an_object_stale(work: Path) -> None:
    all_h = work / "headers" / "all.h"
    compile_file(work, "init/precompiled.c")
    needed = compile_file(work, "net/user.c")
    assert str(work / "source/include/inner.h") not in needed  # gcc's own account is short
    assert needed.count(str(all_h)) == 1
    os.utime(all_h, ns=(0, 0))
    compile_file(work, "net/user.c")
    assert all_h.stat().st_mtime_ns == 0
    compile_file(work, "init/precompiled.c")
    assert all_h.stat().st_mtime_ns > 0


def test_a_file_that_does_not_compile_fails(work: Path) -> None:
    (work / "source/net/user.c").write_text("no C\n")
    with pytest.raises(subprocess.CalledProcessError):
        compile_file(work, "net/user.c")


CALL = "static inline int calls(void) { return no_such_function(1); }\n"
REFUSED = {
    "an undeclared call": ("net/user.c", CALL),
    "an undeclared call in a header": ("init/precompiled.c", f"#include <outer.h>\n{CALL}"),
    "no type": ("net/user.c", "static typeless = 1;\n"),
    "a number for a pointer": ("net/user.c", "char *text = 5;\n"),
    "another pointer": ("net/user.c", "extern char *text; long *same(void) { return text; }\n"),
    "what the kernel's flags refuse": ("net/user.c", "int none(void) { }\n"),
}


@pytest.mark.parametrize(("path", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_newest_gcc_refuses_every_gcc_does(
    work: Path, path: str, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A kernel that the gcc of Debian 12 builds is built by that of Debian 13, too."""
    compile_file(work, "init/precompiled.c")
    (work / "source" / path).write_text(text)
    with pytest.raises(subprocess.CalledProcessError):
        compile_file(work, path, "-Werror=return-type")
    assert "error: " in capfd.readouterr().err


def test_a_warning_is_no_error_and_is_not_told(
    work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (work / "source/net/user.c").write_text("static int unused;\n#define A 1\n#define A 2\n")
    compile_file(work, "net/user.c", "-Wextra", "-Werror")
    assert (work / "o").exists() and not capfd.readouterr().err


DISTURBED = "struct inner { int two; };\nint size = sizeof(struct inner);\n"


def test_a_file_that_a_header_disturbs_is_compiled_as_usual(work: Path) -> None:
    (work / "source/net/user.c").write_text(DISTURBED)
    compile_file(work, "init/precompiled.c")
    (work / "headers/all.h").write_text("#include <outer.h>\n")
    compile_file(work, "net/user.c")
    assert (work / "o").exists()


KILLED = {
    "gcc itself": "kill -KILL $$",
    "its compiler": "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
    "without memory": "echo 'cc1: out of memory allocating 65536 bytes' >&2; exit 1",
    "by a fault": "echo 'a.c:1:1: internal compiler error: in x, at y.cc:1' >&2; exit 1",
    "with a full disk": """
echo 'a.c:1:1: error: unused variable' >&2
echo 'a.c:9: fatal error: error writing to /tmp/x.s: No space left on device' >&2; exit 1""",
}


@pytest.mark.parametrize("ends", KILLED.values(), ids=KILLED)
def test_a_compiler_that_is_killed_once_is_not_asked_with_other_flags(
    work: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], ends: str
) -> None:
    """What came of it would be another kernel."""
    (work / "bin").mkdir()
    compiler, calls = work / "bin/gcc", work / "calls"
    compiler.write_text(f"#!/bin/sh\n[ -e {calls} ] && exit 0\n: > {calls}\n{ends}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    with pytest.raises(subprocess.CalledProcessError):
        compile_file(work, "net/user.c")
    said = capfd.readouterr().err
    assert "lab/kernel/cc: gcc ended with status" in said and f"{work}/source/net/user.c;" in said
