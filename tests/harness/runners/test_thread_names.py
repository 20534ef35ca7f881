# SPDX-License-Identifier: GPL-2.0-only
"""A class of ours hides nothing of a thread's own, whatever this version of Python calls it."""

from __future__ import annotations

import inspect
import re
import threading

import pytest

from harness.runners import cluster, lab_pool

MODULES = (cluster, lab_pool)
MEANT = {"run"}
THREADS = [
    kind
    for module in MODULES
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, threading.Thread) and kind.__module__ == module.__name__
]


def test_there_are_such_classes() -> None:
    assert THREADS


@pytest.mark.parametrize("kind", THREADS)
def test_no_name_of_a_thread_is_taken(kind: type[threading.Thread]) -> None:
    taken = {name for name in dir(threading.Thread()) if not name.startswith("__")} - MEANT
    attributes = set(re.findall(r"\bself\.(\w+)\s*(?::[^=\n]+)?=[^=]", inspect.getsource(kind)))
    assert not (set(vars(kind)) | attributes) & taken
