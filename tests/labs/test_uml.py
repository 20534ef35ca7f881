# SPDX-License-Identifier: GPL-2.0-only
"""The uml lab always ends, with one clear error when it did not do its work."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.host import paths
from harness.labs import LabSpec, UmlLab
from harness.labs.supervised import process_table
from harness.labs.uml import MOST_AREAS
from plan.errors import LabError
from tests.small import PROJECT

pytestmark = pytest.mark.lab

OFF = "exec python3 -B -m harness.agent.power_off"


def lab_processes(folder: Path) -> list[int]:
    """Processes that work in a lab's folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            inside = (entry / "cwd").readlink() == folder.resolve()
            if inside and (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def run_lab(folder: Path, main: str, **spec: object) -> str:
    with UmlLab(LabSpec(pairs=1, main=main, **spec), folder) as lab:  # type: ignore[arg-type]
        for _ in lab.events():
            pass
        return lab.console()


def test_a_lab_that_powers_off_ends_well(tmp_path: Path) -> None:
    said = run_lab(tmp_path, f"cd /cellbed && uname -r && {OFF}")
    assert "6.12" in said
    assert not lab_processes(tmp_path)


def test_the_kernel_holds_nothing_of_the_machine_that_built_it() -> None:
    """It keeps its configuration, where Kconfig notes what compiler of Rust it found."""
    configuration = (paths.kernel().parent / "build" / ".config").read_text()
    assert "CONFIG_RUSTC_VERSION=0\n" in configuration
    assert "CONFIG_PAHOLE_VERSION=0\n" in configuration


def test_virtual_time_is_faster_than_real(tmp_path: Path) -> None:
    begin = time.monotonic()
    said = run_lab(tmp_path, f"cd /cellbed && sleep 3600 && cat /proc/uptime && {OFF}")
    assert time.monotonic() - begin < 60
    assert any(
        line.split(".")[0].isdigit() and float(line.split()[0]) >= 3600
        for line in said.splitlines()
        if line[:1].isdigit()
    )


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    draw = f"cd /cellbed && head -c 16 /dev/urandom | od -An -tx1 && {OFF}"
    said = []
    for number, seed in enumerate((5, 5, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        said.append([x for x in run_lab(folder, draw, seed=seed).splitlines() if x[:1] == " "][0])
    assert said[0] == said[1] != said[2]


def test_a_panic_is_one_error_with_the_console(tmp_path: Path) -> None:
    said = r"ended with status \d+: its kernel said Kernel panic - not syncing: Attempted to kill"
    with pytest.raises(LabError, match=said) as caught:
        run_lab(tmp_path, "exit 3")
    assert "panic" in caught.value.console
    assert not lab_processes(tmp_path)


SPINS = {
    "on nothing": "while :; do :; done",
    "on the clock": "python3 -c 'import time\nwhile time.clock_gettime(1) < 1e9: pass'",
    "on the clock, asleep": "while :; do sleep 0.01; done",
}


@pytest.mark.parametrize("spins", SPINS)
def test_a_lab_that_spins_ends(tmp_path: Path, spins: str) -> None:
    """Its clock stands still, or creeps, or rushes ahead; the lab is computing all the time."""
    with pytest.raises(LabError, match=r"computed for \d+ s and said nothing: hung"):
        run_lab(tmp_path, SPINS[spins], hang_cpu_s=1.0)
    assert not lab_processes(tmp_path)


def test_a_lab_that_waits_for_ever_ends(tmp_path: Path) -> None:
    """Nothing in it has anything to do, and nothing ever will.

    On the real clock: in virtual time an idle kernel goes from one of its own timers to the
    next without end, which is computing.
    """
    with pytest.raises(LabError, match="neither computed nor said anything for .* s: hung"):
        run_lab(tmp_path, "exec sleep infinity", hang_idle_s=3.0, clock="real")
    assert not lab_processes(tmp_path)


def test_a_lab_that_is_killed_is_told(tmp_path: Path) -> None:
    with UmlLab(LabSpec(pairs=1, main="while :; do :; done"), tmp_path) as lab:
        time.sleep(1)
        kernel = [p for p in lab_processes(tmp_path) if is_kernel(p)]
        os.kill(kernel[0], signal.SIGKILL)
        with pytest.raises(LabError, match="ended with status"):
            for _ in lab.events():
                pass
    assert not lab_processes(tmp_path)


# Whether it ran or waited, its kernel finds out in another function.
GONE = r"a process of the lab was killed \((userspace|set_registers|run_program|stop_in_call) - "


def test_a_process_that_is_killed_in_a_lab_spoils_it(tmp_path: Path) -> None:
    """The lab's kernel takes it for a fault of its program, and goes on."""
    say = """echo '{"event": "on"}' >> /run/cellbed/events.jsonl"""
    main = f"(while :; do :; done) & echo ready; while :; do {say}; done"
    # With time that stands still while one computes the other would never have its turn.
    with UmlLab(LabSpec(pairs=1, main=main, clock="real"), tmp_path) as lab:
        wait_for_console(tmp_path, "ready")
        spinning = max(wait_for_processes(tmp_path, 5, 5))
        os.kill(spinning, signal.SIGKILL)
        with pytest.raises(LabError, match=GONE):
            list(itertools.islice(lab.events(), 100_000))


def test_so_does_one_in_virtual_time(tmp_path: Path) -> None:
    """It waits within its call, of which a listener told the kernel."""
    with UmlLab(LabSpec(pairs=1, main="echo ready; while :; do umask; done"), tmp_path) as lab:
        wait_for_console(tmp_path, "ready")
        os.kill(max(wait_for_processes(tmp_path, 4, 4)), signal.SIGKILL)
        with pytest.raises(LabError, match=GONE):
            list(lab.events(until=time.monotonic() + 30))


def test_so_does_one_in_a_lab_that_says_nothing(tmp_path: Path) -> None:
    """Who waits for it waits for ever; that costs processor time and nothing is heard of it."""
    main = "echo ready; while :; do :; done"
    with UmlLab(LabSpec(pairs=1, main=main, clock="real"), tmp_path) as lab:
        wait_for_console(tmp_path, "ready")
        os.kill(max(wait_for_processes(tmp_path, 4, 4)), signal.SIGKILL)
        with pytest.raises(LabError, match=GONE):
            list(lab.events(until=time.monotonic() + 30))


AREAS = """
import mmap
memory = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range({most}):
    memory[page * 2 * mmap.PAGESIZE] = 1
"""


def test_a_program_with_too_many_areas_of_memory_is_told_with_the_remedy(tmp_path: Path) -> None:
    most = MOST_AREAS.read_text().strip()
    if int(most) > 100_000:
        pytest.skip("this machine allows more areas than a test needs to have")
    (tmp_path / "areas.py").write_text(AREAS.format(most=most))
    told = rf"more than {most} areas of memory: sysctl -w vm.max_map_count={4 * int(most)} "
    with pytest.raises(LabError, match=told):
        run_lab(tmp_path, f"python3 -B /run/cellbed/areas.py; cd /cellbed && {OFF}")


def is_kernel(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/linux")


BUSY = "sleep 1000 & echo ready; while :; do :; done"
OWNER = (
    "import sys, time; from pathlib import Path; from harness.labs import LabSpec, UmlLab\n"
    f"with UmlLab(LabSpec(pairs=1, main='{BUSY}'), Path(sys.argv[1])):\n"
    "    print('up', flush=True); time.sleep(300)"
)
VICTIMS = ["owner", "supervisor", "kernel", "owner and supervisor", "all but the kernel", "all"]


def wait_for_processes(folder: Path, least: int, most: int) -> list[int]:
    """Wait until so many processes work in a lab's folder."""
    end = time.monotonic() + 20
    while not least <= len(found := lab_processes(folder)) <= most:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def wait_for_console(folder: Path, words: str) -> None:
    """Wait until a lab has said something."""
    end = time.monotonic() + 60
    while words not in (folder / "console.log").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("killed", VICTIMS)
def test_kill_9_ends_the_whole_lab(tmp_path: Path, killed: str) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)],
        cwd=PROJECT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    try:
        assert owner.stdout is not None and owner.stdout.readline() == b"up\n"
        wait_for_console(folder, "ready")
        # Supervisor, the first process of its boundary, kernel, and two of its user processes.
        inside = wait_for_processes(folder, 5, 5)
        below = {parent: pid for pid, parent, _ in process_table() if pid in inside}
        supervisor = below[owner.pid]
        first = below[supervisor]
        assert Path(f"/proc/{first}/cmdline").read_bytes().startswith(b"host/programs/first\0")
        kernel = below[first]
        assert is_kernel(kernel)
        victims = {
            "owner": [owner.pid],
            "supervisor": [supervisor],
            "kernel": [kernel],
            "owner and supervisor": [owner.pid, supervisor],
            "all but the kernel": [owner.pid, *(p for p in inside if p != kernel)],
            "all": [owner.pid, *inside],
        }[killed]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):  # one before took it along
                os.kill(pid, signal.SIGKILL)
        wait_for_processes(folder, 0, 0)
    finally:
        owner.kill()
        owner.wait()
        for pid in lab_processes(folder):
            os.kill(pid, signal.SIGKILL)


def test_a_lab_keeps_to_one_core(tmp_path: Path) -> None:
    with UmlLab(LabSpec(pairs=1, main=BUSY), tmp_path):
        wait_for_console(tmp_path, "ready")
        cores = [os.sched_getaffinity(pid) for pid in wait_for_processes(tmp_path, 5, 5)]
    assert all(cores[0] == others for others in cores) and len(cores[0]) == 1
