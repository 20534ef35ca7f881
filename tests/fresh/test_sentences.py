# SPDX-License-Identifier: GPL-2.0-only
"""No script ends without a sentence: what failed, in which step, what to do."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness.machine import clean
from tests.fresh import machine
from tests.fresh.machine import Machine
from tests.small import PROJECT

MISSING = "mmdebstrap", "patch", "uidmap"
# As dpkg's own: names that it does not know are an error, and the others are printed.
SOME_UNKNOWN = f"""
for name in "${{@:4}}"; do
    case " {" ".join(MISSING)} " in *" $name "*) unknown=1 ;; *) echo "$name installed" ;; esac
done
exit "${{unknown:-0}}"
"""
INSTALL = f"apt-get install -y --no-install-recommends {' '.join(MISSING)}"


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    return machine.make(tmp_path)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of a set-up that failed as it should."""
    assert done.returncode == 3, done.stderr
    assert "unexpected" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_a_machine_that_has_all(here: Machine) -> None:
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("ready")
    assert not (here.cache.parent / "apt-get").exists()


def only_ready(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode == 0 and bool(re.fullmatch(r"setup +\d+ s  ready\n", done.stderr))


def test_the_second_set_up_says_that_all_is_ready(here: Machine) -> None:
    here.run("cellbed", "setup")
    assert only_ready(here.run("cellbed", "setup"))


def test_what_is_there_waits_for_no_other_set_up(here: Machine) -> None:
    here.run("cellbed", "setup")
    with (here.cache / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert only_ready(here.run("cellbed", "setup"))
        argv = here.argv_of("lab/setup", "--check")
        with subprocess.Popen(**argv, stderr=subprocess.PIPE, text=True) as waiting:  # type: ignore[call-overload]
            assert "another set-up is running" in waiting.stderr.readline()
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert waiting.wait(60) == 0


def test_packages_that_dpkg_does_not_know_are_installed(here: Machine) -> None:
    here.replace("dpkg-query", SOME_UNKNOWN)
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    update, install = (here.cache.parent / "apt-get").read_text().splitlines()
    assert update.endswith("update")
    assert install.endswith(" ".join(MISSING)) and "--no-install-recommends" in install


@pytest.mark.parametrize("sudo", ["", "exit 1"], ids=["no sudo", "sudo refused"])
def test_an_ordinary_user_gets_the_command_for_an_administrator(here: Machine, sudo: str) -> None:
    here.replace("dpkg-query", SOME_UNKNOWN)
    here.replace("id", "echo 1000")
    here.replace("sudo", sudo)
    done = here.run("cellbed", "setup")
    assert sentence(done).endswith(f"run as root: apt-get update && {INSTALL}")
    assert done.stderr.count("\n") == 1


def test_an_ordinary_user_with_sudo(here: Machine) -> None:
    here.replace("dpkg-query", SOME_UNKNOWN)
    here.replace("id", "echo 1000")
    here.replace("sudo", '[ "$1" = -n ] && shift; [ "$1" = -l ] || "$@"')
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    assert (here.cache.parent / "apt-get").read_text().splitlines()[-1].endswith(MISSING[-1])


def test_under_sudo_all_but_the_packages_is_the_callers(here: Machine) -> None:
    here.replace("dpkg-query", SOME_UNKNOWN)
    here.replace("getent", "echo somebody:x:1000:1000::/home/of/somebody:/bin/sh")
    here.replace("runuser", f'echo "$@" > {here.cache.parent}/runuser')
    done = here.run("cellbed", "setup", "--vm", SUDO_USER="somebody")
    assert done.returncode == 0, done.stderr
    assert (here.cache.parent / "apt-get").exists()
    said = (here.cache.parent / "runuser").read_text()
    assert said == ("-u somebody -- env -u SUDO_USER HOME=/home/of/somebody lab/setup --vm\n")
    assert not here.cache.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--al",), "the option --al does not exist; ./cellbed setup --help lists the options"),
        (("--vm", "--arch", "mips"), "--arch needs arm64; ./cellbed setup --help"),
        (("--arch", "arm64"), "the option --arch does not exist; ./cellbed setup --help"),
        (("--vm", "--library"), "--library is a second option; run set-up once for each option"),
    ],
)
def test_options_that_cannot_be(here: Machine, options: tuple[str, ...], says: str) -> None:
    done = here.run("cellbed", "setup", *options)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lab/setup: {says}") and done.stderr.count("\n") == 1
    assert not here.cache.exists()


