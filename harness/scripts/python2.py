# SPDX-License-Identifier: GPL-2.0-only
"""Runs a script of Python 2 with Python 3: `python2 [-u] FILE | -c CODE | -m MODULE [ARGUMENTS]`.

In the lab. Debian 13 has no Python 2. fissix, the heir of 2to3, rewrites what the file says; the
rest is what a rewritten program would do differently without an error: division, and text where
Python 3 has bytes. Modules outside /usr are rewritten alike. Nothing on a disk changes.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import io
import os
import re
import runpy
import string
import sys
import time
import tokenize
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

NAMES = ("python", "python2", "python2.7")
WRAPPER = '#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-only\nexec python3 -P {} "$@"\n'
OPTIONS_ALONE = ("-u", "-B", "-E", "-s", "-S", "-O", "-OO")
LEFT_OUT = ("buffer", "idioms", "set_literal", "ws_comma")  # matters of taste
SHIMS = ("csv", "socket", "struct", "subprocess")  # modules with text in the place of bytes
BYTE = "latin-1"  # each byte is a character, and back


def install() -> None:
    """`python` of the lab is this one."""
    for name in NAMES:
        path = Path("/usr/bin", name)
        path.unlink(missing_ok=True)
        path.write_text(WRAPPER.format(Path(__file__).resolve()))
        path.chmod(0o755)
    mn = Path("/usr/local/bin/mn")
    mn.write_text(WRAPPER.format(f"{Path(__file__).resolve()} --mn"))
    mn.chmod(0o755)


def main() -> None:
    """As the interpreter of the same arguments."""
    arguments = sys.argv[1:]
    while arguments and arguments[0] in OPTIONS_ALONE:
        arguments.pop(0)
    prepare()
    kind, *rest = arguments or ["-"]
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


def execute(text: str, name: str) -> None:
    """Run a program as __main__."""
    module = sys.modules["__main__"] = ModuleType("__main__")
    vars(module).update(__file__=name, __builtins__=__builtins__)
    exec(translate(text, name), vars(module))


def read(data: bytes) -> str:
    """A source's text by its coding line; Python 2 took any byte in a comment."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return data.decode(BYTE)


@functools.cache
def tool() -> Any:
    """The rewriter with all fixers, as the program 2to3 has them."""
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    fixers = get_fixers_from_package("fissix.fixes")
    return RefactoringTool([name for name in fixers if not name.endswith(LEFT_OUT)])


def translate(text: str, name: str) -> CodeType:
    """The program for Python 3; lines keep their numbers where the rewriter keeps them.

    Raises:
        SyntaxError: it is of neither Python.
    """
    # A tab goes to the next multiple of eight; Python 3 refuses to count.
    text = "\n".join(indented(line) for line in text.splitlines()) + "\n"
    exact = re.search(r"^from __future__ import .*\bdivision\b", text, re.MULTILINE)
    try:
        tree = ast.parse(text, name)  # is of both
    except SyntaxError:
        tree = None
    try:
        rewritten = str(tool().refactor_string(text, name))
        tree = ast.parse(rewritten, name)
    except Exception:
        if tree is None:
            ast.parse(text, name)  # says what is wrong with it
            raise
    tree = ast.fix_missing_locations(Pitfalls(division=not exact).visit(tree))
    return compile(tree, name, "exec", dont_inherit=True)


def indented(line: str) -> str:
    """With the tabs at its begin as blanks."""
    rest = line.lstrip(" \t")
    return line[: len(line) - len(rest)].expandtabs(8) + rest


