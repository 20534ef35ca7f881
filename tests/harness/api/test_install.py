# SPDX-License-Identifier: GPL-2.0-only
"""pip install -e . makes `import cellbed` work from anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.small import PROJECT


def test_it_installs_in_place(tmp_path: Path) -> None:
    """Without a network: what it depends on is in this environment."""
    copy = tmp_path / "cellbed"
    ignored = shutil.ignore_patterns(".*", "results", "__pycache__")
    shutil.copytree(PROJECT, copy, ignore=ignored)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation",
               "--no-index", "--prefix", tmp_path / "venv", "-e", copy]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    code = f"import site; site.addsitedir({str(site)!r})\nimport cellbed; print(cellbed.__file__)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for folder in (tmp_path / "venv", tmp_path):  # in the second, the folder bears the name
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment,
                              text=True, check=True, capture_output=True)  # fmt: skip
        assert done.stdout.strip() == str(copy / "cellbed.py")