def test_help_names_every_option(here: Machine) -> None:
    done = here.run("cellbed", "setup", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("environment", "check", "library", "cluster", "vm", "native", "test"):
        assert f"\n  --{option} " in done.stdout


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("Temporary failure resolving 'deb.example'", "the network cannot be reached"),
        (
            "E: Unable to locate package patch",
            "apt does not know the package patch; check its name",
        ),
        ("E: Package 'flex' has no installation candidate", "apt does not know the package flex; "),
        ("E: Could not get lock /var/lib/dpkg/lock-frontend", "another program holds apt's lock"),
        ("dpkg: error: No space left on device", "the disk is full"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED]", "this machine does not trust the certificate"),
        ("something else", "the end of the log says why"),
    ],
)
def test_packages_that_cannot_be_installed(here: Machine, said: str, means: str) -> None:
    here.replace("dpkg-query", SOME_UNKNOWN)
    here.replace("apt-get", f'echo "{said}"; exit 100')
    last = sentence(here.run("cellbed", "setup"))
    assert f"installing {' '.join(MISSING)} failed: {means}" in last
    log = Path(re.findall(r"\((/.*)\)$", last)[0])
    assert said in log.read_text()
    assert log in clean.ownerless(log.parent)
    log.unlink()


@pytest.mark.parametrize(
    ("command", "script", "says"),
    [
        (
            "uname",
            "echo Linux aarch64",
            "only the vm lab runs here: ./cellbed setup --vm",
        ),
        ("uname", "echo Darwin arm64", "Darwin arm64, but the labs need Linux on x86-64"),
        ("python3", "exit 1", "set-up needs Python 3.7 or newer as python3; install python3"),
        ("df", "echo head; echo x 99 87 12 88% /x", "12 MiB of free space, but set-up needs 3000"),
    ],
)
def test_an_unfit_machine(here: Machine, command: str, script: str, says: str) -> None:
    here.replace(command, script)
    done = here.run("cellbed", "setup")
    assert says in sentence(done)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("place", ["/proc/cellbed", "/dev/null/cellbed"])
def test_a_cache_that_cannot_be_written(here: Machine, place: str) -> None:
    done = here.run("cellbed", "setup", CELLBED_CACHE=place)
    assert (
        f"the cache {place} cannot be written; name another folder with CELLBED_CACHE"
        in sentence(done)
    )


def test_a_cache_must_be_an_absolute_path(here: Machine) -> None:
    done = here.run("cellbed", "flavors", CELLBED_CACHE="cache")
    assert "CELLBED_CACHE is cache, but must be an absolute path" in sentence(done)


NO_DEBIAN = ("dpkg-query", "apt-get")


def test_a_machine_that_is_no_debian(here: Machine) -> None:
    """Without apt nothing is installed, and all is made."""
    for name in NO_DEBIAN:
        here.replace(name, "")
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("ready")


def test_the_lab_of_another_processor(here: Machine) -> None:
    """Its products are made beside those of x86-64; a second set-up finds them."""
    here.recipe("lab/vm/build", 'mkdir "$1"')
    here.recipe("lab/vm/disk", 'touch "$2"')
    known = 'for name in "${@:4}"; do [ "$name" = qemu-system-arm ] || echo "$name installed"; done'
    here.replace("dpkg-query", known)
    done = here.run("cellbed", "setup", "--vm", "--arch", "arm64")
    assert done.returncode == 0, done.stderr
    assert " qemu-system-arm" in (here.cache.parent / "apt-get").read_text()
    made = {path.name.rpartition("-")[0] for path in here.cache.glob("arm64-*")}
    expected = {"arm64-cross", "arm64-image", "arm64-disk", "arm64-vm"}
    assert expected <= made and any(name.startswith("arm64-programs-") for name in made)
    again = here.run("cellbed", "setup", "--vm", "--arch", "arm64")
    assert again.stderr.splitlines()[-1].endswith("ready")
    assert "arm64 lab" not in again.stderr


