# SPDX-License-Identifier: GPL-2.0-only
"""lab/cluster/array: a task of a job array runs its shard, whatever the scheduler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.small import PROJECT

SUBMITTED = ("SLURM_SUBMIT_DIR", "PBS_O_WORKDIR", "SGE_O_WORKDIR", "LS_SUBCWD")
TASKS = ("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "LSB_JOBINDEX")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose command only says how it was called."""
    made = tmp_path / "project"
    (made / "lab").mkdir(parents=True)
    (made / "lab/strict").write_text((PROJECT / "lab/strict").read_text())
    (made / "cellbed").write_text('#!/bin/sh\necho "$PWD" "$@"\n')
    (made / "cellbed").chmod(0o755)
    return made


def task(
    project: Path, *words: str, begins: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A task, from a copy of the script as a scheduler makes one."""
    copy = project.parent / "job"
    copy.write_bytes((PROJECT / "lab/cluster/array").read_bytes())
    return subprocess.run(
        ["bash", str(copy), *words], cwd=begins or project, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", **environment}, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_a_task_runs_its_shard(project: Path, name: str) -> None:
    done = task(project, "100", "big.toml", "--seeds", "3", **{name: "7"})
    assert done.stdout == f"{project} run big.toml --shard 7/100 --jobs 1 --seeds 3\n", done.stderr


@pytest.mark.parametrize("name", SUBMITTED)
def test_a_task_begins_where_it_was_submitted(project: Path, name: str) -> None:
    where = {"begins": project.parent, name: str(project)}
    done = task(project, "2", "big.toml", SLURM_ARRAY_TASK_ID="1", **where)  # type: ignore[arg-type]
    assert done.stdout.startswith(f"{project} run"), done.stderr


@pytest.mark.parametrize("number", ["", "undefined", "0"])
def test_a_job_that_is_no_array(project: Path, number: str) -> None:
    done = task(project, "2", "big.toml", SGE_TASK_ID=number)
    assert done.returncode == 2 and "submit it as a job array" in done.stderr


def test_a_task_without_an_experiment(project: Path) -> None:
    done = task(project, "big.toml", SLURM_ARRAY_TASK_ID="1")
    assert done.returncode == 2 and "the experiment is missing" in done.stderr
