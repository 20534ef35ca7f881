# SPDX-License-Identifier: GPL-2.0-only
"""./cellbed setup --from FILE: a whole set-up of a sound archive of this source, else nothing."""

from __future__ import annotations

import io
import json
import lzma
import os
import platform
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from harness.machine import cache as kept
from tests.fresh import machine, releases
from tests.fresh.machine import Machine
from tests.fresh.releases import (
    contents,
    forged,
    lacking,
    member,
    pack,
    places,
    products,
    replaced,
    told,
)
from tests.fresh.test_sentences import only_ready
from tests.test_version import VERSION

PRODUCTS = ("image", "kernel", "programs")
HERE = platform.machine()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, Path]:
    """A machine whose project nobody changes, and its release."""
    folder = tmp_path_factory.mktemp("release")
    made = lacking(machine.make(folder))
    return made, pack(made, folder, products(made, folder))


@pytest.fixture
def here(shared: tuple[Machine, Path], tmp_path: Path) -> Machine:
    """That machine with an empty cache."""
    return Machine(shared[0].project, shared[0].commands, tmp_path / "cache")


@pytest.fixture
def archive(shared: tuple[Machine, Path], tmp_path: Path) -> Path:
    """A copy of the release, to be changed."""
    return Path(shutil.copy(shared[1], tmp_path))


@pytest.fixture
def changing(here: Machine, tmp_path: Path) -> Machine:
    """A copy of the machine, whose project may be changed."""
    return Machine(
        Path(shutil.copytree(here.project, tmp_path / "project")),
        Path(shutil.copytree(here.commands, tmp_path / "commands", symlinks=True)),
        here.cache,
    )


def made(here: Machine) -> list[str]:
    """What is in the cache beside logs and locks."""
    names = os.listdir(here.cache) if here.cache.exists() else []
    return sorted(set(names) - {"log", "lock"})


def refusal(here: Machine, archive: Path) -> str:
    """The sentence of a set-up that leaves nothing behind."""
    done = here.run("cellbed", "setup", "--from", str(archive))
    assert "Traceback" not in done.stderr
    assert done.returncode == 3, done.stderr
    assert not [name for name in made(here) if name.startswith("image")]
    [said] = (x for x in done.stderr.splitlines() if x.startswith("lab/setup: "))
    return said  # another step may end beside it, and say so after it


def test_it_needs_no_package_no_compiler_and_no_network(here: Machine, archive: Path) -> None:
    done = here.run("cellbed", "setup", "--from", str(archive))
    assert done.returncode == 0, done.stderr
    found = places(here)
    assert found["environment"].name.endswith("-debian")
    assert (found["environment"] / "complete").exists()
    assert not (found["environment"] / "wheels").exists()
    image, kernel = found["image"], found["kernel"]
    assert (image / "usr/bin/su").read_text() == (image / "bin/su").read_text() == "su"
    assert stat.S_IMODE((image / "usr/bin/su").stat().st_mode) == 0o755
    assert stat.S_IMODE((image / "tmp").stat().st_mode) == 0o755
    assert os.readlink(image / "usr/lib/conf") == "../../etc/conf"
    assert (kernel / "linux").read_text() == "kernel"
    assert sorted(os.listdir(kernel / "source")) == [".package"]
    assert not (kernel / "build").exists()
    assert (found["programs"] / "cellq").read_text() == "program"
    names = [found[x].name for x in (*PRODUCTS, "environment")]
    assert made(here) == sorted([*names, "releases"])
    known = here.run("lab/release/known")
    assert known.stdout == f"{releases.digest(archive)}\n", known.stderr


def test_no_setting_of_pips_decides_what_is_installed(here: Machine, archive: Path) -> None:
    """The archive's own wheels, and nothing of where a user or a machine sends pip."""
    settings = {"PIP_FIND_LINKS": "/elsewhere", "PIP_REQUIREMENT": "/other", "PIP_NO_INDEX": "0"}
    done = here.run("cellbed", "setup", "--from", str(archive), **settings)
    assert done.returncode == 0, done.stderr
    environment = places(here)["environment"]
    words, *left = (environment / "pip-was").read_text().splitlines()
    assert left == ["PIP_CONFIG_FILE=/dev/null"]
    assert {"--isolated", "--no-index", "--no-deps"} < set(words.split())
    assert words.endswith(f" {environment}/wheels/click-8-none-any.whl")