def test_a_machine_with_that_processor(here: Machine) -> None:
    """It has what another machine made, and makes the environment."""
    here.replace("uname", "echo Linux aarch64")
    done = here.run("cellbed", "setup", "--vm")
    assert "which only a machine with x86-64 can make; run ./cellbed setup --vm --arch" in sentence(
        done
    )
    missing = re.findall(r"arm64-[a-z]+-[\w.-]+\w", done.stderr)
    assert len(missing) == 4
    for name in missing:
        (here.cache / name).touch()
    done = here.run("cellbed", "setup", "--vm")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("ready")
    assert not list(here.cache.glob("root-*"))


@pytest.mark.parametrize("option", ["--vm", "--native", "--test"])
def test_what_only_a_debian_has(here: Machine, option: str) -> None:
    here.replace("apt-get", "")
    assert f"set-up {option} needs a host with Debian 12 or 13" in sentence(
        here.run("cellbed", "setup", option)
    )


def test_a_machine_without_namespaces_is_told(here: Machine) -> None:
    here.recipe("lab/root/enter", "echo proot")
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    assert "set-up uses proot instead and takes longer" in done.stderr


def test_a_machine_on_which_proot_runs_nothing(here: Machine) -> None:
    here.recipe("lab/root/enter", '[ "$1" != --how ] || exec echo proot; echo no >&2; exit 1')
    done = here.run("cellbed", "setup")
    assert done.returncode == 3
    # The step beside it may end after it has been said.
    said = "\nlab/setup: proot cannot start a program of the build root: it needs pt"
    assert said in f"\n{done.stderr}"
    assert not list(here.cache.glob("kernel-*"))


def test_a_build_root_that_cannot_be_had(here: Machine) -> None:
    """No other step begins without it."""
    here.recipe("lab/root/build", "echo the connection: Connection refused; exit 3")
    done = here.run("cellbed", "setup")
    assert "build root failed: the network cannot be reached" in done.stderr
    assert "lab kernel" not in done.stderr and done.returncode == 3


def test_a_python_that_does_not_do_is_replaced(here: Machine) -> None:
    """As one that is too old, or lacks venv, by Debian's."""
    here.replace("python3", machine.FAKE_PYTHON.replace("|| echo 3.11", "|| exit 1"))
    here.recipe("lab/root/python", 'mkdir -p "$1/bin"; ln -s /bin/true "$1/bin/python"')
    done = here.run("cellbed", "setup")
    assert done.returncode == 0, done.stderr
    [made] = here.cache.glob("python-*")
    assert made.name.endswith("-debian") and (made / "complete").exists()


def test_an_environment_whose_packages_cannot_be_had_is_not_complete(here: Machine) -> None:
    pip = "echo Failed to establish a new connection; exit 1"
    here.replace("python3", machine.FAKE_PYTHON.replace(r"#!/bin/sh\n", rf"#!/bin/sh\n{pip}\n"))
    for _ in range(2):
        done = here.run("cellbed", "setup", "--environment")
        assert "Python environment failed: the network cannot be reached" in sentence(done)


def test_without_python_the_launcher_sets_up_first(here: Machine) -> None:
    python = (here.commands / "python3").read_text()
    here.replace("python3", "")
    here.replace("dpkg-query", SOME_UNKNOWN)
    here.replace("apt-get", f"cat > {here.commands}/python3 << 'E'\n{python}\nE\n"
                            f"chmod +x {here.commands}/python3")  # fmt: skip
    done = here.run("cellbed", "flavors")
    assert "installing" in done.stderr
    # The environment's Python is a stand-in: that the launcher got so far is the point.
    assert "3.11/bin/python" in done.stderr


@pytest.mark.parametrize("recipe", ["image", "kernel", "programs"])
def test_a_step_that_fails_is_named_and_ends_the_others(here: Machine, recipe: str) -> None:
    begun, ended = here.cache.parent / "begun", here.cache.parent / "ended"
    here.recipe("lab/image/build", f"touch {begun}; sleep 60; touch {ended}")
    here.recipe("lab/kernel/set-up", f"touch {begun}; sleep 60; touch {ended}")
    if recipe == "programs":
        here.recipe("lab/image/build", 'touch "$1"')
        here.recipe("lab/programs/tools", "echo ld: No space left on device; exit 1")
    else:
        wait = f"until [ -e {begun} ]; do sleep 0.01; done"
        made_by = {"image": "lab/image/build", "kernel": "lab/kernel/set-up"}[recipe]
        here.recipe(made_by, f"{wait}; echo ld: No space left on device; exit 1")
    start = time.monotonic()
    done = here.run("cellbed", "setup")
    name = {"programs": "lab tools"}.get(recipe, f"lab {recipe}")
    assert f"{name} failed: the disk is full" in done.stderr
    assert done.returncode == 3
    assert time.monotonic() - start < 30
    assert not processes_of(here) and not ended.exists()


