# SPDX-License-Identifier: GPL-2.0-only
"""lab/root/get believes no mirror: what Debian did not sign is not unpacked."""

from __future__ import annotations

import hashlib
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh import mirror
from tests.fresh.mirror import DEVICE, FILE, LINK, SAME, STRANGER, Mirror


@pytest.fixture
def debian(tmp_path: Path) -> Iterator[Mirror]:
    made, server = mirror.serve(tmp_path)
    made.put("hello", [("./bin/hello", FILE, "hi"), ("./usr/share/doc/hello/x", FILE, "doc")])
    made.publish()
    yield made
    server.shutdown()
    server.server_close()


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of what was refused."""
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("lab/root/get: ")
    return done.stderr


def test_a_package_is_unpacked(debian: Mirror) -> None:
    """Through the link of base-files, and without its documents."""
    done = debian.get("base-files", "hello")
    assert done.returncode == 0, done.stderr
    assert (debian.tree / "usr/bin/hello").read_text() == "hi"
    assert stat.S_IMODE((debian.tree / "usr/bin/hello").stat().st_mode) == 0o755  # no setuid
    assert not (debian.tree / "usr/share/doc").exists()
    sums = (debian.tree / "etc/cellbed-debs").read_text().splitlines()
    digest = hashlib.sha256(debian.path("pool/hello_1_amd64.deb").read_bytes()).hexdigest()
    assert sums[1] == f"{digest}  hello_1_amd64.deb" and len(sums) == 2
    assert [path.name for path in debian.tree.parent.iterdir()] == ["tree"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Codename: trixie", "Codename: trixiE"),
        ("-----BEGIN PGP SIGNED", "Codename: other\n-----BEGIN PGP SIGNED"),
        ("-----END PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----\nCodename: other\n"),
        ("-----BEGIN PGP SIGNATURE", "-----BEGIN SIGNATURE"),
        ("\n=AAAA", "AAAA\n=AAAA"),
    ],
    ids=["changed", "before", "after", "unsigned", "broken"],
)
def test_a_release_that_debian_did_not_sign(debian: Mirror, old: str, new: str) -> None:
    path = debian.path("dists/trixie/InRelease")
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    if new.startswith("AAAA"):  # a signature that is cut off
        text = before.partition("-----BEGIN PGP SIGNATURE")[0]
        path.write_text(text + mirror.armor("SIGNATURE", b"\xc2\xff\0"))
    assert "is not to be trusted" in refusal(debian.get("hello"))
    assert not debian.tree.exists()


def test_a_release_that_somebody_else_signed(debian: Mirror) -> None:
    debian.key = STRANGER
    debian.publish()
    assert "no key of Debian's archive has signed it" in refusal(debian.get("hello"))


def test_another_suite_that_debian_signed(debian: Mirror) -> None:
    debian.head = "Suite: oldstable\nCodename: bookworm"
    debian.publish()
    assert "is the Release file of bookworm" in refusal(debian.get("hello"))


def test_a_release_of_long_ago(debian: Mirror) -> None:
    debian.head += "\nValid-Until: Sat, 01 Jan 2022 00:00:00 UTC"
    debian.publish()
    assert "the mirror is old, or this machine's clock is wrong" in refusal(debian.get("hello"))


def test_a_list_that_is_not_the_signed_one(debian: Mirror) -> None:
    path = debian.path("dists/trixie/main/binary-amd64/Packages.xz")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "is not the one that was signed" in refusal(debian.get("hello"))


@pytest.mark.parametrize(("more", "says"), [(b"", "is not the file that Debian's list names"),
                                            (b"x", "is larger than")])  # fmt: skip
def test_a_package_that_was_changed(debian: Mirror, more: bytes, says: str) -> None:
    path = debian.path("pool/hello_1_amd64.deb")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) + more)
    assert says in refusal(debian.get("base-files", "hello"))
    assert not (debian.tree / "usr/bin/hello").exists()


@pytest.mark.parametrize(
    "members",
    [
        [("../outside", FILE, "x")],
        [("./usr/../../outside", FILE, "x")],
        [("/outside", FILE, "x")],
        [("./up", LINK, "../.."), ("./up/outside", FILE, "x")],
        [("./up", LINK, "{}"), ("./up/outside", FILE, "x")],
        [("./victim", LINK, "{}/victim"), ("./victim", FILE, "changed")],
        [("./same", SAME, "../../victim")],
        [("./up", LINK, "{}"), ("./same", SAME, "up/victim"), ("./same", FILE, "changed")],
        [("./round", LINK, "round"), ("./round/x", FILE, "x")],
        [("./device", DEVICE, "")],
    ],
    ids=["dots", "dots inside", "absolute", "link", "absolute link", "over a link", "hard link",
         "hard link over a link", "circle", "device"],
)  # fmt: skip
def test_a_package_of_debians_that_is_hostile(
    debian: Mirror, tmp_path: Path, members: list[mirror.Member]
) -> None:
    """The tree's links lead to the tree only; all else is a sentence."""
    (tmp_path / "victim").write_text("safe")
    debian.put("evil", [(x.format(tmp_path), kind, y.format(tmp_path)) for x, kind, y in members])
    debian.publish()
    before = sorted(tmp_path.iterdir())
    done = debian.get("base-files", "evil")
    assert done.returncode == 0 or refusal(done)
    assert (tmp_path / "victim").read_text() == "safe" and (
        tmp_path / "victim"
    ).stat().st_nlink == 1
    assert sorted(tmp_path.iterdir()) == before
    assert not list(tmp_path.glob("cache/outside")) and not list(tmp_path.parent.glob("outside"))
    assert not Path("/outside").exists()