def test_nobody_else_may_write_into_the_cache(here: Machine, archive: Path) -> None:
    """Whatever a user's mask lets others do elsewhere."""
    before = os.umask(0)
    try:
        here.run("cellbed", "setup", "--from", str(archive))
    finally:
        os.umask(before)
    there = [here.cache, *here.cache.rglob("*")]
    assert not [x for x in there if not x.is_symlink() and x.stat().st_mode & 0o022]


def test_a_command_after_a_set_up_that_was_stopped(here: Machine, archive: Path) -> None:
    """It must not fetch what the release has."""
    here.run("cellbed", "setup", "--from", str(archive))
    environment = places(here)["environment"]
    (environment / "complete").unlink()
    (environment / "wheels").mkdir()
    done = here.run("cellbed", "clean")
    assert done.returncode == 3 and "give ./cellbed setup --from FILE again" in done.stderr


def test_the_second_time_all_is_ready(here: Machine, archive: Path) -> None:
    here.run("cellbed", "setup", "--from", str(archive))
    assert only_ready(here.run("cellbed", "setup", "--from", str(archive)))


def test_its_name_is_seen_from_the_callers_folder(here: Machine, archive: Path) -> None:
    argv = here.argv_of("cellbed", "setup", "--from", archive.name)
    done = subprocess.run(  # type: ignore[call-overload]
        **argv, cwd=archive.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_file_must_be_named(here: Machine) -> None:
    done = here.run("cellbed", "setup", "--from")
    assert done.returncode == 2 and "--from needs a file" in done.stderr


def test_the_same_products_give_the_same_bytes(here: Machine, tmp_path: Path) -> None:
    """Whenever the recipes ran, and in whatever order a folder has its files."""
    one = pack(here, tmp_path, products(here, tmp_path))
    again = tmp_path / "again"
    again.mkdir()
    before = os.umask(0o077)
    try:
        other = products(here, again)
        list_of_debs = other["image"] / "etc/cellbed-debs"
        os.utime(list_of_debs, (2e9, 2e9))
        for path in (other["image"] / "usr/bin/su", other["kernel"] / "linux"):
            os.utime(path, (2e9, 2e9))
        for folder in (again / "made", again / "parts"):
            for path in [folder, *folder.rglob("*")]:
                if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077 == 0:
                    path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
        two = pack(here, again, other)
    finally:
        os.umask(before)
    assert one.read_bytes() == two.read_bytes()


def test_a_packages_file_keeps_its_time(archive: Path, tmp_path: Path) -> None:
    """Else Python in the lab would compile each module again at each start."""
    (tmp_path / "image").write_bytes(contents(archive)["image.tar.xz"])
    with tarfile.open(tmp_path / "image") as opened:
        times = {found.name: found.mtime for found in opened}
    assert times.pop("usr/lib/module.py") == 10**9
    assert set(times.values()) == {0}


def test_it_lists_sources_and_licences(archive: Path) -> None:
    files = contents(archive)
    assert list(files)[:3] == [releases.LIST, "sources.csv", "licences.tar.xz"]


def cut(archive: Path, share: float) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.6, 0.8])
def test_a_file_that_is_cut_off(here: Machine, archive: Path, share: float) -> None:
    cut(archive, share)
    said = refusal(here, archive)
    assert str(archive) in said and said.count(";") == 1
    assert (
        "is cut off" in said or "no release of cellbed" in said or "is cut off or damaged" in said
    )


@pytest.mark.parametrize("part", ["sources.csv", "licences.tar.xz", "wheels.tar", "image.tar.xz"])
def test_a_changed_byte(here: Machine, archive: Path, part: str) -> None:
    with tarfile.open(archive) as opened:
        at = opened.getmember(part).offset_data
    content = bytearray(archive.read_bytes())
    content[at + 5] ^= 1
    archive.write_bytes(content)
    said = refusal(here, archive)
    assert f"{archive} was changed: {part} has another checksum; download it again" in said
    assert made(here) == []


