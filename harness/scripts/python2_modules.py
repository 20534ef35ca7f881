# SPDX-License-Identifier: GPL-2.0-only
"""What programs of Python 2 count on: names, and modules with text in the place of bytes."""

from __future__ import annotations

import codecs
import functools
import importlib
import io
import string
import sys
import time
from types import ModuleType
from typing import Any

from harness.scripts.python2_convert import BYTE, SHIMS, divide


def prepare() -> None:
    """Give programs of Python 2 what they count on."""
    for name in SHIMS:
        sys.modules[f"_python2_{name}"] = SHIM[name](again(name))
    add_names()
    wrap_mininet()
    wrap_servers()


def add_names() -> None:
    """The names that Python 3 has no longer, or elsewhere."""
    import builtins

    sys.modules["__builtin__"] = builtins
    vars(builtins).update(
        __python2_divide__=divide,
        __python2_key__=functools.cmp_to_key,
        __python2_page__=page,
        __python2_decode__=decode, __python2_encode__=encode, __python2_unicode__=unicode,
        __python2_bytearray__=Bytearray,
        cmp=lambda left, right: (left > right) - (left < right),
        file=any_bytes(open), open=any_bytes(open),
        # fissix renames what is called; these also stand in lists, as in (int, long).
        basestring=str, long=int, raw_input=input, reduce=functools.reduce, unichr=chr,
        unicode=str, xrange=range,
    )  # fmt: skip
    setattr(sys, "setdefaultencoding", lambda name: None)  # noqa: B010 (mypy knows no such name)
    setattr(time, "clock", time.process_time)  # noqa: B010
    for name in ("join", "split", "replace", "strip", "find", "lower", "upper", "zfill"):
        setattr(string, name, Method(name))
    vars(string).update(
        letters=string.ascii_letters, lowercase=string.ascii_lowercase,
        uppercase=string.ascii_uppercase, atoi=int, atof=float, maketrans=str.maketrans,
        join=lambda words, between=" ": between.join(words),
    )  # fmt: skip


def keep_bytes() -> None:
    """What is encoded is bytes, as for the modules of Python 3 that a controller calls."""
    import builtins

    vars(builtins)["__python2_encode__"] = lambda text, *rest, **words: text.encode(*rest, **words)


def any_bytes(plain: Any) -> Any:
    """The function open: text may have any coding, and a file for bytes takes text."""

    def opened(name: Any, mode: str = "r", *rest: Any, **words: Any) -> Any:
        if "b" not in mode and len(rest) < 2 and not {"encoding", "errors"} & set(words):
            words["errors"] = "surrogateescape"
        file = plain(name, mode, *rest, **words)
        return Writer(file.detach()) if type(file) is io.BufferedWriter else file

    return opened


class Writer(io.BufferedWriter):
    """A file for bytes that also takes text, a character for each byte."""

    def write(self, data: Any) -> int:
        return super().write(to_bytes(data))


class Bytes(str):
    """Text with a character for each byte, that can be decoded as the text of Python 2."""

    __slots__ = ()

    def decode(self, encoding: str = "ascii", errors: str = "strict") -> str:
        return self.encode(BYTE).decode(encoding, errors)


class Bytearray(bytearray):
    """Bytes that can be changed, and that take text, a character for each byte."""

    def __init__(self, source: Any = b"", *rest: Any) -> None:
        super().__init__(source if rest else to_bytes(source), *rest)

    def __add__(self, data: Any) -> Bytearray:
        return Bytearray(super().__add__(to_bytes(data)))

    def __iadd__(self, data: Any) -> Bytearray:
        self.extend(data)
        return self

    def __str__(self) -> str:
        return to_text(self)

    def extend(self, data: Any) -> None:
        super().extend(to_bytes(data))


class Utf8(str):
    """Text that Python 2 has as the bytes of its coding UTF-8. It prints as the text."""

    __slots__ = ()


def encode(text: Any, encoding: str = "utf-8", *rest: Any, **words: Any) -> Any:
    """The method encode() of Python 2, of which the result is text."""
    encoding = words.pop("encoding", encoding)
    if not isinstance(text, str):
        return text.encode(encoding, *rest, **words)
    if not is_of_text(encoding):  # such as hex
        return recode(codecs.encode, text, encoding)
    data = text.encode(encoding, *rest, **words)
    return to_text(data) if wide(encoding) else Utf8(data.decode("utf-8"))


