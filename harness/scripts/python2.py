# SPDX-License-Identifier: GPL-2.0-only
"""Runs a script of Python 2 with Python 3: `python2 [-u] FILE | -c CODE | -m MODULE [ARGUMENTS]`.

In the lab. Debian 13 has no Python 2. fissix, the heir of 2to3, rewrites what the file says; the
rest is what a rewritten program would do differently without an error: division, and text where
Python 3 has bytes. Modules outside /usr are rewritten alike. Nothing on a disk changes.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from harness.scripts import python2_imp, python2_modules
from harness.scripts.python2_convert import SHIMS, of_python_2, read, translate

NAMES = ("python", "python2", "python2.7")
REAL = Path("/usr/bin/python2.7")
PROJECT = Path(__file__).resolve().parents[2]
# The project's folders are no modules of the script's: main() takes them away.
BEGIN = "import sys; sys.path.insert(0, '{}'); from harness.scripts.python2 import main; main()"
WRAPPER = '#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-only\nexec python3 -P -c "{}"{} "$@"\n'
OPTIONS_ALONE = ("-u", "-B", "-E", "-s", "-S", "-O", "-OO")


def install() -> None:
    """The names of Python 2 in the lab are this one, but for a real python2.7 (--package)."""
    words = {f"/usr/bin/{name}": "" for name in NAMES if not (name == REAL.name and REAL.exists())}
    words |= {"/usr/local/bin/mn": " --mn", "/usr/local/bin/ryu-manager": " --ryu"}
    for name, word in words.items():
        path = Path(name)
        path.unlink(missing_ok=True)
        path.write_text(WRAPPER.format(BEGIN.format(PROJECT), word))
        path.chmod(0o755)


def main() -> None:
    """As the interpreter of the same arguments."""
    arguments = sys.argv[1:]
    while arguments and arguments[0] in OPTIONS_ALONE:
        arguments.pop(0)
    sys.path.remove(str(PROJECT))
    kind, *rest = arguments or ["-"]
    if kind == "--ryu":
        return run_ryu(rest)
    sys.meta_path.insert(0, Finder())
    python2_modules.prepare()
    sys.modules["imp"] = python2_imp.make(Loader)
    match kind:
        case "-m":
            sys.path.insert(0, os.getcwd())
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        case "--mn":
            run_mn(rest)
        case "-c":
            sys.path.insert(0, "")
            sys.argv = ["-c", *rest[1:]]
            execute(rest[0], "<string>")
        case "-":
            sys.argv = ["-", *rest]
            execute(sys.stdin.read(), "<stdin>")
        case _:
            sys.path.insert(0, str(Path(kind).resolve().parent))
            sys.argv = [kind, *rest]
            execute(read(Path(kind).read_bytes()), kind)
    return None


def run_mn(arguments: list[str]) -> None:
    """Mininet's mn, which is of Python 3, and compiles the text of a file of topologies."""
    import builtins

    plain = builtins.compile

    def compile_text(
        source: Any, name: Any, mode: str, flags: int = 0, *rest: Any, **more: Any
    ) -> Any:
        if isinstance(source, str) and mode == "exec" and not flags:
            return translate(source, name)
        return plain(source, name, mode, flags, *rest, **more)

    setattr(builtins, "compile", compile_text)  # noqa: B010 (mypy takes it for a constant)
    sys.argv = ["mn", *arguments]
    runpy.run_path("/usr/bin/mn", run_name="__main__")


def run_ryu(arguments: list[str]) -> None:
    """The controller Ryu, which is of Python 3. Applications of Python 2 are rewritten, and their
    own modules; their modules of bytes stay, as others wait in them.
    """
    # First: it prepares the modules that all others import.
    manager = importlib.import_module("os_ken.cmd.manager")
    utils: Any = importlib.import_module("os_ken.utils")
    python2_modules.add_names()
    python2_modules.keep_bytes()
    sys.modules.update({f"_python2_{name}": importlib.import_module(name) for name in SHIMS})
    plain = utils.load_source

    def load(name: str, path: str) -> ModuleType:
        data = Path(path).read_bytes()
        if not of_python_2(data):
            return plain(name, path)
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = path
        exec(translate(read(data), path), vars(module))
        return module

    utils.load_source = load
    sys.meta_path.insert(0, OldFinder())
    sys.argv = ["ryu-manager", *arguments]
    importlib.import_module("ryu.app.wsgi")  # as Ryu's command does; and its options
    sys.exit(manager.main())


def execute(text: str, name: str) -> None:
    """Run a program as __main__."""
    module = sys.modules["__main__"] = ModuleType("__main__")
    vars(module).update(__file__=name, __builtins__=__builtins__)
    exec(translate(text, name), vars(module))


class Loader(SourceFileLoader):
    """Loads a module of Python 2."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        packaged = "." in fullname or self.is_package(fullname)
        return translate(read(self.get_data(path)), path, packaged=packaged)


class OldLoader(Loader):
    """Loads a module, as one of Python 2 if it is one."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        data = self.get_data(path)
        if of_python_2(data):
            return super().get_code(fullname)
        return compile(data, path, "exec", dont_inherit=True)


class Finder(PathFinder):
    """Finds modules outside /usr, which are the script's own."""

    loader = Loader

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = super().find_spec(fullname, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return spec
        if spec.origin.startswith("/usr/"):
            return None
        spec.loader = cls.loader(fullname, spec.origin)
        return spec


class OldFinder(Finder):
    """The same for a program of Python 3 that has modules of Python 2."""

    loader = OldLoader