def test_a_byte_that_changes_after_the_check(here: Machine, archive: Path) -> None:
    """Somebody else may write into a file in a shared folder while set-up reads it."""
    with tarfile.open(archive) as opened:
        at = opened.getmember("wheels.tar").offset_data
    content = bytearray(archive.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(content[at:])) as wheels:
        content[at + next(x.offset_data for x in wheels if x.size)] ^= 1
    archive.write_bytes(content)
    environment = Path(f"{str(places(here)['environment']).rpartition('-')[0]}-debian")
    environment.parent.mkdir(exist_ok=True)
    use: list[str | Path] = [sys.executable, "-sEB", here.project / "lab/release/use"]
    words: list[str | Path] = ["unpack", archive, VERSION, HERE, f"environment={environment}"]
    done = subprocess.run([*use, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert "was changed while set-up read it: wheels.tar has another checksum" in done.stderr
    assert made(here) == []


def test_more_than_its_list_names(here: Machine, archive: Path) -> None:
    files = contents(archive)
    releases.write(archive, {**files, "more": b"x"})
    assert "has a file that its list does not name" in refusal(here, archive)
    releases.write(archive, files)
    with archive.open("ab") as stream:
        stream.write(b"more")
    assert "has something behind its end" in refusal(here, archive)


def test_parts_in_another_order(here: Machine, archive: Path) -> None:
    files = contents(archive)
    files["wheels.tar"] = files.pop("wheels.tar")
    releases.write(archive, files)
    assert "is not where its list says; download it again" in refusal(here, archive)


def test_another_version(here: Machine, archive: Path) -> None:
    told(archive, version="0.0.9")
    said = refusal(here, archive)
    assert "has version 0.0.9 of cellbed, and this is version" in said
    assert "check out the version of cellbed that it was made of, or leave --from away" in said


def test_another_machine(here: Machine, archive: Path) -> None:
    told(archive, machine="riscv64")
    assert "is for a machine of the kind riscv64, and this is x86_64" in refusal(here, archive)


@pytest.mark.parametrize(
    "path", ["lab/image/packages", "lab/kernel/config", "bpf/cellq.bpf.c", "lab/requirements.txt"]
)
def test_another_source(changing: Machine, archive: Path, path: str) -> None:
    """The names of the products have a hash of all that their recipes read."""
    with (changing.project / path).open("a") as stream:
        stream.write("\n# changed\n")
    assert "was made of another source than this: it has " in refusal(changing, archive)
    assert made(changing) == []


@pytest.mark.parametrize("content", [b"", b"text\n", b"\0" * 20_000], ids=["none", "text", "zeros"])
def test_what_is_no_release(here: Machine, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert "x is no release of cellbed; name a file of ./cellbed release" in refusal(
        here, tmp_path / "x"
    )


def test_no_file(here: Machine, tmp_path: Path) -> None:
    assert f"{tmp_path}/absent: No such file or directory" in refusal(here, tmp_path / "absent")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "cellbed-release/9"},
        {"parts": [{"file": 1}]},
        {"parts": [{"file": "x", "sha256": "", "size": 1 << 63}]},
        {"products": []},
        {"version": None},
    ],
    ids=["format", "parts", "size", "products", "version"],
)
def test_a_list_that_cannot_be_read(
    here: Machine, archive: Path, change: dict[str, object]
) -> None:
    told(archive, **change)
    said = refusal(here, archive)
    assert "has a list of parts that cannot be read" in said or "is not of the format" in said


def test_a_list_that_is_nested_without_end(here: Machine, archive: Path) -> None:
    releases.write(archive, {releases.LIST: b"[" * 200_000})
    assert "is no release of cellbed; name a file of ./cellbed release" in refusal(here, archive)


LINK, SAME, FOLDER = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
# Eight bytes, and a hole up to 400 MB.
HOLES = {"GNU.sparse.map": "0,8", "GNU.sparse.size": "400000000"}


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([member("../x")], "leads out of its folder"),
        ([member("a/../../x")], "leads out of its folder"),
        ([member("/tmp/x")], "leads out of its folder"),
        ([member("x", LINK, "/etc/passwd")], "the link 'x' in it leads out"),
        ([member("x", LINK, "../x")], "the link 'x' in it leads out"),
        ([member("a/x", LINK, "../../x")], "the link 'a/x' in it leads out"),
        (
            [member("a/b", LINK, ".."), member("x", LINK, "a/b/../y")],
            "the link 'x' in it leads out",
        ),
        ([member("a", LINK, "usr"), member("a/x")], "lies behind a link"),
        ([member("a", LINK, "usr"), member("a/x", FOLDER)], "lies behind a link"),
        ([member("a"), member("x", SAME, "a")], "is neither file, folder nor link"),
        ([member("x", tarfile.CHRTYPE)], "is neither file, folder nor link"),
        ([member("x", tarfile.BLKTYPE)], "is neither file, folder nor link"),
        ([member("x", tarfile.FIFOTYPE)], "is neither file, folder nor link"),
        ([member("x", **HOLES)], "'x' in it is a file with holes (sparse)"),
        ([member("x", mtime="nan")], "a part cannot be read ("),
        ([member("x", mtime="inf")], "a part cannot be read ("),
        ([member("x", mtime="1e300")], "a part cannot be read ("),
    ],
)
def test_what_a_stranger_could_put_in(
    here: Machine, archive: Path, members: list[tarfile.TarInfo], says: str
) -> None:
    forged(archive, members)
    assert says in refusal(here, archive)
    assert not [path for path in here.cache.parent.rglob("x") if path.is_file()]


