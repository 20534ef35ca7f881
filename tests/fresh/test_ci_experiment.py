# SPDX-License-Identifier: GPL-2.0-only
"""lab/ci/experiment/run: a release that is downloaded once, and the table of an experiment."""

from __future__ import annotations

import http.server
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from harness.host import paths
from harness.records.seal import checksum
from tests.fresh.releases import named_release
from tests.small import PROJECT, write_tiny

ACTION = PROJECT / "lab/ci/experiment/action.yml"
NO_SUM = "0" * 64


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with the names of this machine's products. set-up finds these in the cache."""
    return named_release(tmp_path_factory.mktemp("release"))


def run(
    folder: Path,
    release: Path | str,
    *options: str,
    out: str = "out",
    experiment: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the script as a step of a job, in the user's checkout."""
    script = PROJECT / "lab/ci/experiment/run"
    argv = [script, str(release), experiment or str(write_tiny(folder)), out, *options]
    cache = str(paths.places()["cache"])
    told = {"PATH": os.environ["PATH"], "HOME": str(folder), "CELLBED_CACHE": cache}
    return subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=600, check=False,
        env={**told, "RELEASE_KEPT": str(folder / "kept"), **environment},
    )  # fmt: skip


@pytest.mark.lab
def test_it_downloads_once_and_writes_a_table(release: Path, tmp_path: Path) -> None:
    copy = tmp_path / "a.tar"
    copy.write_bytes(release.read_bytes())
    page = tmp_path / "page.md"
    for out in ("out", "again"):
        done = run(tmp_path, copy.as_uri(), "--jobs", "1", out=out,
                   RELEASE_SHA256=checksum(release), GITHUB_STEP_SUMMARY=str(page))  # fmt: skip
        assert done.returncode == 0, done.stderr
        summary = (tmp_path / out / "summary.md").read_text()
        assert summary.startswith("## cellbed: tiny.toml\n\n```\n") and " ok" in summary
        assert done.stdout.strip() in summary
        assert page.read_text().endswith(summary)
        copy.unlink(missing_ok=True)
        assert sorted(os.listdir(tmp_path / out)) == ["campaign", "summary.md"]
        assert len(list((tmp_path / out / "campaign" / "trials").iterdir())) == 1
    assert os.listdir(tmp_path / "kept") == [f"{checksum(release)}.tar"]


def test_another_file_is_refused_and_not_kept(release: Path, tmp_path: Path) -> None:
    done = run(tmp_path, release.as_uri(), RELEASE_SHA256=NO_SUM)
    assert done.returncode == 3
    assert f"checksum {checksum(release)}, and not {NO_SUM}" in done.stderr
    assert os.listdir(tmp_path / "kept") == [] and not (tmp_path / "out").exists()


def test_another_version_is_downloaded_beside_the_kept_one(release: Path, tmp_path: Path) -> None:
    old = tmp_path / "kept" / f"{NO_SUM}.tar"
    old.parent.mkdir()
    old.write_text("old")
    done = run(tmp_path, release.as_uri(), "--only", "x=y", RELEASE_SHA256=checksum(release))
    assert done.returncode == 2, done.stderr  # of ./cellbed run
    assert sorted(os.listdir(old.parent)) == sorted([old.name, f"{checksum(release)}.tar"])


@pytest.mark.parametrize("given", [{}, {"RELEASE_SHA256": ""}, {"RELEASE_SHA256": "../x"}])
def test_an_address_needs_a_checksum(release: Path, tmp_path: Path, given: dict[str, str]) -> None:
    done = run(tmp_path, release.as_uri(), **given)
    assert done.returncode == 3 and "an address needs RELEASE_SHA256" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_an_address_that_has_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, (tmp_path / "absent.tar").as_uri(), RELEASE_SHA256=NO_SUM)
    assert done.returncode == 3 and "absent.tar cannot be downloaded: " in done.stderr
    assert os.listdir(tmp_path / "kept") == []


