# SPDX-License-Identifier: GPL-2.0-only
"""Finds the file of the script's folder that Python refuses, where a controller names a module.

Ryu hides why Python refuses an application: it then looks for a module of this name, and says that
there is none. In the lab.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.scripts.job import WORK

NO_MODULE = re.compile(
    r"ModuleNotFoundError: No module named '(?P<name>[^']+)'(?:; '[^']+' is not a package)?"
)
# Of a traceback: the file that a line is in.
FRAME = re.compile(r'File "(?P<file>[^"]+)", line \d+, in .*')


def find(name: str, command: str) -> Path | None:
    """The file of a module that is there, though Python found no module of this name.

    Args:
        name: as Python says it: a path, with or without .py, or a name with dots.
        command: of a shell, in the script's folder; it may change into another one.
    """
    plain = name.removesuffix(".py")
    for folder in folders(command):
        for path in (folder / f"{plain}.py", folder / f"{plain.replace('.', '/')}.py"):
            if path.is_file():
                return path
    return None


def beside_importer(name: str, importer: str) -> bool:
    """Is a module, of which Python says that there is none, in the folder of the file that asks for
    it? Only Python 2 looks there, for a file of a package.

    Of a name with a dot, Python lacks only the last part. It has found the part before the dot, as
    of `ryu.base` a controller that its author saved as ryu.py.
    """
    if not importer or "." in name:
        return False
    folder = Path(importer).parent
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()


def folders(command: str) -> list[Path]:
    """The script's folder, and those that a command names, with its files'."""
    named = [WORK / word.strip("'\";&()") for word in command.split()]
    return [WORK, *(path if path.is_dir() else path.parent for path in named)]


def complaint(path: Path) -> str:
    """What Python says of the grammar of a file, with its line, or nothing."""
    try:
        compile(path.read_bytes(), path.name, "exec")
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except ValueError as error:  # a null byte, or an encoding that does not exist
        return str(error)
    return ""
