# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that calls the module in another order is refused, before anything has run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.agent import callbacks
from harness.agent.flavor import FlavorError
from harness.exact_loss import host as exact_loss
from harness.exact_loss.job import Connection, Link
from harness.flavors import files as flavors
from harness.host import paths
from plan.errors import LabError

PATCH = Path(__file__).with_name("other-order.patch")
RECIPE = paths.PROJECT / "lab" / "kernel"
BUILD_S = 4 * 3600


@pytest.fixture
def parameters(tmp_path: Path) -> Path:
    (tmp_path / "callback_order").write_text("unknown\n")
    return tmp_path


def seen(parameters: Path, order: str) -> None:
    (parameters / "callback_order").write_text(f"{order}\n")


def test_the_right_order_is_taken_as_it_is_known(parameters: Path, monkeypatch):
    seen(parameters, "right")
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: pytest.fail("known already"))
    callbacks.check(parameters)


def test_an_unknown_order_is_looked_at(parameters: Path, monkeypatch):
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: seen(parameters, "right"))
    callbacks.check(parameters)


@pytest.mark.parametrize("order", ["wrong", "unknown"])
def test_another_order_is_refused_in_one_line(parameters: Path, monkeypatch, order: str):
    monkeypatch.setattr(callbacks, "send_one_segment", lambda: seen(parameters, order))
    monkeypatch.setattr(callbacks, "ACK_S", 0.01)
    with pytest.raises(FlavorError, match=rf"kernel \S+ is {order}: ") as caught:
        callbacks.check(parameters)
    assert "\n" not in str(caught.value)


def other_kernel() -> Path:
    """The lab kernel with the order reversed, built when its recipe has changed (minutes)."""
    files = [*sorted(RECIPE.glob("**/*")), PATCH]
    recipe = b"".join(path.read_bytes() for path in files if path.is_file())
    name = f"kernel-other-order-{hashlib.sha256(recipe).hexdigest()[:16]}"
    place = paths.places()["cache"] / name
    if not (place / "complete").exists():
        copy = place.with_name(f"{name}.recipe")
        shutil.copytree(RECIPE, copy, dirs_exist_ok=True)
        shutil.copy(PATCH, copy / "patches" / f"9999-{PATCH.name}")
        subprocess.run([copy / "build", place], check=True, timeout=BUILD_S)
        shutil.rmtree(copy)
    return place


@pytest.mark.lab
@pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1")
def test_a_kernel_with_the_other_order(monkeypatch):
    """A real one: no connection is run, and the message says why."""
    kernel = other_kernel() / "linux"
    monkeypatch.setattr(paths, "kernel", lambda: kernel)
    connection = Connection(id="x", flavor=flavors.load("reno").for_hosts(), writes=[(0, 1000)])
    with pytest.raises(LabError, match=r"order of calls in tcp_ack\(\) of kernel \S+ is wrong"):
        exact_loss.run_connections([connection], Link())
