# SPDX-License-Identifier: GPL-2.0-only
"""What would run a trial differently is another identity; what only judges it is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs import LABS, LabSpec
from harness.labs.uml import UmlLab
from harness.records import identity, sources
from tests.small import PROJECT

CODE = (
    "harness",
    "plan",
    "topology",
    "workload",
    "analysis",
    "studies",
    "lab",
    "tcp-configs",
    "bpf",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, and products that set-up might have made."""
    copy = tmp_path / "project"
    for folder in CODE:
        shutil.copytree(PROJECT / folder, copy / folder, ignore=shutil.ignore_patterns("__pyc*"))
    made = {name: tmp_path / name for name in ("kernel", "programs", "vm")}
    for folder in made.values():
        folder.mkdir()
    for name in ("linux", "tcp_bbr.ko"):
        (made["kernel"] / name).write_bytes(b"kernel")
    (made["vm"] / "vmlinuz").write_bytes(b"stock kernel")
    (made["vm"] / "cellbed_tcp.ko").write_bytes(b"module")
    (made["vm"] / "cellbed_window.ko").write_bytes(b"module of the window")
    for name in ("cellq", "cellq.bpf.o", "cellbed_tcp.ko", "cellbed_main.o", "cellbed.h"):
        (made["programs"] / name).write_bytes(name.encode())
        (made["programs"] / name).chmod(0o755 if name == "cellq" else 0o644)
    (tmp_path / "image" / "etc").mkdir(parents=True)
    (tmp_path / "image" / "etc" / "cellbed-identity").write_text("0123\n")
    places = {**made, "image": tmp_path / "image"}
    monkeypatch.setattr(paths, "places", lambda: places)
    monkeypatch.setattr(paths, "PROJECT", copy)
    monkeypatch.setattr(sources, "PROJECT", copy)
    return copy


def append(path: Path) -> None:
    """A comment, a byte: whatever it is, it is another content."""
    with path.open("ab") as stream:
        stream.write(b"# changed\n")


def changed(project: Path, name: str, lab: str = "uml") -> bool:
    before = identity.found(lab)
    append(project / name)
    return identity.found(lab) != before


@pytest.mark.parametrize(
    "name",
    [
        "harness/agent/trial.py",
        "plan/plan.py",
        "harness/capture.py",
        "harness/captures/pcap.py",
        "workload/www/source.py",
        "topology/queues/cells.py",
        "plan/dumbbell.py",
        "workload/www/schedule.py",
        "workload/wrk/wrk.lua",
        "harness/records/record.py",
        "topology/cellq_log.py",
        "../kernel/linux",
        "../kernel/tcp_bbr.ko",
        "../image/etc/cellbed-identity",
        "../programs/cellq",
        "../programs/cellq.bpf.o",
        "../programs/cellbed_tcp.ko",
    ],
)
def test_what_runs_in_a_trial_is_in_its_identity(project: Path, name: str) -> None:
    assert changed(project, name)


@pytest.mark.parametrize(
    "name",
    [
        "harness/judge/fidelity.py",
        "harness/judge/checks/link.py",
        "workload/packmime/checks.py",
        "topology/delays/connection/checks.py",
        "plan/checks.py",
        "harness/judge/judgement.py",
        "harness/campaign/campaign.py",
        "harness/api/progress.py",
        "harness/labs/uml.py",
        "analysis/metrics.py",
        "studies/ubrplus_1998/published/results.csv",
        "workload/www/programs/spec.c",
        "../programs/cellbed_main.o",
        "../programs/cellbed.h",
    ],
)
def test_what_judges_or_is_compiled_is_not(project: Path, name: str) -> None:
    """What is compiled is known by what came of it."""
    assert not changed(project, name)


def test_every_file_that_the_lab_may_read_counts(project: Path) -> None:
    names = {str(path.relative_to(project)) for path in identity.lab_code()}
    assert {"workload/wrk/wrk.lua", "harness/__init__.py", "harness/agent/__main__.py"} <= names
    for folder in ("harness/agent", "harness/captures", "plan", "topology", "workload"):
        for path in (project / folder).rglob("*.py"):
            assert path.name == "checks.py" or str(path.relative_to(project)) in names


def words(more: str) -> Callable[[UmlLab], list[str]]:
    """The boot line with one more word."""
    line = UmlLab.command_line
    return lambda lab: [*line(lab), more]


def test_the_boot_line_is_in_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.found("uml")
    monkeypatch.setattr(UmlLab, "command_line", words("nosmp"))
    assert identity.found("uml")["boot"] != before["boot"]


@pytest.mark.parametrize("library", ["numpy", "scipy"])
def test_what_draws_a_web_trace_is_in_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    before, real = identity.found("uml"), identity.version
    monkeypatch.setattr(identity, "version", lambda of: "0.0" if of == library else real(of))
    assert identity.found("uml") != before


@pytest.mark.parametrize(("lab", "name"), [("vm", "../vm/vmlinuz"), ("native", "lab/native/enter")])
def test_other_labs_have_what_runs_in_them(project: Path, lab: str, name: str) -> None:
    assert not changed(project, name, "uml")
    assert changed(project, name, lab)


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What a process remembers of its first call does not pass from test to test."""
    for remembered in (identity.remembered, identity.checkout):
        remembered.cache_clear()
    yield
    for remembered in (identity.remembered, identity.checkout):
        remembered.cache_clear()


@pytest.mark.parametrize(
    "name", ["../kernel/linux", "../image/etc/cellbed-identity", "../programs/cellq"]
)
def test_machines_with_other_products_do_not_pass_as_equal(
    project: Path, forgetful: None, name: str
) -> None:
    """What the workers of a cluster are asked for."""
    here = identity.checkout("uml")
    append(project / name)
    assert identity.checkout("uml") == here  # this process was begun with the others
    identity.remembered.cache_clear()
    identity.checkout.cache_clear()
    assert identity.checkout("uml") != here


def test_a_products_absence_is_told(project: Path, tmp_path: Path) -> None:
    """Without it no trial can run, so no record has such a name."""
    for path in (tmp_path / "kernel" / "linux", tmp_path / "image" / "etc" / "cellbed-identity"):
        path.unlink()
    shutil.rmtree(tmp_path / "programs")
    found = identity.found("uml")
    assert [found[part] for part in ("kernel", "image", "programs")] == ["absent"] * 3


@pytest.mark.parametrize("lab", ["uml", "vm", "vm-arm64"])
@pytest.mark.parametrize("clock", identity.CLOCKS)
def test_what_a_lab_is_told_is_the_same_on_every_machine(lab: str, clock: str) -> None:
    line = " ".join(LABS[lab](LabSpec(pairs=4, clock=clock), Path("/nowhere")).told())
    here = (str(PROJECT), str(Path.home()), str(paths.places()["cache"]), os.uname().nodename)
    assert not [word for word in here if len(word) > 3 and word in line]
    assert "/nowhere" not in line


def test_what_runs_a_trial_is_found_once_however_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes 24 ms, and three parts of a command ask, each with other arguments left out."""
    asked: list[str] = []
    identity.remembered.cache_clear()
    monkeypatch.setattr(identity, "found", lambda lab, *_: {"lab": asked.append(lab) or lab})
    try:
        identity.code("uml")
        identity.software("uml")
        identity.software("uml", None, layer=None)
    finally:
        identity.remembered.cache_clear()
    assert asked == ["uml"]