class Pitfalls(ast.NodeTransformer):
    """What fissix leaves: division, comparing functions, and modules of bytes."""

    def __init__(self, *, division: bool) -> None:
        self.division = division

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if self.division and isinstance(node.op, ast.Div):
            return called(node, "__python2_divide__", node.left, node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if not self.division or not isinstance(node.op, ast.Div):
            return node
        if not isinstance(node.target, ast.Name):
            node.op = ast.Div()  # a place that may count its readers: it stays exact
            return node
        left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        value = called(node, "__python2_divide__", left, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """`x.sort(f)` and `sorted(x, f)`: f compares."""
        self.generic_visit(node)
        function, found = node.func, [word for word in node.keywords if word.arg == "cmp"]
        sorts = isinstance(function, ast.Attribute) and function.attr == "sort"
        orders = isinstance(function, ast.Name) and function.id == "sorted"
        if found:
            node.keywords.remove(found[0])
            compares = found[0].value
        elif (sorts and len(node.args) == 1) or (orders and len(node.args) == 2):
            compares = node.args.pop()
        else:
            return node
        key = called(node, "__python2_key__", compares)
        node.keywords.append(ast.copy_location(ast.keyword("key", key), node))
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:  # noqa: N802
        for name in node.names:
            if name.name in SHIMS:
                name.asname = name.asname or name.name
                name.name = f"_python2_{name.name}"
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:  # noqa: N802
        if node.module in SHIMS and not node.level:
            node.module = f"_python2_{node.module}"
        return node


def called(near: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    """`name(arguments)` at the place of another expression."""
    function = ast.Name(name, ast.Load())
    return ast.copy_location(ast.Call(function, list(arguments), []), near)


def divide(left: Any, right: Any) -> Any:
    """Whole numbers have a whole quotient."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return left / right


class Loader(SourceFileLoader):
    """Loads a module of Python 2."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return translate(read(self.get_data(path)), path)


class Finder(PathFinder):
    """Finds modules outside /usr, which are the script's own."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = super().find_spec(fullname, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return spec
        if spec.origin.startswith("/usr/"):
            return None
        spec.loader = Loader(fullname, spec.origin)
        return spec


def prepare() -> None:
    """Give programs of Python 2 what they count on."""
    import builtins

    sys.meta_path.insert(0, Finder())
    for name in SHIMS:
        sys.modules[f"_python2_{name}"] = SHIM[name](again(name))
    vars(builtins).update(
        __python2_divide__=divide,
        __python2_key__=functools.cmp_to_key,
        cmp=lambda left, right: (left > right) - (left < right),
        file=open,
    )
    setattr(sys, "setdefaultencoding", lambda name: None)  # noqa: B010 (mypy knows no such name)
    setattr(time, "clock", time.process_time)  # noqa: B010
    for name in ("join", "split", "replace", "strip", "find", "lower", "upper", "zfill"):
        setattr(string, name, Method(name))
    vars(string).update(
        letters=string.ascii_letters, lowercase=string.ascii_lowercase,
        uppercase=string.ascii_uppercase, atoi=int, atof=float, maketrans=str.maketrans,
        join=lambda words, between=" ": between.join(words),
    )  # fmt: skip
    wrap_mininet()


class Method:
    """A function of the module string that became a method of text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, text: str, *arguments: Any) -> Any:
        return getattr(text, self.name)(*arguments)


def again(name: str) -> ModuleType:
    """A second copy of a module of Python's, to be changed without harm for others."""
    first = importlib.import_module(name)
    if not str(getattr(first, "__file__", "")).endswith(".py"):
        module = ModuleType(name)
        vars(module).update(vars(first))
        return module
    del sys.modules[name]
    try:
        return importlib.import_module(name)
    finally:
        sys.modules[name] = first


def to_bytes(data: Any) -> Any:
    """Text as its bytes; anything else as it is."""
    return data.encode(BYTE, "replace") if isinstance(data, str) else data


def text_subprocess(module: Any) -> ModuleType:
    """What a program says is text."""

    class Popen(module.Popen):  # type: ignore[misc,name-defined]
        def __init__(self, *arguments: Any, **words: Any) -> None:
            given = ("text", "universal_newlines", "encoding", "errors")
            if not any(name in words for name in given):
                words.update(encoding="utf-8", errors="surrogateescape")
            super().__init__(*arguments, **words)

    module.Popen = Popen
    return module


def text_socket(module: Any) -> ModuleType:
    """What a socket sends and receives is text, a character for each byte."""

    class Socket(module.socket):  # type: ignore[misc,name-defined]
        def send(self, data: Any, *rest: Any) -> Any:
            return super().send(to_bytes(data), *rest)

        def sendall(self, data: Any, *rest: Any) -> Any:
            return super().sendall(to_bytes(data), *rest)

        def sendto(self, data: Any, *rest: Any) -> Any:
            return super().sendto(to_bytes(data), *rest)

        def recv(self, *arguments: Any) -> Any:
            return super().recv(*arguments).decode(BYTE)

        def recvfrom(self, *arguments: Any) -> Any:
            data, sender = super().recvfrom(*arguments)
            return data.decode(BYTE), sender

    module.socket = module.SocketType = Socket
    return module


def text_struct(module: Any) -> ModuleType:
    """Packed values are text."""
    pack, unpack = module.pack, module.unpack
    module.pack = lambda *arguments: pack(*arguments).decode(BYTE)
    module.unpack = lambda form, data: unpack(form, to_bytes(data))
    return module


def text_csv(module: Any) -> ModuleType:
    """Tables are read from files that were opened for bytes, and written to them."""
    reader, writer = module.reader, module.writer

    def lines(file: Any) -> Any:
        return (line.decode(BYTE) if isinstance(line, bytes) else line for line in file)

    def text(file: Any) -> Any:
        if not isinstance(file, (io.BufferedWriter, io.BufferedRandom, io.RawIOBase)):
            return file
        return io.TextIOWrapper(file, BYTE, newline="", write_through=True)

    module.reader = lambda file, *rest, **words: reader(lines(file), *rest, **words)
    module.writer = lambda file, *rest, **words: writer(text(file), *rest, **words)
    return module


SHIM = {
    "csv": text_csv,
    "socket": text_socket,
    "struct": text_struct,
    "subprocess": text_subprocess,
}


def wrap_mininet() -> None:
    """What a program in a node says is text: Node.popen()."""
    try:
        from mininet import node, util
    except ImportError:
        return
    popen, decode = node.Node.popen, util.decode

    def text_popen(self: Any, *arguments: Any, **words: Any) -> Any:
        words.setdefault("encoding", "utf-8")
        words.setdefault("errors", "surrogateescape")
        return popen(self, *arguments, **words)

    def text_decode(data: Any) -> str:
        return data if isinstance(data, str) else str(decode(data))

    node.Node.popen = text_popen
    node.decode = util.decode = text_decode


if __name__ == "__main__":
    main()
