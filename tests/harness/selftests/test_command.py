# SPDX-License-Identifier: GPL-2.0-only
"""The command `selftests` around its labs: what it prints, and what it leaves alone. No lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from harness.cli.commands import selftests
from harness.host.capacity import Capacity
from harness.selftests import suite
from harness.selftests.choice import Test
from harness.selftests.outcome import Outcome
from harness.selftests.sources import Kernel, Tests
from harness.selftests.suite import Found, Task
from plan.errors import LabError, UsageError

GOOD = Outcome(output="", status=0)
X, Y = Test("net", "x.sh"), Test("net", "y.sh")


def of_tree(kernel: str, *_: object) -> Tests:
    """Those of a tree that nobody lays out."""
    return Tests(kernel=kernel, place=Path(), chosen=[X], configs=[], all_configs=[])


def test_old_results_stay_if_a_kernel_does_not_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise LabError("it does not build")

    monkeypatch.setattr(selftests.sources, "tests", of_tree)
    monkeypatch.setattr(selftests.sources, "built", fails)
    mark = tmp_path / selftests.folder.MARK
    mark.write_text('[\n {\n  "kernel": "6.12"\n }\n]\n')
    run = CliRunner().invoke(selftests.command, ["net/x.sh", "--out", str(tmp_path)])
    assert isinstance(run.exception, LabError)
    assert list(tmp_path.iterdir()) == [mark]


@pytest.mark.parametrize("ends", [1, 0])
def test_ctrl_c_prints_what_did_not_run(
    ends: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And ends as Ctrl-C does; by default there are as many labs as have room for 2 GiB each."""
    asked: list[int] = []

    def execute(tasks: list[Task], repeat: int, labs: int, *_: object) -> tuple[Found, bool]:
        asked.append(labs)
        runs = {(one.row, one.test): {1: GOOD} for one in tasks[:ends]}
        return suite.gathered(runs), False

    monkeypatch.setattr(selftests.sources, "tests", lambda *x: replace(of_tree(*x), chosen=[X, Y]))
    monkeypatch.setattr(selftests.sources, "built", lambda *_: Kernel(tmp_path, "6.12.1"))
    monkeypatch.setattr(selftests, "products", SimpleNamespace(
        check=lambda _: None, image=lambda _: (None, tmp_path)))  # fmt: skip
    monkeypatch.setattr(selftests, "words", lambda _: "")
    monkeypatch.setattr(selftests, "tools", lambda: tmp_path)
    monkeypatch.setattr(selftests, "capacity", lambda lab_mib: Capacity(labs=lab_mib, bound=""))
    monkeypatch.setattr(selftests, "execute", execute)
    out = tmp_path / "out"
    run = CliRunner().invoke(selftests.command, ["net/x.sh", "--repeat", "3", "--out", str(out)])
    assert run.exit_code == 1 and "Aborted!" in run.output and asked == [2048]
    text = (out / "unfinished").read_text()
    if ends:
        assert "# cellbed: unfinished: selftests: net: y.sh: it did not run\n" in run.output
        rows = [line.split() for line in run.output.splitlines() if " 6.12 " in line]
        assert ["net/x.sh", "6.12", "virtual", "2"] in rows
        assert ["net/y.sh", "6.12", "virtual", "3"] in rows
        assert "net/y.sh (6.12, virtual clock): 3\n" in text
    else:
        assert sorted(path.name for path in out.iterdir()) == ["selftests.lock", "unfinished"]


def test_a_list_of_several_kernels_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    of = {"6.12": [X], "7.3": [X, Y]}
    monkeypatch.setattr(selftests.sources, "listed", lambda kernel, _: of[kernel])
    run = CliRunner().invoke(selftests.command, ["net/*", "--list", "--kernel", "6.12,7.3"])
    assert run.output == "# kernel 6.12\nnet/x.sh\n# kernel 7.3\nnet/x.sh\nnet/y.sh\n"
    run = CliRunner().invoke(selftests.command, ["net/*", "--list", "--kernel", "6.12"])
    assert run.output == "net/x.sh\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["net/x.sh", "--lab", "vm", "--kernel", "7.3"], "--lab vm has the kernel of Debian 13"),
        (["net/x.sh", "--lab", "vm", "--clock", "virtual,real"], "--lab vm runs tests only by"),
        (["net/x.sh", "--lab", "vm"], "TEST net/x.sh: the lab vm runs only scripts of packetdrill"),
    ],
)
def test_the_vm_lab_refuses_what_it_cannot_run(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftests.sources, "tests", of_tree)
    run = CliRunner().invoke(selftests.command, [*words, "--out", str(tmp_path)])
    assert isinstance(run.exception, UsageError) and str(run.exception).startswith(says)
