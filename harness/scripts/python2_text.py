# SPDX-License-Identifier: GPL-2.0-only
"""Recognises a script of Python 2 by what Python 3 says of it. On the host."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

from harness.scripts import python2_convert

# Of Python 3.11 to 3.13.
MESSAGES = (
    "Missing parentheses in call to 'print'",
    "Missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
)
# And of a file that the script starts; Python 2 counts a tab to the next multiple of eight.
SAID = (*MESSAGES, "\nTabError: inconsistent use of tabs and spaces in indentation")
# What these messages leave open: the line of an error may be of any Python that is wrong.
LINES = (
    re.compile(r"\s*print\s+(?![=(.,\[])\S"),
    re.compile(r"\s*print\s*>>"),
    re.compile(r"\s*except\s+[\w.()]+\s*,\s*\w+\s*:"),
    re.compile(r"\s*raise\s+[\w.]+\s*,\s*\S"),
    re.compile(r"\s*exec\s+[\"'\w]"),
    re.compile(r".*\b0[0-7]+\b"),
    re.compile(r".*\b\d+[lL]\b"),
    re.compile(r".*<>"),
    re.compile(r".*`[^`]+`"),
    re.compile(r".*\bur['\"]"),
    re.compile(r"\s*(?:def\s+\w+|lambda)\s*\(?.*\([\w, ]+\)"),  # def f(a, (b, c))
)


def shifted(tree: ast.AST) -> str:
    """The first `print >>file, x`, which is a tuple in Python 3 and fails when it is met."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=ast.Name(id="print"), op=ast.RShift()):
                return f"line {node.lineno}: print >>"
    return ""


def tabs(text: bytes, number: int) -> str:
    """Would Python 2 take the tabs? It counts to the next multiple of eight."""
    lines = text.decode("latin-1").splitlines()
    counted = "\n".join(python2_convert.indented(line) for line in lines)
    try:
        compile(counted, "text", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except IndentationError:
        return ""
    except SyntaxError:
        pass  # of a statement of Python 2, most likely; it says so itself
    return f"line {number}: inconsistent use of tabs and spaces in indentation"


def is_old(path: Path) -> str:
    """Where and why a file is of Python 2; nothing where Python 3 takes it, or neither would.

    A file that cannot be read is none: who runs it says so.
    """
    try:
        text = path.read_bytes()
    except OSError:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = compile(text, str(path), "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        return shifted(tree)
    except TabError as error:
        return tabs(text, error.lineno or 1)
    except SyntaxError as error:
        message, number = error.msg.partition(". Did you")[0], error.lineno or 1
        lines = text.decode("latin-1").splitlines()
        line = lines[number - 1] if number <= len(lines) else ""
        known = any(known in error.msg for known in MESSAGES)
        if known or any(pattern.match(line) for pattern in LINES):
            return f"line {number}: {message}"
    except ValueError:  # a null byte
        pass
    return ""
