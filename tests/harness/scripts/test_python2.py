# SPDX-License-Identifier: GPL-2.0-only
"""Which files are of Python 2. What it does with them: tests/labs/test_any_script.py. No lab."""

from __future__ import annotations

import ast
import functools
import importlib
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from harness.scripts import (
    python2,
    python2_convert,
    python2_errors,
    python2_imp,
    python2_modules,
)  # fmt: skip
from harness.scripts.host import Heard
from harness.scripts.python2_text import is_old

OLD = {
    "print": ('x = 1\nprint "a"\n', "line 2: Missing parentheses in call to 'print'"),
    "to": ('import sys\nprint >>sys.stderr, "a"\n', "line 2: "),
    "except": ("try:\n    x()\nexcept ValueError, e:\n    pass\n", "line 3: multiple exception"),
    "raise": ('raise ValueError, "x"\n', "line 1: "),
    "tabs": ("if 1:\n        x = 1\n\tx = 2\n", "line 3: inconsistent use of tabs"),
    "octal": ("x = 0777\n", "line 1: leading zeros"),
    "long": ("x = 1L\n", "line 1: "),
}
NOT_OLD = {
    "of Python 3": 'print("a")\n',
    "of both": 'print ("a")\nx = 7 / 2\n',
    "wrong": "def f(:\n",
    "tabs that no Python takes": "if 1:\n        x = 1\n\t\ty = 2\n",
    "wrong in both": 'class A:\n"x"\n',
    "no text": "x = 1\0",
}


@pytest.mark.parametrize("name", OLD)
def test_a_script_of_python_2_is_recognised(tmp_path: Path, name: str) -> None:
    text, why = OLD[name]
    path = tmp_path / "script.py"
    path.write_text(text)
    assert is_old(path).startswith(why)


def test_a_controllers_modules_are_rewritten_only_if_they_are_of_python_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_python_2.py").write_text("print 'a'\n")
    (tmp_path / "of_both.py").write_text("told = 'as it is'\n")
    (tmp_path / "calls_python_2.py").write_text("def f(d):\n    return d.iteritems()\n")
    rewritten = compile("told = 'rewritten'", "x", "exec")
    monkeypatch.setattr(python2, "translate", lambda text, name, packaged: rewritten)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [python2.OldFinder(), *sys.meta_path])
    told = {name: importlib.import_module(name).told
            for name in ("of_python_2", "of_both", "calls_python_2")}  # fmt: skip
    assert told == {
        "of_python_2": "rewritten", "of_both": "as it is", "calls_python_2": "rewritten"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("print 'a'\n", True),
        ("x = {}.iteritems()\n", True),
        ("x = {}.has_key('a')\n", True),
        ("x = raw_input()\n", True),
        ("import six\nx = six.iteritems({})\n", False),
        ("try:\n    xrange\nexcept NameError:\n    xrange = range\n", False),
        ("def f(file):\n    return file.read()\n", False),
        ("from past.builtins import unicode\nx = unicode('a')\n", False),
        ("x = {}.items()\n", False),
    ],
)
def test_a_file_of_python_2_calls_what_only_python_2_has(text: str, old: bool) -> None:
    assert python2_convert.of_python_2(text.encode()) is old


def test_a_bytearray_of_python_2_takes_text() -> None:
    data = python2_modules.Bytearray()
    data.extend(python2_modules.to_text(b"a\xe9"))
    data += "b"
    assert type(data + "c") is python2_modules.Bytearray and data + "c" == b"a\xe9bc"
    assert (bytes(data), str(data), len(data)) == (b"a\xe9b", "a\xe9b", 3)
    assert python2_modules.Bytearray("ab") == b"ab" and python2_modules.Bytearray(2) == b"\0\0"


