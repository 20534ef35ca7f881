# SPDX-License-Identifier: GPL-2.0-only
"""What each way to cellbed costs, from nothing to the table of the first trial.

    PYTHONPATH=. python -P -m tests.bench.ways.run [--release FILE] [WAY ...]

in the project's environment. The ways are source, release, pip and container; all four, if none is
named. Each begins in an empty home folder, of which the cache is a part, and ends with the table of
tests/fresh/small.toml; its folder is then removed. FILE is of `./cellbed release`; without it, one
is made first, which is not in the figures. Programs that a way needs of the system, such as podman
and the packages of lab/host-packages, must be installed.

Seconds are wall time. Fetched is what git copied, what servers sent through a proxy that this
program starts (TLS's own bytes count, too), and the size of FILE, where the way uses it: FILE is on
this machine's disk, so its download is in no time. Disk is the room of all that is left in the home
folder. Load is the mean number of processes that wanted to compute in the last minute, at the begin
and at the end of the way. The rows go into the table of docs/install.md, which keeps its rows of
the other ways.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from tests.bench.ways import proxy
from tests.chosen import chosen

PROJECT = Path(__file__).resolve().parents[3]
PAGE = PROJECT / "docs" / "install.md"
TABLE = re.compile(r"(?<=<!-- tests\.bench\.ways -->\n).*?(?=<!-- end -->)", re.DOTALL)
TRIAL = "tests/fresh/small.toml"
USER = 1000  # of podman without root, where root runs this
# What would let a way find what this machine has already, or the project's own Python.
HIDDEN = ("CELLBED_CACHE", "CELLBED_PYTHON", "PYTHONPATH", "VIRTUAL_ENV", "XDG_CACHE_HOME",
          "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PIP_CACHE_DIR", "TMPDIR")  # fmt: skip
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
PIP_SETTINGS = (".config/pip/pip.conf", ".pip/pip.conf")
MB = 1_000_000
HEAD = (
    "| way | measured on | load | seconds | of these | MB fetched | of these | MB on the disk |\n"
    "| --- | --- | ---: | ---: | --- | ---: | --- | ---: |\n"
)


@dataclass(frozen=True)
class Step:
    """A part of a way: its name in the table, and a line of bash, run in the home folder."""

    name: str
    line: str


CLONE = Step("clone", "git clone -q $PROJECT cellbed")
RUN = Step("trial", f"cd cellbed && ./cellbed run {TRIAL} --out ../results")
# As an ordinary user, as docs/guides/container.md says.
PODMAN = "podman --cgroup-manager=cgroupfs $RUNTIME"
LIMITS = "--network none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096"
WAYS: dict[str, tuple[Step, ...]] = {
    "source": (CLONE, Step("set-up", "cd cellbed && ./cellbed setup"), RUN),
    "release": (CLONE, Step("set-up", "cd cellbed && ./cellbed setup --from $RELEASE"), RUN),
    "pip": (
        CLONE,
        Step("pip", "python3 -m venv venv && cd cellbed && pip=../venv/bin/pip &&"
             " $pip -q wheel --no-deps --wheel-dir build . && $pip -q install build/*.whl"),
        Step("set-up", "venv/bin/cellbed setup --from $RELEASE"),
        Step("trial", f"venv/bin/cellbed run cellbed/{TRIAL} --out results"),
    ),
    "container": (
        CLONE,
        Step("base", "mkdir cellbed/build && cp $RELEASE cellbed/build/ &&"
             f" cellbed/lab/container/base | {PODMAN} import -q - cellbed-base"),
        Step("image", f"cd cellbed && {PODMAN} build -q {LIMITS} -f lab/container/Containerfile"
             " --build-arg BASE=cellbed-base -t cellbed ."),
        Step("trial", f"mkdir work && cp cellbed/{TRIAL} work && {PODMAN} run --rm {LIMITS}"
             " -v $PWD/work:/work cellbed run small.toml"),
    ),
}  # fmt: skip
OF_RELEASE = {"release", "pip", "container"}
AS_USER = {"container"}


@dataclass(frozen=True)
class Given:
    """What the ways begin with: the project's commits as git's bundle, and a release."""

    project: Path
    release: Path


@dataclass
class Cost:
    """Of a way: seconds of each step, bytes fetched of each kind, bytes on the disk, loads."""

    way: str
    loads: list[float] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    fetched: dict[str, int] = field(default_factory=dict)
    disk: int = 0


def room(folder: Path) -> int:
    """What all in a folder takes on the disk [bytes]; a file with several names counts once."""
    argv = ["du", "-s", "-B1", str(folder)]
    return int(subprocess.check_output(argv, text=True).split()[0])


def fetched_by_git(home: Path) -> int:
    """The pack that git copied [bytes]."""
    packs = (home / "cellbed" / ".git" / "objects" / "pack").glob("*.pack")
    return sum(path.stat().st_size for path in packs)


def environment(home: Path, given: Given, proxy_address: str) -> dict[str, str]:
    """Of a way's steps."""
    kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    proxies = dict.fromkeys(PROXIES, proxy_address)
    runtime = "--runtime runc" if shutil.which("runc") else ""
    ours = {"HOME": home, "XDG_RUNTIME_DIR": home / "run", "RUNTIME": runtime,
            "PROJECT": given.project, "RELEASE": given.release}  # fmt: skip
    return {**kept, **proxies, **{name: str(value) for name, value in ours.items()}}