def test_a_part_that_grows(here: Machine, archive: Path) -> None:
    forged(archive, [member(f"x{i}") for i in range(50)], unpacked=10_000)
    assert "a part of it is larger than its list says" in refusal(here, archive)


def test_a_part_that_is_larger_than_the_disk(here: Machine, archive: Path) -> None:
    forged(archive, [member("x")], unpacked=1 << 60)
    assert "of free space, but set-up needs" in refusal(here, archive)


def huge_dictionary(size: int) -> bytes:
    """A part whose reader must have room for so many bytes; eight bytes follow."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": size}]
    return lzma.compress(b"stranger", filters=filters)


def test_a_part_that_takes_much_memory(here: Machine, archive: Path) -> None:
    replaced(archive, huge_dictionary(1 << 30), unpacked=1 << 30)
    assert "reading it takes more than 512 MiB of memory" in refusal(here, archive)


def test_a_part_with_more_files_than_a_disk_has_room_for(here: Machine, archive: Path) -> None:
    """They would be empty: 25 MB of heads are a few kB of the archive."""
    heads = member(".", FOLDER).tobuf() * 50_001
    replaced(archive, lzma.compress(heads, preset=0), unpacked=1 << 30)
    assert "a part of it has more than 50,000 files" in refusal(here, archive)


@pytest.mark.parametrize("key", ["version", "machine"])
def test_words_that_a_terminal_would_obey(here: Machine, archive: Path, key: str) -> None:
    told(archive, **{key: "\x1b[2J\n9"})
    assert "?[2J?9" in refusal(here, archive)


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_a_file_that_never_ends(here: Machine, tmp_path: Path, kind: str) -> None:
    if kind == "FIFO":
        os.mkfifo(tmp_path / "x")
    else:
        (tmp_path / "x").symlink_to("/dev/zero")
    assert f"{tmp_path}/x is not a file; name a file of ./cell" in refusal(here, tmp_path / "x")


def test_another_release_of_the_same_names(here: Machine, archive: Path) -> None:
    """What is there stays, and somebody who reads the lines knows."""
    here.run("cellbed", "setup", "--from", str(archive))
    forged(archive, [member("x")])
    done = here.run("cellbed", "setup", "--from", str(archive))
    assert done.returncode == 0
    assert f"nothing of {archive} is used: set-up had made all products before" in done.stderr
    assert not (places(here)["image"] / "x").exists()
    assert here.run("lab/release/known").stdout != f"{releases.digest(archive)}\n"


def test_rights_that_a_stranger_gives(here: Machine, archive: Path) -> None:
    forged(archive, [member("x"), member("y", FOLDER)])
    assert here.run("cellbed", "setup", "--from", str(archive)).returncode == 0
    image = places(here)["image"]
    modes = [stat.S_IMODE((image / name).stat().st_mode) for name in ("x", "y")]
    assert modes == [0o755, 0o755]


# Kills itself before it writes its Nth file, or before it gives the whole its name.
KILLED = """
import os, pathlib, runpy, signal, sys
sys.path[:0] = [{release!r}, {root!r}]
import unpack
left, write, rename = {left}, unpack.write, pathlib.Path.rename
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def killing(*given):
    global left
    left -= 1
    (die if left == 0 else write)(*given)
unpack.write = killing
if left == 0:
    pathlib.Path.rename = die
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("left", range(5))
def test_one_that_is_killed_leaves_nothing_that_counts(
    here: Machine, archive: Path, left: int
) -> None:
    """And the next finishes."""
    here.cache.mkdir()
    release = here.project / "lab/release"
    code = KILLED.format(release=str(release), root=str(here.project / "lab/root"), left=left)
    image = places(here)["image"]
    argv = [sys.executable, "-c", code, str(release / "use"), "unpack", archive,
            releases.VERSION, HERE, f"image={image}"]  # fmt: skip
    assert subprocess.run(argv, check=False, capture_output=True, timeout=60).returncode == -9
    [begun] = here.cache.iterdir()
    assert not image.exists() and list(kept.partials(here.cache)) == [begun]
    done = here.run("cellbed", "setup", "--from", str(archive))
    assert done.returncode == 0, done.stderr
    assert (image / "usr/lib/module.py").read_text() == "module"


