# SPDX-License-Identifier: GPL-2.0-only
"""A program in the lab sees the same, whether seccomp or ptrace tells the kernel of its calls."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from harness.labs import LabSpec, UmlLab
from tests.labs.test_uml import OFF, lab_processes
from tests.small import PROJECT

pytestmark = pytest.mark.lab

STOPS = Path(__file__).with_name("stops")
KINDS = STOPS / "kinds.c"
BY_INSTRUCTION = PROJECT / "lab/kernel/patches/0026-um-faults-by-instruction.patch"
# What a native kernel of x86-64 gives, too; of sums of threads the rounding is each thread's own.
LINES = {
    "registers: 1 0 0 0 -9 -38 -38",
    "thread 0: 6.2793305469660616 1024",
    "thread 1: 3.1396652734831539 2048",
    "thread 2: 2.0931101823220199 1024",
    "thread 3: 1.569832636741577 2048",
    "signals: 1 1 1",
    "memory: 7 2016 0 1412",
    "accesses: 11 11 11 11 10 10 10 10 10 10 10 11 10",
    "processes: 5 9",
    "end",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("stops") / "kinds"
    argv = ["gcc", "-static", "-O1", "-mno-red-zone", "-Wall", "-Werror", "-o", built, KINDS]
    subprocess.run([*argv, "-lpthread", "-lm"], check=True, timeout=300)
    return built


def filters(folder: Path) -> set[int]:
    """How many filters of seccomp the processes of a lab have."""
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in lab_processes(folder)]
    return {int(text.split("Seccomp_filters:")[1].split()[0]) for text in texts}


def run(folder: Path, program: Path) -> tuple[list[str], int]:
    """The program's lines, and how many numbers of filters there are among the lab's processes."""
    (folder / "kinds").write_bytes(program.read_bytes())
    (folder / "kinds").chmod(0o755)
    main = f"cd /run/cellbed && ./kinds > results/lines; echo done; read word; cd /cellbed && {OFF}"
    with UmlLab(LabSpec(pairs=1, main=main), folder) as lab:
        while "done" not in lab.console():
            assert lab.poll() is None, lab.console()
            time.sleep(0.02)
        kinds = filters(folder)
    return (folder / "results" / "lines").read_text().splitlines(), len(kinds)


def test_what_a_program_sees(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for word in ("", "off"):
        folder = tmp_path / f"seccomp-{word}"
        folder.mkdir()
        monkeypatch.setenv("CELLBED_SECCOMP", word)
        found[word] = run(folder, program)
    (told, more), (stopped, as_many) = found[""], found["off"]
    assert sorted(told) == sorted(stopped)
    assert set(told) >= LINES
    # A jump into the code of the kernel that is in each process ends the program.
    assert {"jumps: -11 -5", "jumps: not found"} & set(told)
    assert more == as_many + 1  # its programs have a filter more than the kernel itself


def added(patch: str, name: str) -> str:
    """A file that a patch adds, with its includes from the same folder."""
    _, found, rest = patch.partition(f"/{name}\n@@ -0,0 ")
    assert found
    lines = rest.split("\n--- ")[0].splitlines()[1:]
    return "\n".join(line[1:] for line in lines).replace("<sysdep/instruction.h>", f'"{HEADER}"')


HEADER = "instruction.h"


def test_the_processor_agrees_on_what_an_instruction_writes(tmp_path: Path) -> None:
    patch = BY_INSTRUCTION.read_text()
    for name in (HEADER, "instruction.c"):
        (tmp_path / name).write_text(added(patch, name) + "\n")
    program = tmp_path / "instructions"
    argv = ["gcc", "-no-pie", "-O1", "-Wall", "-Werror", f"-I{tmp_path}", "-o", program]
    subprocess.run([*argv, STOPS / "instructions.c"], check=True, timeout=300)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and "WRONG" not in done.stdout, done.stdout
    # A processor without AVX knows a tenth fewer.
    assert done.stdout.count("writes, 1") > 100 and done.stdout.count("reads, 0") > 35