PROGRAMS = {
    "bytes": (
        "import subprocess as s\ns.check_output('echo').replace('a', 'b')",
        "TypeError: a byte",
    ),
    "sum": ("'a' + b'b'", "TypeError: can only concatenate str"),
    "sum of bytes": ("b'a' + 'b'", "TypeError: can't concat str to bytes"),
    "file": ("open('/dev/null', 'w').write(b'a')", "TypeError: write() argument must be str"),
    "pattern": ("import re\nre.match('a', b'a')", "TypeError: cannot use a string pattern"),
    "keys": ("{}.keys()[0]", "TypeError: 'dict_keys' object is not subscriptable"),
    "map": ("len(map(int, []))", "TypeError: object of type 'map' has no len()"),
    "half": ("range(4 / 2)", "TypeError: 'float' object cannot be interpreted as an integer"),
    "items": ("{}.iteritems()", "AttributeError: 'dict' object has no attribute 'iteritems'"),
    "name": ("xrange(2)", "NameError: name 'xrange' is not defined"),
    "of Python 3": ("x + 1", ""),
    "of Python 3, too": ("{}.keyz()", ""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_error_of_python_2_is_told_with_its_remedy(name: str) -> None:
    text, error = PROGRAMS[name]
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 1
    found = python2_errors.found_in(done.stderr)
    assert found.startswith(error) and bool(found) == bool(error)
    for converted in (False, True):
        heard = Heard(python2=converted)
        for half in (done.stderr[:-20], done.stderr[-20:]):
            heard.listen(half)
        remedy = f"{found}: Python 3 says this of many programs of Python 2; try --python2"
        assert heard.sentences() == ([remedy] if error and not converted else [])


STARTED = {
    "print": "print 'x'\n",
    "tabs": "if True:\n        x = 1\n\ty = 2\n",
}


@pytest.mark.parametrize("name", STARTED)
def test_a_file_that_python3_was_told_to_start_is_told(tmp_path: Path, name: str) -> None:
    """--python2 does not convert what python3 starts."""
    path = tmp_path / "started.py"
    path.write_text(STARTED[name])
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 1
    file = "a file that the script started is written in Python 2"
    by = "--python2 converts what python2 or python starts, but not what python3 starts"
    for converted, help_ in ((False, "try --python2"), (True, by)):
        heard = Heard(python2=converted)
        heard.listen(done.stderr)
        assert heard.sentences() == [f"{file}; {help_}"]


LEFT = "correct this line, as --python2 leaves a controller that Python 3 can read"


@pytest.mark.parametrize(
    ("program", "converted", "help_"),
    [
        ("pox.py", False, "add --package python2.7, and start this program by python2.7"),
        ("pox.py", True, "add --package python2.7, and start this program by python2.7"),
        ("ryu-manager", False, "try --python2"),
        ("server.py", True, "start this program by python2"),
        ("ryu-manager", True, LEFT),
    ],
)
def test_an_error_of_a_program_beside_the_script_is_told(
    program: str, converted: bool, help_: str
) -> None:
    heard = Heard(python2=converted)
    error = "NameError: name 'xrange' is not defined"
    heard.listen(f"mininet> [{program}]   File x\n[{program}] {error}\nmininet> ")
    said = f"[{program}] {error}: Python 3 says this of many programs of Python 2; {help_}"
    assert heard.sentences() == [said]


@pytest.mark.parametrize("name", NOT_OLD)
def test_what_python_2_would_not_mend_is_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(NOT_OLD[name])
    assert is_old(path) == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2", 3),
        ("7 / 2.0", 3.5),
        ("-7 / 2", -4),
        ("sorted([1, 3], lambda a, b: b - a)[0]", 3),
    ],
)
def test_whole_numbers_have_a_whole_quotient(text: str, value: float) -> None:
    assert converted_value(text) == value