def test_a_package_that_is_none(debian: Mirror) -> None:
    """Debian's list names it, and so its checksum is right."""
    debian.put("evil", [("./x", FILE, "x")])
    path = debian.path("pool/evil_1_amd64.deb")
    path.write_bytes(path.read_bytes()[:-120])
    told = debian.debs["evil"].decode()
    size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    told = re.sub(r"Size: .*", f"Size: {size}", re.sub(r"SHA256: .*", f"SHA256: {digest}", told))
    debian.debs["evil"] = told.encode()
    debian.publish()
    assert "data.tar.xz cannot be read" in refusal(debian.get("base-files", "evil"))


def test_a_release_without_packages(debian: Mirror) -> None:
    signed = mirror.signed("Suite: trixie\nSHA256:\n")
    debian.path("dists/trixie/InRelease").write_text(signed)
    assert "a file of the mirror cannot be read" in refusal(debian.get("hello"))


def test_what_a_package_needs_comes_along(debian: Mirror) -> None:
    """Of alternatives the first that there is; of a name that is provided, the first by name."""
    debian.put("app", [], Depends="lib (>= 1~), missing | mailer, lib (<< 2) | other")
    debian.put("lib", [])
    debian.put("zmail", [], Provides="mailer")
    debian.put("amail", [], Provides="mailer (= 3)")
    debian.publish()
    done = debian.get("base-files", "app")
    assert done.returncode == 0, done.stderr
    sums = (debian.tree / "etc/cellbed-debs").read_text().splitlines()
    assert [line.split()[1].partition("_")[0] for line in sums] == [
        "amail", "app", "base-files", "lib"
    ]  # fmt: skip


def test_packages_of_another_processor(debian: Mirror) -> None:
    """Each list has its own; into a tree of the one come files of the other."""
    debian.put("linux-image", [("./bin/kernel", FILE, "arm")], arch="arm64", Depends="tool")
    debian.put("tool", [("./bin/tool", FILE, "arm")], arch="arm64")
    debian.publish()
    assert debian.get("base-files", "hello").returncode == 0
    assert "no package linux-image" in refusal(debian.get("linux-image"))
    words = ["part", str(debian.tree), "trixie", "linux-", "linux-image"]
    done = debian.run("--arch", "arm64", *words)
    assert done.returncode == 0, done.stderr
    assert (debian.tree / "usr/bin/kernel").read_text() == "arm"
    assert (debian.tree / "usr/bin/hello").read_text() == "hi"
    assert not (debian.tree / "usr/bin/tool").exists()  # its name begins otherwise
    assert "arm64" not in (debian.tree / "etc/cellbed-debs").read_text()
    parts = (debian.tree / "etc/cellbed-parts").read_text().splitlines()
    assert [line.split()[1].rpartition("_")[2] for line in parts] == ["arm64.deb"]
    assert len(parts[0].split()[0]) == 64


def test_a_version_that_debian_does_not_have(debian: Mirror) -> None:
    debian.put("app", [], Depends="hello (>= 1:0)")
    debian.publish()
    assert "Debian has no package hello that could be installed" in refusal(debian.get("app"))


def test_no_mirror_there(debian: Mirror) -> None:
    debian.address = debian.address.replace("/debian", "/nowhere")
    assert "cannot be had: 404" in refusal(debian.get("hello"))


VERSIONS = ["1.0~rc1-1", "1.0~rc1-2", "1.0-1", "1.0-1+b1", "1.0-1.1", "1.0a-1", "1.0+x-1", "1.2-1",
            "1.10-1", "1:0.1-1"]  # fmt: skip


def test_versions_are_ordered_as_dpkg_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(mirror.PROJECT / "lab/root"))
    import index  # type: ignore[import-not-found]

    for one in VERSIONS:
        for other in VERSIONS:
            newer = subprocess.call(["dpkg", "--compare-versions", one, "gt", other]) == 0
            assert (index.order(one, other) > 0) == newer, (one, other)
