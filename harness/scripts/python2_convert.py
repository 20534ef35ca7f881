# SPDX-License-Identifier: GPL-2.0-only
"""Rewrites a program of Python 2 for Python 3: fissix, and what fissix leaves."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterable
from types import CodeType
from typing import Any

LEFT_OUT = ("buffer", "idioms", "set_literal", "ws_comma")  # matters of taste
# Functions of modules that --python2 leaves as they are in Python 3.
OF_BYTES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "new", "update", "b64encode",
            "b64decode", "hexlify", "unhexlify", "crc32", "adler32", "compress", "decompress",
            "fromstring", "loads", "write_bytes", "bytearray", "bytes")  # fmt: skip
SHIMS = ("csv", "socket", "struct", "subprocess")  # of python2_modules.py
# Only Python 2 has these names; and these methods of a dict, with so many arguments.
OLD_NAMES = {"basestring", "cmp", "execfile", "file", "long", "raw_input", "reduce", "unichr",
             "unicode", "xrange"}  # fmt: skip
OLD_METHODS = {"has_key": 1, "iteritems": 0, "iterkeys": 0, "itervalues": 0}
BYTE = "latin-1"  # each byte is a character, and back


def read(data: bytes) -> str:
    """A source's text by its coding line; Python 2 took any byte in a comment."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return data.decode(BYTE)


@functools.cache
def tool(*, packaged: bool) -> Any:
    """The rewriter with all fixers, as the program 2to3 has them.

    Args:
        packaged: as of translate().
    """
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    left_out = LEFT_OUT if packaged else (*LEFT_OUT, "fix_import")
    fixers = get_fixers_from_package("fissix.fixes")
    return RefactoringTool([name for name in fixers if not name.endswith(left_out)])


def translate(text: str, name: str, *, packaged: bool = False) -> CodeType:
    """The program for Python 3; lines keep their numbers where the rewriter keeps them.

    Args:
        packaged: it is a module of a package. Only such a module takes `import x` for a module
            beside it. A program does so, too, but without a package: Python 3 finds x alike.

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
        rewritten = str(tool(packaged=packaged).refactor_string(text, name))
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


def of_python_2(data: bytes) -> bool:
    """Does Python 3 refuse a file, or does the file call what only Python 2 has?"""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return True
    nodes = list(ast.walk(tree))
    return any(map(calls_old_method, nodes)) or bool(OLD_NAMES & used(nodes) - bound(nodes))


def calls_old_method(node: ast.AST) -> bool:
    """`x.iteritems()`, but not `six.iteritems(x)`, which is of both."""
    method = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not isinstance(method, ast.Attribute):
        return False
    return len(node.args) == OLD_METHODS.get(method.attr, -1)


def used(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that a file reads."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that a file gives to something, such as in `xrange = range`."""
    names = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name)
    return names


class Pitfalls(ast.NodeTransformer):
    """What fissix leaves: division, comparing functions, pages, and modules of bytes."""

    def __init__(self, *, division: bool) -> None:
        self.division = division
        self.bytes_stay: set[int] = set()

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

    def keep_bytes(self, node: ast.Call) -> None:
        """`md5(x.encode(...))`: this function takes bytes of Python 3, and no text."""
        if name_of(node.func) in OF_BYTES:
            self.bytes_stay |= {id(argument) for argument in node.args}

    def coded(self, node: ast.Call) -> ast.Call | None:
        """`x.encode()`, `x.decode()` and `unicode(x, coding)`, by what Python 2 does; else None."""
        function = node.func
        words = {word.arg for word in node.keywords}
        more = len(node.args) > 1 or bool(words & {"encoding", "errors"})
        if isinstance(function, ast.Name) and function.id in ("str", "unicode") and more:
            made = called(node, "__python2_unicode__", *node.args)
        elif isinstance(function, ast.Attribute) and function.attr in ("encode", "decode"):
            if id(node) in self.bytes_stay:
                return None
            made = called(node, f"__python2_{function.attr}__", function.value, *node.args)
        else:
            return None
        made.keywords = node.keywords
        return made

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """`x.sort(f)` and `sorted(x, f)`: f compares. `urlopen()`: the page is text."""
        self.keep_bytes(node)
        self.generic_visit(node)
        if coded := self.coded(node):
            return coded
        function, found = node.func, [word for word in node.keywords if word.arg == "cmp"]
        if isinstance(function, ast.Name) and function.id == "bytearray":
            function.id = "__python2_bytearray__"
            return node
        if name_of(function) == "urlopen":
            page = called(node, "__python2_page__", function, *node.args)
            page.keywords = node.keywords
            return page
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


def name_of(function: ast.expr) -> str:
    """The last part of the name of what is called."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def divide(left: Any, right: Any) -> Any:
    """Whole numbers have a whole quotient."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return left / right