def converted_value(text: str) -> Any:
    """Of an expression of Python 2, as a converted program has it."""
    tree = ast.fix_missing_locations(
        python2_convert.Pitfalls(division=True).visit(ast.parse(text, mode="eval"))
    )
    names = {
        "__python2_divide__": python2_convert.divide, "__python2_key__": functools.cmp_to_key,
        "__python2_page__": python2_modules.page, "__python2_decode__": python2_modules.decode,
        "request": urllib.request, "urlopen": urllib.request.urlopen,
    }  # fmt: skip
    return eval(compile(tree, "text", "eval"), names)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("request.urlopen('data:,<p>%C3%A9').read()", "<p>\xc3\xa9"),
        ("urlopen('data:,a%0Ab').readline()", "a\n"),
        ("urlopen('data:,a%0Ab').readlines()", ["a\n", "b"]),
        ("list(urlopen('data:,a%0Ab'))", ["a\n", "b"]),
        ("urlopen('data:,%C3%A9').read().decode('utf-8')", "\xe9"),
        ("urlopen(url='data:,').geturl()", "data:,"),
    ],
)
def test_a_page_is_text(text: str, value: object) -> None:
    assert converted_value(text) == value


def test_what_is_sent_to_a_page_may_be_text() -> None:
    asked: Any = urllib.request.Request("data:,")
    asked.data = "a"
    sent = python2_modules.page(lambda page, *rest, **w: (page.data, rest, w), asked, "b", data="c")
    assert sent == (b"a", (b"b",), {"data": b"c"})


def test_a_file_for_bytes_takes_a_page(tmp_path: Path) -> None:
    opened = python2_modules.any_bytes(open)
    with opened(tmp_path / "page", "wb") as file:
        file.write(converted_value("urlopen('data:,%C3%A9').read()"))
        file.write(b"!")
    assert (tmp_path / "page").read_bytes() == b"\xc3\xa9!"


def test_a_tab_goes_to_the_next_multiple_of_eight() -> None:
    assert python2_convert.indented("  \tx\ty") == " " * 8 + "x\ty"


CODED = {
    "'%s' % u'\\xe9'.encode('utf-8')": "\xe9",
    "'a,b'.encode('utf8').split(',')": ["a", "b"],
    "'x' + u'y'.encode('ascii', 'ignore')": "xy",
    "u'a\\xe9'.encode('ascii', 'ignore')": "a",
    "u'\\xe9'.encode('latin-1')": "\xe9",
    "'text'.decode('utf-8')": "text",
    "'text'.encode('utf-8').decode('utf-8')": "text",
    "'AB'.encode('hex')": "4142",
    "'4142'.decode('hex')": "AB",
    "'ab'.encode('rot13')": "no",
    "unicode('text', 'utf8')": "text",
    "unicode(b'\\xc3\\xa9', 'utf8')": "\xe9",
    "unicode('text', encoding='utf8')": "text",
    "unicode('text', errors='ignore')": "text",
    "unicode(7)": "7",
    "md5('a'.encode('utf-8')).hexdigest()": "0cc175b9c0f1b6a831c399e269772661",
}


def run_old(text: str) -> Any:
    """The value of an expression, in a process of its own, as --python2 runs it."""
    code = (
        "import sys; from hashlib import md5; from harness.scripts import python2_convert as c,"
        "python2_modules as m; m.add_names();"
        "exec(c.translate('print(repr(' + sys.argv[1] + '))', 'text'))"
    )
    done = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize("text", CODED)
def test_coded_text_is_text(text: str) -> None:
    assert run_old(text) == CODED[text]


def test_a_socket_sends_the_bytes_of_what_was_encoded() -> None:
    assert python2_modules.to_bytes(python2_modules.encode("\xe9", "utf-8")) == b"\xc3\xa9"


def test_a_file_that_is_loaded_by_its_path_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "topology_of_2.py"
    path.write_text("print 'loaded'\ntold = {'a': 7 / 2}.has_key('a')\n")
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    rewritten = compile("told = 'rewritten'", "x", "exec")
    monkeypatch.setattr(python2, "translate", lambda text, name, packaged: rewritten)
    imp = python2_imp.make(python2.Loader)
    assert imp.load_source("topology_of_2", str(path)).told == "rewritten"
    found = imp.find_module("topology_of_2", [str(tmp_path)])
    assert imp.load_module("topology_of_2", *found).told == "rewritten"
    with pytest.raises(ImportError, match="no_such"):
        imp.find_module("no_such", [str(tmp_path)])
