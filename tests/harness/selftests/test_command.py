# SPDX-License-Identifier: GPL-2.0-only
"""The command `selftests` around its labs: what it prints, and what it leaves alone. No lab."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.commands import selftests
from harness.selftests.choice import Test
from harness.selftests.sources import Tests
from plan.errors import LabError

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


def test_a_list_of_several_kernels_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    of = {"6.12": [X], "7.3": [X, Y]}
    monkeypatch.setattr(selftests.sources, "listed", lambda kernel, _: of[kernel])
    run = CliRunner().invoke(selftests.command, ["net/*", "--list", "--kernel", "6.12,7.3"])
    assert run.output == "# kernel 6.12\nnet/x.sh\n# kernel 7.3\nnet/x.sh\nnet/y.sh\n"
    run = CliRunner().invoke(selftests.command, ["net/*", "--list", "--kernel", "6.12"])
    assert run.output == "net/x.sh\n"
