# SPDX-License-Identifier: GPL-2.0-only
"""What runs in a uml lab reaches its image, programs, shares and run folder, and nothing more.

Tried by a script as the lab's root, by a module of the lab's kernel, and by a program of the host
in that kernel's place (escape/); by root and by a user, each on a host that allows user namespaces
and on one that does not, where the same ways must be seen to be open.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.host import paths
from tests.small import PROJECT

pytestmark = pytest.mark.lab

ENTER = PROJECT / "lab/root/enter"
ESCAPE = Path(__file__).with_name("escape")
LIMIT_S = 300
LIBC = ctypes.CDLL(None, use_errno=True)
ADD_KEY, KEYCTL, SESSION_KEYRING, INVALIDATE = 248, 250, -3, 21
IPC_CREATE, IPC_REMOVE = 0o1000, 0

# Of this process's account: as root, and as a user whom all that is root's belongs to.
ROOT = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
HOSTS = {"root": ROOT, "user": USER}


def without_namespaces(who: str) -> list[str]:
    """The words that make a command one on a host which allows no user namespace."""
    script = 'echo {} > /proc/sys/user/max_user_namespaces; exec "$@"'
    last = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    if who == "root":
        return [*last, script.format(0), "-"]
    user = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    return [*last, script.format(1), "-", *user]


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[dict[str, object]]:
    """Things of the host that no lab is to reach, by name; gone after the test."""
    home, theirs = tmp_path / "home", tmp_path / "theirs"
    for folder in (home, theirs):
        folder.mkdir()
    (home / "secret").write_text("a secret\n")
    (theirs / "file").write_text("from the folder\n")
    (theirs / "link").symlink_to(home / "secret")
    name = f"cellbed-escape-{os.getpid()}"
    with ExitStack() as until:
        places: list[object] = [("127.0.0.1", 0), f"\0{name}", home / "socket", theirs / "socket"]
        listening = [until.enter_context(listen(place)) for place in places]
        key = os.getpid()
        memory = LIBC.shmget(key, 4096, IPC_CREATE | 0o600)
        until.callback(LIBC.shmctl, memory, IPC_REMOVE, None)
        queue = LIBC.mq_open(f"/{name}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        until.callback(LIBC.mq_close, queue)  # a user may have few
        until.callback(LIBC.mq_unlink, f"/{name}".encode())
        assert memory >= 0 and queue >= 0
        added = LIBC.syscall(ADD_KEY, b"user", name.encode(), b"secret", 6, SESSION_KEYRING)
        until.callback(LIBC.syscall, KEYCTL, INVALIDATE, added)
        yield {
            "home": home, "secret": home / "secret", "port": listening[0].getsockname()[1],
            "abstract": name, "socket": home / "socket", "memory": key, "queue": f"/{name}",
            "key": name, "disk": os.stat("/").st_dev,
        }  # fmt: skip


def listen(place: object) -> socket.socket:
    """A service of the host: at a port, at a path, at an abstract name."""
    family = socket.AF_INET if isinstance(place, tuple) else socket.AF_UNIX
    listening = socket.socket(family)
    listening.bind(str(place) if isinstance(place, Path) else place)
    listening.listen(100)
    return listening


def said(text: str) -> dict[str, bool]:
    """Ways, and whether each is open."""
    lines = (line.rpartition(" ") for line in text.splitlines())
    return {name: word == "open" for name, _, word in lines if word in ("open", "shut")}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the hostile program, as a kernel of that name."""
    folder = tmp_path_factory.mktemp("kernel")
    argv = ["gcc", "-Wall", "-Werror", "-O1", "-o", folder / "linux", ESCAPE / "hostile.c"]
    subprocess.run(argv, check=True, timeout=LIMIT_S)
    return folder


BOOT = """
import subprocess
import sys
from pathlib import Path
from harness.labs import LabSpec, UmlLab
from harness.labs.supervised import wait_for_exit
folder, kernel, theirs, main = sys.argv[1:]
kernel = Path(kernel) if kernel else None
spec = LabSpec(pairs=1, kernel=kernel, shares={"theirs": Path(theirs)}, main=main)
victim = subprocess.Popen(["sleep", "600"])
with (Path(folder) / "targets").open("a") as targets:
    targets.write(f"victim={victim.pid}\\n")
try:
    with UmlLab(spec, Path(folder)) as lab:
        wait_for_exit(lab, 60.0)
        assert lab.poll() == 0, lab.console()
finally:
    victim.kill()
    victim.wait()
"""


