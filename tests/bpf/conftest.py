# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the queue's tests: the freshly compiled core."""

from __future__ import annotations

from pathlib import Path

import pytest

from topology import libcellq


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libcellq.so, built from the tree under test."""
    return libcellq.build(tmp_path_factory.mktemp("bpf"))
