# SPDX-License-Identifier: GPL-2.0-only
"""The client's HTTP parser (workload/www/programs/http.c), called directly."""

import ctypes
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).resolve().parents[3] / "workload" / "www" / "programs"
# Verbatim from nginx 1.26.3 with our configuration.
NGINX = (
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 04:17:19 GMT\r\n"
    b"Content-Length: 9216000\r\nConnection: keep-alive\r\n\r\n"
)


@pytest.fixture(scope="module")
def http(compiler, tmp_path_factory):
    library = tmp_path_factory.mktemp("http") / "http.so"
    flags = ["-D_GNU_SOURCE", "-shared", "-fPIC", "-fsanitize=undefined"]
    flags.append("-fsanitize-undefined-trap-on-error")
    subprocess.run([compiler, *flags, "-o", library, CLIENT / "http.c"], check=True)
    found = ctypes.CDLL(str(library))
    found.http_header_end.restype = ctypes.c_size_t
    found.http_header_end.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
    found.http_read_header.restype = ctypes.c_char_p
    found.http_write_get.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    return found


def read(http, header):
    status, length = ctypes.c_int(), ctypes.c_int64()
    wrong = http.http_read_header(
        header, ctypes.c_size_t(len(header)), ctypes.byref(status), ctypes.byref(length)
    )
    return wrong.decode() if wrong else (status.value, length.value)


def test_a_header_of_nginx(http):
    assert read(http, NGINX) == (200, 9216000)


def test_the_end_is_found_wherever_segments_were_cut(http):
    stream = NGINX + b"body"
    for cut in range(len(stream)):
        first = http.http_header_end(stream, cut, 0)
        assert first == (len(NGINX) if cut >= len(NGINX) else 0)
        if not first:
            assert http.http_header_end(stream, len(stream), cut) == len(NGINX)


def answer(*fields, status=b"HTTP/1.1 200 OK"):
    return b"\r\n".join([status, *fields, b"", b""])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (answer(b"Content-Length: 0"), (200, 0)),
        (answer(b"content-LENGTH:\t 7"), (200, 7)),
        (answer(b"Content-Length: 9", status=b"HTTP/1.1 404"), (404, 9)),
        (answer(), "no Content-Length"),
        (answer(b"Content-Lengthy: 7"), "no Content-Length"),
        (answer(b"Content-Length: 7", b"Content-Length: 7"), "two Content-Length fields"),
        (answer(b"Content-Length: -7"), "a Content-Length that is no number"),
        (answer(b"Content-Length: 7x"), "a Content-Length that is no number"),
        (answer(b"Content-Length:"), "a Content-Length that is no number"),
        (answer(b"Content-Length: 9999999999999999"), "a Content-Length that is no number"),
        (
            answer(b"Transfer-Encoding: chunked", b"Content-Length: 7"),
            "a Transfer-Encoding, where a length was expected",
        ),
        (
            answer(b"Content-Length: 7", b"Connection: close"),
            "Connection: close, where it must stay open",
        ),
        (answer(b"Content-Length 7"), "a header line without a colon"),
        (answer(b"Content-Length: 7", status=b"HTTP/1.0 200 OK"), "a status line"),
        (answer(b"Content-Length: 7", status=b"HTTP/1.1 20"), "a status line"),
        (answer(b"Content-Length: 7", status=b"HTTP/1.1 2000"), "a status line"),
        (answer(b"Content-Length: 7", status=b"zeros"), "a status line"),
        (b"\r\n\r\n", "a status line"),
    ],
)
def test_headers(http, header, expected):
    found = read(http, header)
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert found.startswith(expected)
    else:
        assert found == expected


def test_a_get_has_exactly_the_size_asked_for(http):
    for size in (64, 128, 1024):
        room = ctypes.create_string_buffer(b"#" * 1100, 1100)
        assert http.http_write_get(room, size, b"/class2_5") == 0
        text = room.raw[:size]
        assert room.raw[size : size + 1] == b"#"
        lines = text.split(b"\r\n")
        assert lines[0] == b"GET /class2_5 HTTP/1.1"
        assert lines[1] == b"Host: cellbed"
        assert set(lines[2].removeprefix(b"X-Fill: ")) <= set(b"x")
        assert lines[3:] == [b"", b""]


def test_a_get_that_does_not_fit_is_refused(http):
    room = ctypes.create_string_buffer(200)
    assert http.http_write_get(room, 64, b"/" + b"a" * 40) == -1