@pytest.fixture
def server() -> Iterator[str]:
    """A server on the loopback that has nothing; its host and port."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as opened:
        served = threading.Thread(target=opened.serve_forever)
        served.start()
        yield f"127.0.0.1:{opened.server_port}"
        opened.shutdown()
        served.join()


@pytest.mark.parametrize(
    "address",
    [
        "http://HOST/a.tar?key=secret",
        "http://me:secret@HOST/a.tar",
        "http://HOST/a.tar?key=se cret",
        "http://[/a.tar?secret",
        "other://me:secret@HOST/a.tar#secret",
    ],
)
def test_the_log_has_no_secret_of_an_address(server: str, tmp_path: Path, address: str) -> None:
    done = run(tmp_path, address.replace("HOST", server), RELEASE_SHA256=NO_SUM)
    assert done.returncode == 3 and "cannot be downloaded: " in done.stderr
    assert "cret" not in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_a_folder_that_a_change_brings_is_refused(release: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "out").mkdir()
    for name in ("table.txt", "summary.md"):
        (tmp_path / "out" / name).symlink_to(victim)
    (tmp_path / "nowhere").symlink_to("absent")
    for out in ("out", "nowhere"):
        done = run(tmp_path, release, out=out)
        assert done.returncode == 3 and f"{out} exists; name a new folder" in done.stderr
    assert victim.read_text() == "mine" and not (tmp_path / "absent").exists()


@pytest.mark.parametrize("name", ["--help", "a\n# b.toml"])
def test_a_name_that_no_experiment_has(release: Path, tmp_path: Path, name: str) -> None:
    done = run(tmp_path, release, experiment=name)
    assert done.returncode == 3 and "give the file another name" in done.stderr


def test_a_run_that_fails_ends_with_its_status(release: Path, tmp_path: Path) -> None:
    done = run(tmp_path, release, "--only", "flavor=absent")
    assert done.returncode == 2, done.stderr
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "The command ended with status 2. Its log says why." in summary


def commands(text: str) -> list[str]:
    """The whole text behind each `run:`; that goes on where lines are indented further."""
    lines = text.splitlines()
    found = []
    for at, line in enumerate(lines):
        if key := re.match(r"( *(?:- +)?)run:", line):
            further = f"{' ' * len(key[1])} "
            below = takewhile(lambda x: not x.strip() or x.startswith(further), lines[at + 1 :])  # noqa: B023
            found.append("\n".join([line[key.end() :], *below]))
    assert len(found) == text.count("run:"), "a command that is written in another way"
    return found


def test_no_input_of_the_action_is_part_of_a_command() -> None:
    """Else an experiment's name could be a command."""
    found = commands(ACTION.read_text())
    assert found and not [command for command in found if "${{" in command]


@pytest.mark.parametrize(
    "step",
    [
        "run: echo ${{ inputs.x }}",
        "run: |\n        echo\n\n        echo ${{ inputs.x }}\n      env: {}",
        "shell: bash\n      run: 'echo\n        ${{ inputs.x }}'",
    ],
)
def test_a_command_with_an_input_is_found(step: str) -> None:
    assert ["${{" in command for command in commands(f"  steps:\n    - {step}\n")] == [True]


def test_an_option_is_not_taken_for_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "x=1").touch()
    script = tmp_path / "run"
    script.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
    script.chmod(0o755)
    [command] = commands(ACTION.read_text())
    told = {"GITHUB_ACTION_PATH": str(tmp_path), "RELEASE": "a b", "EXPERIMENT": "b.toml",
            "OUT": "out", "OPTIONS": "--only x=*", "PATH": os.environ["PATH"]}  # fmt: skip
    said = subprocess.run(
        ["bash", "-c", command.strip().strip("'")], cwd=tmp_path, env=told, timeout=60,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "a b|b.toml|out|--only|x=*|"


@pytest.mark.parametrize("name", ["lab/ci/experiment/run", "lab/ci/check-kernel"])
def test_a_script_finds_its_project_whatever_cdpath_says(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    told = {"PATH": os.environ["PATH"], "CDPATH": str(tmp_path)}
    done = subprocess.run(
        [name], cwd=PROJECT, env=told, timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode in (2, 3) and "lab/strict" not in done.stderr, done.stderr
