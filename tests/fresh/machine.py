# SPDX-License-Identifier: GPL-2.0-only
"""A copy of the project's set-up on a machine of stand-ins: commands that are missing or fake."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.small import PROJECT

# All that lab/setup, lab/paths and the launcher read.
PARTS = ("lab", "topology", "bpf", "workload", "tcp-configs", "cellbed", "pyproject.toml")
SYSTEM = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
COMPLETE = 'mkdir -p "$2" && touch "$2/complete"'


@dataclass
class Machine:
    """`project` is the copy, `commands` the only folder in PATH, `cache` what set-up fills."""

    project: Path
    commands: Path
    cache: Path

    def replace(self, name: str, script: str) -> None:
        """Let a command be a script; "" takes it away."""
        path = self.commands / name
        path.unlink(missing_ok=True)
        if script:
            path.write_text(f"#!/bin/bash\n{script}\n")
            path.chmod(0o755)

    def recipe(self, path: str, script: str) -> None:
        """Let a recipe of the copy be a script."""
        (self.project / path).write_text(f"#!/bin/bash\n{script}\n")

    def argv_of(self, *words: str) -> dict[str, object]:
        """Arguments of subprocess for a command line in the copy."""
        environment = {"PATH": str(self.commands), "CELLBED_CACHE": str(self.cache), "LC_ALL": "C"}
        return {
            "args": [str(self.project / words[0]), *words[1:]],
            "env": {**environment, "HOME": str(self.cache)},
            "stdin": subprocess.DEVNULL,
        }

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command line in the copy, with more in its environment."""
        argv = self.argv_of(*words)
        argv["env"] = {**_mapping(argv["env"]), **more}
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            **argv, capture_output=True, text=True, timeout=60, check=False
        )


def _mapping(value: object) -> Mapping[str, str]:
    assert isinstance(value, Mapping)
    return value


def make(folder: Path) -> Machine:
    """The machine that has all: every package is there, every recipe makes its product at once."""
    made = Machine(folder / "project", folder / "commands", folder / "cache")
    made.project.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (PROJECT / part).is_dir() else shutil.copy2
        copy(PROJECT / part, made.project / part)
    made.commands.mkdir()
    for system in SYSTEM:
        for name in os.listdir(system):
            link = made.commands / name
            if not link.is_symlink():
                link.symlink_to(f"{system}/{name}")
    made.replace("dpkg-query", 'for name in "${@:4}"; do echo "$name installed"; done')
    made.replace("apt-get", f'echo "$@" >> {folder}/apt-get')
    made.replace("id", "echo 0")
    made.replace("sudo", "")
    made.recipe("lab/root/build", 'mkdir "$1"')
    made.recipe("lab/root/enter", "echo namespaces")
    made.recipe("lab/image/build", 'touch "$1"')
    made.recipe("lab/kernel/set-up", 'mkdir -p "$1" && touch "$1/complete"')
    made.recipe("lab/programs/tools", 'mkdir "$2"')
    made.recipe("lab/programs/build", 'mkdir "$3"')
    made.recipe("lab/arm64/cross", 'mkdir "$1"')
    made.recipe("lab/arm64/image", 'touch "$2"')
    made.recipe("lab/arm64/vm", 'mkdir "$2" && touch "$2/complete"')
    made.recipe("lab/arm64/programs", 'mkdir "$4"')
    made.replace("python3", FAKE_PYTHON)
    return made


# `python3 -Im venv FOLDER` gives a Python whose pip does nothing, and that is fit for nothing else;
# -Ic and -ISc are asked for the version only, and 3.11 is the newest of those they are asked about.
FAKE_PYTHON = r"""
case $1 in
-Ic | -ISc) [[ $2 != *print* ]] || echo 3.11 ;;
-Im)
	mkdir -p "$3/bin"
	printf '#!/bin/sh\n' > "$3/bin/python"
	echo '[ "$2" = pip ] || { echo "$0: a stand-in" >&2; exit 127; }' >> "$3/bin/python"
	chmod +x "$3/bin/python"
	;;
-V) echo Python 3.9.2 ;;
esac
"""
