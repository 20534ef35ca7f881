# SPDX-License-Identifier: GPL-2.0-only
"""The module imp of Python 2, which Python 3.12 took out. What it loads is rewritten."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

PY_SOURCE, PKG_DIRECTORY = 1, 5  # kinds of a module


def make(loader: Callable[[str, str], SourceFileLoader]) -> ModuleType:
    """The module.

    Args:
        loader: makes the loader of a module from its name and its file.
    """
    module = ModuleType("imp")

    def load_source(name: str, path: str, file: object = None) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, path, loader=loader(name, path))
        if spec is None or spec.loader is None:
            raise ImportError(path)
        loaded = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded

    def load_module(name: str, file: Any, path: str, description: Any) -> ModuleType:
        inside = path if description[2] == PY_SOURCE else str(Path(path) / "__init__.py")
        return load_source(name, inside)

    vars(module).update(
        PKG_DIRECTORY=PKG_DIRECTORY, PY_SOURCE=PY_SOURCE, find_module=find_module,
        load_module=load_module, load_source=load_source, new_module=ModuleType,
        reload=importlib.reload,
    )  # fmt: skip
    return module


def find_module(name: str, folders: Any = None) -> tuple[Any, str, tuple[str, str, int]]:
    """The open file of a module, its path, and what it is.

    Raises:
        ImportError: no folder has it.
    """
    for folder in map(Path, sys.path if folders is None else folders):
        if (folder / name / "__init__.py").exists():
            return None, str(folder / name), ("", "", PKG_DIRECTORY)
        if (path := folder / f"{name}.py").exists():
            return path.open(), str(path), (".py", "r", PY_SOURCE)
    raise ImportError(f"No module named {name}")
