# SPDX-License-Identifier: GPL-2.0-only
"""A mirror of a very small Debian on loopback, signed with a key of its own."""

from __future__ import annotations

import base64
import hashlib
import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.small import PROJECT

SUITES = ("trixie", "trixie-updates", "trixie-security")
FILE, FOLDER, LINK, SAME, DEVICE = (
    tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE
)  # fmt: skip
Member = tuple[str, bytes, str]  # name, type, content or where a link leads
PRIVATE = rsa.generate_private_key(65537, 2048)
STRANGER = rsa.generate_private_key(65537, 2048)


def deb(members: Sequence[Member]) -> bytes:
    """A package's file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o6755
            if kind == FILE:
                info.size = len(content)
            else:
                info.linkname = content
            archive.addfile(info, io.BytesIO(content.encode()) if kind == FILE else None)
    whole = b"!<arch>\n"
    for name, data in (("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"),
                       ("data.tar.xz", packed.getvalue())):  # fmt: skip
        whole += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data
        whole += b"\n" * (len(data) % 2)
    return whole


def armor(what: str, data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f"-----BEGIN PGP {what}-----\n\n{text}\n=AAAA\n-----END PGP {what}-----\n"


def number(value: int) -> bytes:
    return value.bit_length().to_bytes(2, "big") + value.to_bytes(
        (value.bit_length() + 7) // 8, "big"
    )


def packet(kind: int, body: bytes) -> bytes:
    return bytes([0xC0 | kind, 255]) + len(body).to_bytes(4, "big") + body


def public_key(key: rsa.RSAPrivateKey) -> str:
    numbers = key.public_key().public_numbers()
    body = b"\x04\0\0\0\0\x01" + number(numbers.n) + number(numbers.e)
    return armor("PUBLIC KEY BLOCK", packet(6, body))


def signed(text: str, key: rsa.RSAPrivateKey = PRIVATE) -> str:
    """A text with its signature, of a text document by RSA over SHA-256."""
    hashed = b"\x04\x01\x01\x08\0\0"
    document = "\r\n".join(text.split("\n")).encode()
    whole = document + hashed + b"\x04\xff" + len(hashed).to_bytes(4, "big")
    value = key.sign(whole, padding.PKCS1v15(), hashes.SHA256())
    body = hashed + b"\0\0" + b"\0\0" + number(int.from_bytes(value, "big"))
    armored = armor("SIGNATURE", packet(2, body))
    return f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{text}\n{armored}"


@dataclass
class Mirror:
    """`folder` is what it serves; `project` a copy of lab/root that trusts its key."""

    folder: Path
    project: Path
    address: str
    debs: dict[str, bytes] = field(default_factory=dict)
    arm64: dict[str, bytes] = field(default_factory=dict)
    head: str = "Suite: {suite}\nCodename: {suite}"
    key: rsa.RSAPrivateKey = field(default_factory=lambda: PRIVATE)

    def path(self, name: str, suite: str = "trixie") -> Path:
        base = "debian-security" if suite.endswith("-security") else "debian"
        return self.folder / base / name

    def put(self, name: str, members: Sequence[Member], arch: str = "amd64", **fields: str) -> None:
        """A package of the main suite, with fields of its paragraph."""
        content = deb(members)
        where = f"pool/{name}_1_{arch}.deb"
        self.path(where).parent.mkdir(parents=True, exist_ok=True)
        self.path(where).write_bytes(content)
        told: Mapping[str, object] = {
            "Package": name, "Version": "1", "Filename": where, "Size": len(content),
            "SHA256": hashlib.sha256(content).hexdigest(), **fields,
        }  # fmt: skip
        debs = self.debs if arch == "amd64" else self.arm64
        debs[name] = "".join(f"{key}: {value}\n" for key, value in told.items()).encode()

    def publish(self) -> None:
        """Sign what is there."""
        for suite in SUITES:
            folder = self.path(f"dists/{suite}", suite)
            rows = []
            for arch, debs in (("amd64", self.debs), ("arm64", self.arm64)):
                packed = lzma.compress(b"\n".join(debs.values()) if suite == "trixie" else b"")
                name = f"main/binary-{arch}/Packages.xz"
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(packed)
                rows.append(f" {hashlib.sha256(packed).hexdigest()} {len(packed)} {name}")
            text = "\n".join([self.head.format(suite=suite), "SHA256:", *rows])
            (folder / "InRelease").write_text(signed(text, self.key))

    def get(self, *packages: str) -> subprocess.CompletedProcess[str]:
        """lab/root/get, of a tree."""
        return self.run("tree", str(self.tree), "trixie", *packages)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """lab/root/get."""
        argv = [sys.executable, "-sEB", self.project / "lab/root/get", *words]
        return subprocess.run(
            argv, env={"CELLBED_DEBIAN_MIRROR": self.address, "PATH": "/usr/bin"},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    @property
    def tree(self) -> Path:
        return self.project.parent / "cache" / "tree"


class Quiet(SimpleHTTPRequestHandler):
    """The standard library's, which would write a line for each file."""

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path) -> tuple[Mirror, ThreadingHTTPServer]:
    """A mirror with the one package that every tree begins with."""
    shutil.copytree(PROJECT / "lab/root", folder / "project/lab/root")
    keys = folder / "project/lab/root/keys"
    shutil.rmtree(keys)
    keys.mkdir()
    (keys / "test.asc").write_text(public_key(PRIVATE))
    (folder / "served").mkdir()
    (folder / "cache").mkdir()
    handler = partial(Quiet, directory=str(folder / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/debian"
    made = Mirror(folder / "served", folder / "project", address)
    made.put("base-files", [("./usr/bin", FOLDER, ""), ("./bin", LINK, "usr/bin")])
    return made, server