def processes_of(here: Machine) -> list[str]:
    """Command lines of the processes that still work in a machine's folder, after a moment."""
    found: list[str] = []
    for _ in range(100):
        found = [text for pid in os.listdir("/proc") if pid.isdigit()
                 if str(here.project) in (text := _command_line(pid))]  # fmt: skip
        if not found:
            break
        time.sleep(0.05)
    return found


def _command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def test_a_killed_set_up_holds_its_lock_until_its_steps_end(here: Machine) -> None:
    """The line that says it is still building must not hold it for longer."""
    begun, go = here.cache.parent / "begun", here.cache.parent / "go"
    here.recipe("lab/kernel/set-up", f"touch {begun}; until [ -e {go} ]; do sleep 0.1; done")
    running = subprocess.Popen(  # type: ignore[call-overload]
        **here.argv_of("lab/setup"), stderr=subprocess.DEVNULL
    )
    while not begun.exists():
        time.sleep(0.02)
    running.kill()
    running.wait(timeout=20)
    with (here.cache / "lock").open() as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        go.touch()
        done = subprocess.run(["flock", "-w", "30", here.cache / "lock", "true"], check=False)
        assert done.returncode == 0


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted(here: Machine, which: signal.Signals) -> None:
    begun = here.cache.parent / "begun"
    here.recipe("lab/kernel/set-up", f"touch {begun}; sleep 60")
    argv = here.argv_of("lab/setup")
    running = subprocess.Popen(  # type: ignore[call-overload]
        **argv, stderr=subprocess.PIPE, text=True,
        # In the background, or below nohup, it is ignored, and bash keeps that so.
        preexec_fn=lambda: signal.signal(which, signal.SIG_DFL),
    )  # fmt: skip
    while not begun.exists():
        time.sleep(0.02)
    running.send_signal(which)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "set-up was interrupted; run it again" in said
    assert not processes_of(here)


def scripts() -> list[str]:
    listed = subprocess.run(
        ["git", "grep", "-lE", r"^#!(/usr/bin/env bash|/bin/sh)$"],
        cwd=PROJECT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = set(listed.stdout.split()) - REPORTING
    return sorted(name for name in found if not name.startswith(IN_THE_IMAGE))


# These report a status of their own to whoever started them in a lab, or are one line.
REPORTING = {"tests/labs/fresh_debian_inside", "tests/labs/native_in_vm",
             "tests/labs/stress_in_vm", ".ci/run",
             "lab/kernel/cc", "lab/mininet/controller",
             "lab/mininet/ovs-command",
             # Of an artifact, which has lab/strict in another place: tests/fresh/test_bundle.py.
             "lab/release/bundle/repeat"}  # fmt: skip
IN_THE_IMAGE = "lab/mininet/files/"  # commands of the lab, where there is no lab/strict
BASH = re.compile(r"^\. .*/strict\"?$", re.M)
DASH = re.compile(r"^trap .*status.* EXIT$", re.M)


@pytest.mark.parametrize("script", scripts())
def test_an_unexpected_failure_names_the_script(here: Machine, script: str) -> None:
    """In each script, a command that fails where nobody expects it: bash's say the line too."""
    path = here.project / script
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (PROJECT / script).read_text()
    bash = text.startswith("#!/usr/bin/env bash")
    mark = (BASH if bash else DASH).search(text)
    assert mark, "neither sources lab/strict nor tells of its end"
    begin = text[: mark.end()]
    path.write_text(f"{begin}\n(exit 7)\n")
    shell = "bash" if bash else "sh"
    done = subprocess.run([shell, path], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 7
    said = done.stdout + done.stderr
    assert path.name in said and "status 7" in said
    assert not bash or f"line {begin.count(chr(10)) + 2}: " in said
