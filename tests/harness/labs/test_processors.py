# SPDX-License-Identifier: GPL-2.0-only
"""Which lab the options --lab and --arch ask for, and on which machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host import paths
from harness.labs import LABS, LabSpec, processors
from harness.labs.hardware import ARM64, X86_64
from plan.errors import MissingError, UsageError


@pytest.mark.parametrize(
    ("machine", "name", "arch", "lab"),
    [
        ("x86_64", None, None, "uml"),
        ("x86_64", "vm", None, "vm"),
        ("x86_64", "native", "x86-64", "native"),
        ("x86_64", "vm", "arm64", "vm-arm64"),
        ("x86_64", None, "arm64", "vm-arm64"),
        ("x86_64", "vm-arm64", None, "vm-arm64"),
        ("aarch64", None, None, "vm-arm64"),
        ("aarch64", "vm", None, "vm-arm64"),
        ("arm64", None, None, "vm-arm64"),
    ],
)
def test_a_lab_of_a_processor(
    machine: str, name: str | None, arch: str | None, lab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert processors.lab(name, arch) == lab
    assert lab in LABS


@pytest.mark.parametrize(
    ("name", "arch", "says"),
    [
        ("uml", "arm64", "--lab uml: this lab runs only on x86-64; take --lab vm for arm64"),
        ("native", "arm64", "--lab native: this lab runs only on x86-64"),
        ("vm-arm64", "x86-64", "this lab has an ARM64 processor"),
    ],
)
def test_a_lab_that_no_processor_has(name: str, arch: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        processors.lab(name, arch)


def test_each_lab_has_products_of_its_processor() -> None:
    """One that is not there is named with the command that makes it."""
    for name in LABS:
        lab = LABS[name](LabSpec(pairs=0), Path())
        assert lab.arch == ("arm64" if name == "vm-arm64" else "")
    assert paths.product("image", "arm64").name.startswith("arm64-image-")
    with pytest.raises(MissingError, match=r"run ./cellbed setup --vm --arch arm64$"):
        paths.require(Path("/nowhere"), "arm64")


def test_both_machines_are_told_which_emulator_is_missing() -> None:
    assert (X86_64.qemu, ARM64.qemu) == ("qemu-system-x86_64", "qemu-system-aarch64")
    assert ARM64.setup.endswith(paths.OPTIONS["arm64"])
