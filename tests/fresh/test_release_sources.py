# SPDX-License-Identifier: GPL-2.0-only
"""lab/release/sources: what a release was made of, as the packages tell it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.fresh import mirror
from tests.small import PROJECT

# Runs the script's functions where its modules can be imported, and nowhere else.
CALL = """
import json, pathlib, runpy, sys
script = runpy.run_path(sys.argv[1])
print(json.dumps(eval(sys.argv[2], script)))
"""
COPYRIGHT = "Files: *\nLicense: GPL-2+\n text\n\nFiles: x\nLicense: Expat\n\nLicense: GPL-2+\n"


def call(expression: str) -> object:
    argv = [sys.executable, "-c", CALL, PROJECT / "lab/release/sources", expression]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_copyright_file_of_debians_format_names_licences() -> None:
    assert call(f"licences({COPYRIGHT!r})") == "Expat; GPL-2+"
    assert call("licences('This is free software.')") == ""


def test_the_copyright_file_is_read_of_the_package(tmp_path: Path) -> None:
    path = tmp_path / "hello_1_amd64.deb"
    name = "usr/share/doc/hello/copyright"
    path.write_bytes(mirror.deb([("./usr/bin/hello", tarfile.REGTYPE, "hi"),
                                 (f"./{name}", tarfile.REGTYPE, COPYRIGHT)]))  # fmt: skip
    where = f"__import__('pathlib').Path({str(path)!r})"
    assert call(f"text_of({where}, 'data.tar', {name!r})") == COPYRIGHT
    assert call(f"text_of({where}, 'data.tar', 'usr/share/doc/other/copyright')") == ""


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ("License-Expression: MIT\nLicense: no", "MIT"),
        ("Classifier: License :: OSI Approved :: BSD License", "BSD License"),
        ("License: Apache-2.0", "Apache-2.0"),
        ("Summary: x", ""),
    ],
)
def test_a_wheel_names_its_licence(tmp_path: Path, said: str, licence: str) -> None:
    with zipfile.ZipFile(tmp_path / "x-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("x-1.dist-info/METADATA", f"Name: x\nVersion: 1\n{said}\n\ntext\n")
    [line] = call(f"list(of_wheels(__import__('pathlib').Path({str(tmp_path)!r})))")  # type: ignore[misc]
    assert line[:3] == ["Python", "x", "1"] and line[5] == licence
    assert line[6] == "pkg:pypi/x@1"


def test_a_version_of_debians_in_a_package_url() -> None:
    assert call("source_of_debian('gcc-14', '1:14.2.0-19+b1~x')") == (
        "pkg:deb/debian/gcc-14@1:14.2.0-19%2Bb1~x?arch=source"
    )


def test_every_patch_of_the_kernel_is_a_line() -> None:
    kernel, *patches = call("list(of_kernel('6.12.1-1'))")  # type: ignore[misc]
    assert kernel[3:5] == ["linux", "6.12.1-1"]
    assert kernel[6] == "pkg:deb/debian/linux@6.12.1-1?arch=source"
    names = sorted(path.name for path in (PROJECT / "lab/kernel/patches").glob("*.patch"))
    assert [patch[1] for patch in patches] == names and names