def test_changed_programs_need_the_kernels_own_build(changing: Machine, archive: Path) -> None:
    """A release's kernel has no headers: set-up makes it again before it compiles a module."""
    done = changing.run("cellbed", "setup", "--from", str(archive))
    assert done.returncode == 0, done.stderr
    with (changing.project / "topology/nsfarm.c").open("a") as stream:
        stream.write("/* changed */\n")
    done = changing.run("cellbed", "setup", MAY_BUILD="yes")
    assert done.returncode == 0, done.stderr
    assert "lab kernel: building" in done.stderr and places(changing)["programs"].exists()


class TestArm64:
    """A release for ARM64, on a machine that `uname` says is one."""

    PRODUCTS = ("image", "disk", "vm", "programs")

    @pytest.fixture
    def arm64(self, shared: tuple[Machine, Path], changing: Machine) -> Machine:
        says = "case $1 in -m) echo aarch64 ;; *) echo Linux aarch64 ;; esac"
        changing.replace("uname", says)
        changing.replace("qemu-system-aarch64", "exit 0")  # the tests' set-up does not install it
        return changing

    @pytest.fixture
    def of_arm64(self, here: Machine, tmp_path: Path) -> Path:
        """The disk is a file."""
        made = releases.products(here, tmp_path)
        there = places(here)
        files = {"image": made["image"]}
        for name in ("disk", "vm", "programs"):
            files[name] = tmp_path / "made" / there[f"arm64_{name}"].name
        files["image"] = made["image"].rename(tmp_path / "made" / there["arm64_image"].name)
        files["disk"].write_bytes(b"disk" * 1000)
        files["vm"].mkdir()
        (files["vm"] / "complete").touch()
        (files["vm"] / "vmlinuz").write_text("kernel")
        files["programs"].mkdir()
        environment = there["environment"]
        return releases.packed(
            here.project, environment, tmp_path, files, "arm64.tar", machine="aarch64"
        )

    def test_it_is_all_that_the_machine_needs(self, arm64: Machine, of_arm64: Path) -> None:
        done = arm64.run("cellbed", "setup", "--from", str(of_arm64))
        assert done.returncode == 0, done.stderr
        there = places(arm64)
        assert there["arm64_disk"].read_bytes() == b"disk" * 1000
        assert stat.S_IMODE(there["arm64_disk"].stat().st_mode) == 0o644
        assert (there["arm64_vm"] / "vmlinuz").read_text() == "kernel"
        assert (there["arm64_image"] / "bin/su").read_text() == "su"
        assert not there["kernel"].exists() and not there["image"].exists()
        assert only_ready(arm64.run("cellbed", "setup", "--from", str(of_arm64)))
        known = arm64.run("lab/release/known")
        assert known.stdout == f"{releases.digest(of_arm64)}\n", known.stderr

    def test_the_emulator_is_named_where_it_is_missing(
        self, arm64: Machine, of_arm64: Path
    ) -> None:
        arm64.replace("qemu-system-aarch64", "")
        done = arm64.run("cellbed", "setup", "--from", str(of_arm64))
        assert "the program qemu-system-aarch64 is missing; install it" in done.stderr
        arm64.replace("qemu-system-aarch64", "exit 0")
        done = arm64.run("cellbed", "setup", "--from", str(of_arm64))
        assert "qemu-system-aarch64" not in done.stderr

    def test_a_disk_that_is_larger_than_the_list_says(
        self, arm64: Machine, of_arm64: Path
    ) -> None:
        release = json.loads(contents(of_arm64)[releases.LIST])
        [disk] = (part for part in release["parts"] if part.get("product") == "disk")
        disk["unpacked"] = 100
        told(of_arm64, parts=release["parts"])
        done = arm64.run("cellbed", "setup", "--from", str(of_arm64))
        assert done.returncode == 3 and "Traceback" not in done.stderr
        assert "a part of it is larger than its list says" in done.stderr
        assert not places(arm64)["arm64_disk"].exists()

    def test_a_product_of_which_there_is_no_part(self, arm64: Machine, of_arm64: Path) -> None:
        release = json.loads(contents(of_arm64)[releases.LIST])
        for part in release["parts"]:
            if part.get("product") == "vm":
                del part["product"], part["unpacked"]
        told(of_arm64, parts=release["parts"])
        done = arm64.run("cellbed", "setup", "--from", str(of_arm64))
        assert done.returncode == 3 and "Traceback" not in done.stderr
        assert "has no part with the vm; download it again" in done.stderr

    def test_no_other_machine_takes_it(self, here: Machine, of_arm64: Path) -> None:
        said = refusal(here, of_arm64)
        assert "is for a machine of the kind aarch64, and this is x86_64" in said
