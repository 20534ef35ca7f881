# SPDX-License-Identifier: GPL-2.0-only
"""module:PATH as a flavor: what it is called, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.flavors import files, own
from plan.errors import UsageError
from tests import own_module


def test_a_folder_says_its_module_and_its_source_the_control(tmp_path: Path) -> None:
    found = own.load(f"module:{own_module.write(tmp_path / 'mine')}")
    assert (found.name, found.congestion, found.module) == ("gentle", "gentle", "tcp_mine")
    like = files.load("linux-reno")
    assert (found.sysctl, found.route, found.parameters) == (like.sysctl, like.route, {})


@pytest.mark.parametrize("file", ["tcp_mine.ko", "tcp_mine.c"])
def test_a_file_that_names_no_control_is_called_as_linux_would(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text('static struct tcp_congestion_ops mine;\nchar *name = "other";\n')
    found = own.load(f"module:{tmp_path / file}")
    assert (found.congestion, found.module) == ("mine", "tcp_mine")


def test_of_two_controls_that_of_the_module_counts(tmp_path: Path) -> None:
    second = own_module.SOURCE + own_module.SOURCE.replace('"gentle"', '"mine"')
    assert own.load(f"module:{own_module.write(tmp_path / 'mine', second)}").congestion == "mine"


@pytest.mark.parametrize(
    ("rules", "said"),
    [("obj-m := a.o\nobj-m += b.o\n", "one line obj-m := NAME.o, and has 2"), ("all:\n", "has 0")],
)
def test_a_folder_of_another_number_of_modules(tmp_path: Path, rules: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        own.load(f"module:{own_module.write(tmp_path / 'mine', rules=rules)}")


def test_what_is_no_module(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Kbuild and no Makefile"):
        own.load(f"module:{tmp_path}")
    with pytest.raises(UsageError, match=r"nowhere: it does not exist; name a folder"):
        own.load(f"module:{tmp_path}/nowhere")


def test_the_kernel_of_flavors_has_each_module_once() -> None:
    assert own.on_kernel("6.1", ["cubic", "module:/a", "module:/b", "module:/a"]) == (
        "6.1,module=/a,module=/b"
    )
    assert own.on_kernel(None, ["module:/a"]) == ",module=/a"
    assert own.on_kernel(None, ["cubic"]) is None
