# SPDX-License-Identifier: GPL-2.0-only
"""Dask is for many machines only: a local run never imports it, and without it says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.runners import runner
from harness.runners.options import Cluster, Options
from plan.errors import MissingError
from tests.small import PROJECT

LOCAL = """
import sys
from pathlib import Path
from harness import events
from harness.runners.options import Options
from harness.runners.runner import runner
with runner(Options(), Path("."), events.ignore) as made:
    assert not list(made.outcomes())
print([name for name in ("dask", "distributed", "tornado", "cryptography") if name in sys.modules])
"""


def test_a_local_runner_imports_no_dask() -> None:
    argv = [sys.executable, "-c", LOCAL]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_dask_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda _: None)
    options = Options(cluster=Cluster(address="tls://192.0.2.1:8786"))
    with pytest.raises(MissingError, match=r"\./cellbed setup --cluster$"):
        runner.runner(options, Path("."), lambda _: None)