@contextmanager
def new_home(as_user: bool) -> Iterator[Path]:
    """An empty home folder with this user's settings of pip, for the duration."""
    home = Path(tempfile.mkdtemp(prefix="cellbed-way.", dir="/var/tmp"))
    try:
        (home / "run").mkdir(mode=0o700)
        for name in PIP_SETTINGS:
            if (Path.home() / name).exists():
                (home / name).parent.mkdir(parents=True)
                shutil.copy(Path.home() / name, home / name)
        if as_user:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", home], check=True)
        yield home
    finally:
        # Without root, podman's files are of other users, as those outside see them.
        inside = os.geteuid() != 0 and (home / ".local").exists()
        subprocess.run([*(["podman", "unshare"] * inside), "rm", "-rf", home], check=True)


def run_step(step: Step, home: Path, told: dict[str, str], as_user: bool) -> float:
    """Run a step to its end [s]; a failure ends this program with what the step said."""
    who = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if as_user else []
    log = home / "run" / f"{step.name}.log"
    begin = time.monotonic()
    with log.open("wb") as said:
        process = subprocess.Popen(
            [*who, "bash", "-euo", "pipefail", "-c", step.line], cwd=home, env=told,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    if status:
        sys.exit(f"{step.line}: status {status}\n{log.read_text(errors='replace')[-4000:]}")
    return time.monotonic() - begin


def measured(way: str, given: Given) -> Cost:
    """Go a way from its begin to its end."""
    found = Cost(way, [os.getloadavg()[0]])
    as_user = way in AS_USER and os.geteuid() == 0
    with proxy.running() as counting, new_home(as_user) as home:
        told = environment(home, given, counting.address)
        for step in WAYS[way]:
            found.seconds[step.name] = run_step(step, home, told, as_user)
            print(f"{way}: {step.name} {found.seconds[step.name]:.1f} s", flush=True)
        found.fetched = {"git": fetched_by_git(home), "packages": counting.received}
        if way in OF_RELEASE:
            found.fetched["release"] = given.release.stat().st_size
        found.disk = room(home)
    found.loads.append(os.getloadavg()[0])
    return found


def row(cost: Cost) -> str:
    """A line of the table."""
    now = date.today()
    steps = ", ".join(f"{name} {seconds:.0f}" for name, seconds in cost.seconds.items())
    parts = ", ".join(f"{name} {size / MB:.0f}" for name, size in cost.fetched.items())
    cells = [
        cost.way, f"{now.day} {now:%B %Y}", " to ".join(f"{load:.0f}" for load in cost.loads),
        f"{sum(cost.seconds.values()):.0f}", steps,
        f"{sum(cost.fetched.values()) / MB:.0f}", parts, f"{cost.disk / MB:.0f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def table(costs: Sequence[Cost], before: str) -> str:
    """The new rows, and of the table before those of other ways."""
    new = {cost.way: row(cost) for cost in costs}
    old = {line.split(" | ")[0].strip("| "): line for line in before.splitlines(keepends=True)}
    return HEAD + "".join({**old, **new}.get(way, "") for way in WAYS)


def given(folder: Path, release: Path | None) -> Given:
    """The project's last commit, for any user to read, and a release of this machine's products."""
    project = folder / "cellbed.bundle"
    subprocess.run(["git", "bundle", "create", "-q", project, "HEAD"], cwd=PROJECT, check=True)
    if release is None:
        argv = [str(PROJECT / "cellbed"), "release", "--out", str(folder)]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        [release] = folder.glob("*.tar")
    return Given(project, release.resolve())


def main(words: Sequence[str]) -> None:
    """Measure, and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ways.run")
    parser.add_argument("--release", type=Path, metavar="FILE")
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    options = parser.parse_args(words)
    ways = chosen(parser, options.ways, WAYS, "way")
    with tempfile.TemporaryDirectory(prefix="cellbed-ways.", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)  # podman's user reads there
        begun_with = given(Path(folder), options.release)
        costs = [measured(way, begun_with) for way in ways]
    page = PAGE.read_text("utf-8")
    text = TABLE.sub(lambda found: table(costs, found[0]), page, count=1)
    PAGE.write_text(text, "utf-8")
    print("".join(map(row, costs)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