def decode(text: Any, encoding: str = "utf-8", *rest: Any, **words: Any) -> Any:
    """The method decode() of Python 2, also of text that is decoded already."""
    encoding = words.pop("encoding", encoding)
    if isinstance(text, str) and not is_of_text(encoding):
        return recode(codecs.decode, text, encoding)
    if isinstance(text, str) and not isinstance(text, Bytes):
        return str(text)
    return text.decode(encoding, *rest, **words)


def unicode(text: Any = "", *rest: Any, **words: Any) -> str:
    """The function unicode() of Python 2."""
    coded = isinstance(text, (str, bytes, bytearray)) and (rest or words)
    return str(decode(text, *rest, **words) if coded else text)


def is_of_text(encoding: str) -> bool:
    """Does this codec turn text into bytes? rot13 and hex do not."""
    return bool(getattr(codecs.lookup(encoding), "_is_text_encoding", True))


def wide(encoding: str) -> bool:
    """Has this coding other bytes than UTF-8?"""
    return codecs.lookup(encoding).name not in ("utf-8", "ascii")


def recode(function: Any, text: str, encoding: str) -> str:
    """By a codec between bytes and bytes, or between text and text."""
    try:
        return to_text(function(to_bytes(text), encoding))
    except (TypeError, AttributeError):  # rot13, which knows text only
        return str(function(text, encoding))


def page(opened: Any, *arguments: Any, **words: Any) -> Any:
    """What urlopen returns, of which the content is text.

    Args:
        opened: urlopen; the other arguments are its own.
    """
    from http.client import HTTPResponse
    from urllib.request import Request
    from urllib.response import addinfourl

    asked = [to_bytes(value) if place else value for place, value in enumerate(arguments)]
    if "data" in words:
        words["data"] = to_bytes(words["data"])
    if asked and isinstance(asked[0], Request):
        asked[0].data = to_bytes(asked[0].data)
    response = opened(*asked, **words)
    return Page(response) if isinstance(response, (HTTPResponse, addinfourl)) else response


class Page:
    """An open page, of which each part is text, a character for each byte."""

    def __init__(self, response: Any) -> None:
        self.response = response

    def __getattr__(self, name: str) -> Any:
        return getattr(self.response, name)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *what: object) -> None:
        self.response.close()

    def __iter__(self) -> Any:
        return (to_text(line) for line in self.response)

    def read(self, *arguments: Any) -> str:
        return to_text(self.response.read(*arguments))

    def readline(self, *arguments: Any) -> str:
        return to_text(self.response.readline(*arguments))

    def readlines(self, *arguments: Any) -> list[str]:
        return [to_text(line) for line in self.response.readlines(*arguments)]


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
    if isinstance(data, Utf8):
        return data.encode("utf-8")
    return data.encode(BYTE, "replace") if isinstance(data, str) else data


def to_text(data: bytes) -> Bytes:
    """Bytes as text, a character for each."""
    return Bytes(data.decode(BYTE))


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
            return to_text(super().recv(*arguments))

        def recvfrom(self, *arguments: Any) -> Any:
            data, sender = super().recvfrom(*arguments)
            return to_text(data), sender

    module.socket = module.SocketType = Socket
    return module


def text_struct(module: Any) -> ModuleType:
    """Packed values are text."""
    pack, unpack = module.pack, module.unpack
    module.pack = lambda *arguments: to_text(pack(*arguments))
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


def wrap_servers() -> None:
    """A web server answers with text, and asks for the fields of a request by their old names."""
    import email.message
    import socketserver

    write = socketserver._SocketWriter.write  # type: ignore[attr-defined]

    def write_text(self: Any, data: Any) -> Any:
        return write(self, to_bytes(data))

    socketserver._SocketWriter.write = write_text  # type: ignore[attr-defined]
    fields = email.message.Message
    setattr(fields, "getheader", fields.get)  # noqa: B010 (mypy knows no such name)
    setattr(fields, "getheaders", lambda self, name: self.get_all(name, []))  # noqa: B010


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
