# SPDX-License-Identifier: GPL-2.0-only
"""A kind of workload brings its C programs by its folder alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.small import PROJECT

MAKEFILE = "PROGRAMS = extra\nextra = extra word\ninclude ../../common/programs.mk\n"
MAIN = '#include "../../common/fail.h"\nconst char *word(void);\nint main(void) { puts(word()); }\n'
WORD = 'const char *word(void) { return "built"; }\n'


def place_of_programs(project: Path) -> str:
    """Where set-up keeps them, by the content of all that it reads."""
    said = subprocess.run(
        [project / "lab/paths"], capture_output=True, text=True, check=True
    ).stdout
    return next(line for line in said.splitlines() if line.startswith("programs="))


def test_what_lies_in_its_programs_is_built_and_set_up_sees_it(
    compiler: str, tmp_path: Path
) -> None:
    for folder in ("workload", "lab", "topology", "bpf", "tcp-configs"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    before = place_of_programs(tmp_path)
    own = tmp_path / "workload" / "extra" / "programs"
    own.mkdir(parents=True)
    for name, text in (("Makefile", MAKEFILE), ("extra.c", MAIN), ("word.c", WORD)):
        (own / name).write_text(text)
    made = tmp_path / "made"
    argv = ["make", "-s", "-C", str(tmp_path / "workload"), f"OUT={made}", f"CC={compiler}"]
    subprocess.run(argv, check=True)
    assert subprocess.run([made / "extra"], capture_output=True, text=True).stdout == "built\n"
    assert {"www_client", "packmime_client", "packmime_server"} <= {p.name for p in made.iterdir()}
    assert place_of_programs(tmp_path) != before
