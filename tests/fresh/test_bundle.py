# SPDX-License-Identifier: GPL-2.0-only
"""`bundle`: from its archive alone, in an empty folder, a trial is repeated and compared."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from harness.api import bundle as bundles
from harness.api.experiment import Experiment, execute
from harness.host import paths
from harness.records.seal import checksum
from plan.errors import MissingError, UsageError
from tests.fresh.releases import named_release
from tests.small import PROJECT, TINY

CITATION = PROJECT / "CITATION.cff"
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials."""
    folder = tmp_path_factory.mktemp("campaign") / "tiny"
    execute(Experiment.from_text(TINY).prepare(folder, seeds=2, jobs=1), progress=False)
    return folder


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with the names of this machine's products. set-up finds these in the cache."""
    return named_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def made(campaign: Path, release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of both."""
    return bundles.bundle(campaign, release, CITATION, tmp_path_factory.mktemp("bundle"))


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [top] = folder.iterdir()
    return top


def repeat(top: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script of an unpacked bundle, with the products of this machine."""
    return subprocess.run(
        [top / "repeat", *words], capture_output=True, text=True, timeout=600, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(top), "CELLBED_CACHE": str(cache())},
    )  # fmt: skip


def cache() -> Path:
    return paths.places()["cache"]


def sealed_again(record: Path, name: str) -> None:
    """Let the checksums of a record fit a file that was changed."""
    sums = record / "SHA256SUMS"
    lines = [line for line in sums.read_text().splitlines() if not line.endswith(f"  {name}")]
    sums.write_text("\n".join([*lines, f"{checksum(record / name)}  {name}"]) + "\n")


def seal(top: Path) -> None:
    """The same for the checksums of a bundle."""
    names = [path.relative_to(top) for path in top.rglob("*") if path.is_file()]
    lines = [f"{checksum(top / name)}  {name}\n" for name in names if str(name) != "SHA256SUMS"]
    (top / "SHA256SUMS").write_text("".join(lines))


def test_a_trial_is_repeated_in_an_empty_folder(made: Path, tmp_path: Path) -> None:
    top = unpacked(made, tmp_path)
    assert {path.name for path in top.iterdir()} == {
        "CITATION.cff", "LICENSE", "README.md", "SHA256SUMS", "campaign", "cellbed",
        "experiment.toml", "parameters", "release", "repeat",
    }  # fmt: skip
    done = repeat(top)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(
        "1 of 2 trials were repeated. Their records have the same bytes as the kept records.\n"
    )
    done = repeat(top, "1/1")
    assert done.returncode == 0, done.stderr
    assert "\n2 of 2 trials were repeated. " in done.stdout


def test_a_changed_file_is_refused(made: Path, tmp_path: Path) -> None:
    top = unpacked(made, tmp_path)
    with (top / "experiment.toml").open("a") as stream:
        stream.write("# changed\n")
    done = repeat(top)
    assert done.returncode == 3 and "a file of this artifact was changed" in done.stderr


def test_a_record_that_the_trial_does_not_give_is_named(made: Path, tmp_path: Path) -> None:
    """All checksums fit: only running the trial tells."""
    top = unpacked(made, tmp_path)
    for record in (top / "campaign" / "trials").iterdir():
        with (record / "flows.csv").open("a") as stream:
            stream.write("9,1\n")
        sealed_again(record, "flows.csv")
    seal(top)
    done = repeat(top)
    assert done.returncode == 3, done.stdout
    assert "differs from the kept record in: flows.csv" in done.stderr


def test_it_has_the_same_bytes_each_time(
    made: Path, campaign: Path, release: Path, tmp_path: Path
) -> None:
    again = shutil.copytree(campaign, tmp_path / "tiny")  # with other times and another name
    (again / "events.jsonl").unlink()
    other = bundles.bundle(again, release, CITATION, tmp_path)
    assert other.read_bytes() == made.read_bytes()


def test_a_campaign_without_all_records(campaign: Path, release: Path, tmp_path: Path) -> None:
    part = shutil.copytree(campaign, tmp_path / "tiny")
    [first, _] = sorted((part / "trials").iterdir())
    shutil.rmtree(first)
    with pytest.raises(UsageError, match=f"has no record of {first.name}; run the whole"):
        bundles.bundle(part, release, CITATION, tmp_path)
    assert not list(tmp_path.glob("*.tar")) and not list(tmp_path.glob("*.partial"))


def test_a_record_that_was_changed(campaign: Path, release: Path, tmp_path: Path) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    [first, _] = sorted((other / "trials").iterdir())
    with (first / "flows.csv").open("a") as stream:
        stream.write("9,1\n")
    with pytest.raises(UsageError, match=f"{first.name} changed since the trial"):
        bundles.bundle(other, release, CITATION, tmp_path)


def test_a_release_of_another_source(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    other = named_release(tmp_path / "release", kernel="kernel-0000000000000000")
    with pytest.raises(MissingError, match="was made of another source than this"):
        bundles.bundle(campaign, other, CITATION, tmp_path)


def test_the_quickest_trial_is_a_part_of_its_own(campaign: Path) -> None:
    found = bundles.repeatable(campaign)
    [trial] = found.part.of(found.trials)
    cost = {
        record.name: json.loads((record / "run.json").read_text())["wall_s"]
        for record in (campaign / "trials").iterdir()
    }
    assert cost[trial.name] == min(cost.values()) == found.seconds