def boot(
    how: Sequence[str], folder: Path, kernel: Path | None, main: str = ""
) -> subprocess.CompletedProcess[str]:
    """Boot a lab that ends by itself, in FOLDER/run, with FOLDER/theirs as a share."""
    words = [str(folder / "run"), str(kernel or ""), str(folder / "theirs"), main]
    done = subprocess.run(
        [*how, sys.executable, "-c", BOOT, *words], capture_output=True, text=True, check=False,
        timeout=LIMIT_S, cwd=folder, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def try_ways(
    how: Sequence[str], folder: Path, hostile: Path, targets: dict[str, object]
) -> tuple[dict[str, bool], str]:
    """The ways of the hostile program, and what the lab's owner said on stderr."""
    (folder / "run").mkdir()
    lines = "".join(f"{name}={value}\n" for name, value in targets.items())
    (folder / "run" / "targets").write_text(lines)
    done = boot(how, folder, hostile)
    return said((folder / "run" / "ways").read_text()), done.stderr


def test_nothing_of_a_kernel_runs_before_it_is_within(tmp_path: Path) -> None:
    """Not what its file names as the loader's auditor: a loader runs that, whatever it is asked."""
    for name in ("run", "theirs"):
        (tmp_path / name).mkdir()
    kernel, auditor = tmp_path / "linux", tmp_path / "auditor.so"
    ran = f'fclose(fopen("{tmp_path}/ran", "w"))'
    code = f"#include <stdio.h>\nunsigned la_version(unsigned v) {{ {ran}; return v; }}\n"
    for text, words in (
        (code, ["-shared", "-fPIC", "-o", auditor]),
        ("int main(void) { return 0; }", ["-o", kernel, f"-Wl,--audit={auditor}"]),
    ):
        argv = ["gcc", "-x", "c", "-", *words]
        subprocess.run(argv, input=text, text=True, check=True, timeout=LIMIT_S)
    subprocess.run([kernel], check=True, timeout=LIMIT_S)
    (tmp_path / "ran").unlink()  # it does run where it is to be had
    assert not boot(ROOT, tmp_path, tmp_path).stderr
    assert not (tmp_path / "ran").exists()


OWN = {"read:image", "read:share", "write:run"}
# What any account can do on its host, and so this program without a boundary.
OF_AN_ACCOUNT = OWN | {
    "see:/root", "see:home", "read:secret", "read:above", "read:link-in-share", "read:own-link",
    "write:checkout", "write:share", "write:image", "write:programs", "write:inbox", "see:tty",
    "read:environment", "signal", "trace", "connect:loopback", "connect:abstract", "connect:path",
    "replace:results", "replace:events", "replace:inbox", "replace:console",
    "connect:share", "pair:datagram", "socket:listener", "netlink", "memory", "queue",
    "core-helper", "lock:file", "lock:range", "lock:range-wait", "lock:open-file",
    "lock:open-file-wait", "lease",
}  # fmt: skip


@pytest.mark.parametrize("who", HOSTS)
def test_a_hostile_kernel_reaches_its_own_and_nothing_else(
    tmp_path: Path, hostile: Path, targets: dict[str, object], who: str
) -> None:
    ways, stderr = try_ways(HOSTS[who], tmp_path, hostile, targets)
    assert {name for name, is_open in ways.items() if is_open} == OWN
    assert len(ways) > 50 and not stderr


@pytest.mark.parametrize("who", HOSTS)
def test_without_namespaces_its_ways_are_open_and_a_line_says_so(
    tmp_path: Path, hostile: Path, targets: dict[str, object], who: str
) -> None:
    ways, stderr = try_ways(without_namespaces(who), tmp_path, hostile, targets)
    assert {name for name, is_open in ways.items() if is_open} >= OF_AN_ACCOUNT
    [line] = stderr.splitlines()
    assert line.startswith("cellbed: no boundary can be made around the uml lab here (no new name")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile module, built for set-up's kernel."""
    folder = tmp_path_factory.mktemp("module")
    for name in ("Kbuild", "hostile_module.c"):
        shutil.copy(ESCAPE / name, folder)
    build = paths.kernel().parent / "build"
    argv = [ENTER, "make", "-s", "-C", build, f"M={folder}", "ARCH=um", "modules"]
    subprocess.run(argv, check=True, timeout=LIMIT_S)
    return folder / "hostile_module.ko"


INSERT = (
    "insmod /run/cellbed/hostile_module.ko own=/proc/self/cwd/console.log secret={};"
    "cd /cellbed && exec python3 -B -m harness.agent.power_off"
)


@pytest.mark.parametrize("bounded", [True, False])
def test_a_module_of_the_labs_kernel_reaches_no_more(
    tmp_path: Path, module: Path, targets: dict[str, object], bounded: bool
) -> None:
    (tmp_path / "run").mkdir()
    shutil.copy(module, tmp_path / "run")
    how = ROOT if bounded else without_namespaces("root")
    boot(how, tmp_path, None, INSERT.format(targets["secret"]))
    lines = (tmp_path / "run" / "console.log").read_text().split("hostile_module: ")[1:]
    assert said("".join(lines)) == {"own": True, "secret": not bounded}


def run_script(
    how: Sequence[str], folder: Path, targets: dict[str, object], *options: str
) -> subprocess.CompletedProcess[str]:
    """./cellbed mininet with the hostile script, in FOLDER/theirs."""
    words = [str(targets["secret"]), str(targets["home"]), str(folder), "/tmp"]
    return subprocess.run(
        [*how, sys.executable, "-m", "harness", "mininet", *options, "theirs/script.py", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT_S,
        cwd=folder, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip


SCRIPTS_OWN = {"own:run", "own:sudo", "own:folder"}


@pytest.mark.parametrize("who", HOSTS)
def test_a_hostile_script_reaches_its_own_and_nothing_else(
    tmp_path: Path, module: Path, targets: dict[str, object], who: str
) -> None:
    for file in (module, ESCAPE / "script.py"):
        shutil.copy(file, tmp_path / "theirs")
    done = run_script(HOSTS[who], tmp_path, targets, "--isolated")
    assert done.returncode == 0, done.stderr
    ways = said(done.stdout)
    assert {name for name, is_open in ways.items() if is_open} == SCRIPTS_OWN
    assert len(ways) > 10 and not done.stderr
    assert not list(PROJECT.glob("harness/written-*")) + list((tmp_path / "theirs").glob("wr*"))


def test_isolated_refuses_a_host_without_namespaces(
    tmp_path: Path, targets: dict[str, object]
) -> None:
    shutil.copy(ESCAPE / "script.py", tmp_path / "theirs")
    done = run_script(without_namespaces("user"), tmp_path, targets, "--isolated")
    assert done.returncode == 3 and not done.stdout
    [line] = done.stderr.splitlines()
    assert "no boundary can be made" in line and line.endswith("take --lab vm")


# As one who owns none of the files of the image, as with a cache that a teacher has filled.
# The right to search goes with the first namespace: it only leads to the environment's Python.
ANOTHER = """
set -e
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/cache /mnt/checkout
mount --bind "$1" /mnt/cache
mount --bind "$2" /mnt/checkout
cp -r "$3" /mnt/theirs
chmod -R a+rX /mnt/theirs
cd /mnt
shift 3
exec "$@"
"""
SEARCH = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *SEARCH]


def run_another(
    folder: Path, script: str, who: Sequence[str], place: str = "/mnt/theirs/script.sh"
) -> subprocess.CompletedProcess[str]:
    """./cellbed mininet with a shell's script at a place; the cache is root's."""
    (folder / "theirs").mkdir()
    (folder / "theirs" / "script.sh").write_text(script)
    setting = ["unshare", "--mount", "sh", "-c", ANOTHER, "-", str(paths.places()["cache"]),
               str(PROJECT), str(folder / "theirs")]  # fmt: skip
    command = [sys.executable, "-P", "-m", "harness", "mininet", place]
    return subprocess.run(
        [*setting, *who, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=LIMIT_S,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "/mnt/checkout",
             "CELLBED_CACHE": "/mnt/cache"},
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_an_image_that_another_user_made_is_as_ones_own(tmp_path: Path) -> None:
    script = "mkdir /tmp/x && mount -t tmpfs x /tmp/x && sudo -n id -u && su mininet -c 'id -un'"
    done = run_another(tmp_path, script, NOBODY)
    assert (done.returncode, done.stdout) == (0, "0\nmininet\n"), done.stderr
    assert not done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read what its lab cannot")
def test_a_folder_that_cannot_be_shown_is_not_run_without_a_boundary(tmp_path: Path) -> None:
    """Else its owner chooses: root's lab may open no more there than anybody."""
    hide = 'mkdir -m 700 /mnt/above; mv /mnt/theirs /mnt/above; chown 65534 /mnt/above; exec "$@"'
    done = run_another(tmp_path, "echo out", ["sh", "-c", hide, "-"], "/mnt/above/theirs/script.sh")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("cellbed: /mnt/above/theirs: Permission denied: not to be had within a")
