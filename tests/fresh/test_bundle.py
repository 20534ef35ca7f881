# SPDX-License-Identifier: GPL-2.0-only
"""`bundle`: from its archive alone, in an empty folder, a trial is repeated and compared."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import socket
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.errors import RecordError
from harness.api import bundle as bundles
from harness.api.experiment import Experiment, execute
from harness.records.seal import checksum
from plan.errors import MissingError, UsageError
from tests.fresh import releases
from tests.fresh.releases import cache_of, named_release
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


@pytest.fixture(scope="module", autouse=True)
def _known(release: Path) -> Iterator[None]:
    """Let it be the release of this machine's products."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "known_releases", lambda: [releases.digest(release)])
        yield


@pytest.fixture(scope="module")
def made(campaign: Path, release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of both."""
    return bundles.bundle(campaign, release, CITATION, tmp_path_factory.mktemp("bundle"))


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [top] = folder.iterdir()
    cache_of(top / "release" / "cellbed.tar", top / "cache")  # to save time
    return top


def repeat(top: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script of an unpacked bundle, for a reader who has a cache of another project."""
    return subprocess.run(
        [top / "repeat", *words], capture_output=True, text=True, timeout=600, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(top), "CELLBED_CACHE": "/dev/null"},
    )  # fmt: skip


def sealed_again(record: Path, name: str) -> None:
    """Let the checksums of a record fit a file that was changed."""
    sums = record / "SHA256SUMS"
    lines = [line for line in sums.read_text().splitlines() if not line.endswith(f"  {name}")]
    sums.write_text("\n".join([*lines, f"{checksum(record / name)}  {name}"]) + "\n")


def seal(top: Path) -> None:
    """The same for the checksums of a bundle."""
    found = [path.relative_to(top) for path in top.rglob("*") if path.is_file()]
    names = [name for name in found if name.parts[0] not in ("SHA256SUMS", "cache")]
    lines = [f"{checksum(top / name)}  {name}\n" for name in names]
    (top / "SHA256SUMS").write_text("".join(lines))


def test_a_trial_is_repeated_in_an_empty_folder(made: Path, tmp_path: Path) -> None:
    top = unpacked(made, tmp_path)
    assert {path.name for path in top.iterdir()} == {
        "CITATION.cff", "LICENSE", "README.md", "SHA256SUMS", "cache", "campaign", "cellbed",
        "experiment.toml", "parameters", "release", "repeat",
    }  # fmt: skip
    done = repeat(top)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(
        "1 of 2 trials were repeated. Their records have the same bytes as the kept records.\n"
    )
    for record in (top / "campaign" / "trials").iterdir():
        (record / "down.cellq").write_bytes(b"frames, with the times of another boot")
        sealed_again(record, "down.cellq")
    seal(top)
    done = repeat(top, "1/1")
    assert done.returncode == 0, done.stderr
    assert "\n2 of 2 trials were repeated. " in done.stdout


def test_a_changed_file_is_refused(made: Path, tmp_path: Path) -> None:
    top = unpacked(made, tmp_path)
    with (top / "experiment.toml").open("a") as stream:
        stream.write("# changed\n")
    done = repeat(top)
    assert done.returncode == 3 and "a file of this artifact was changed" in done.stderr


def refused(top: Path) -> str:
    """What `repeat` says of an artifact whose own checksums fit."""
    seal(top)
    done = repeat(top)
    assert done.returncode == 3, done.stdout
    return done.stderr


def test_a_record_that_the_trial_does_not_give_is_named(made: Path, tmp_path: Path) -> None:
    """All checksums fit: only running the trial tells."""
    top = unpacked(made, tmp_path)
    for record in (top / "campaign" / "trials").iterdir():
        with (record / "flows.csv").open("a") as stream:
            stream.write("9,1\n")
        sealed_again(record, "flows.csv")
    assert "differs from the kept record in: flows.csv" in refused(top)


def test_a_figure_that_the_trial_does_not_give_is_named(made: Path, tmp_path: Path) -> None:
    """The checksums of a record do not list its judgement."""
    top = unpacked(made, tmp_path)
    for record in (top / "campaign" / "trials").iterdir():
        document = json.loads((record / "judgement.json").read_text())
        document["metrics"]["efficiency"] = 0.99999
        (record / "judgement.json").write_text(json.dumps(document, indent=1) + "\n")
    assert "differs from the kept record in: judgement.json" in refused(top)


def test_a_kept_record_that_is_damaged_is_named(made: Path, tmp_path: Path) -> None:
    """Of such a record there is no list of checksums to compare."""
    top = unpacked(made, tmp_path)
    for record in (top / "campaign" / "trials").iterdir():
        with (record / "flows.csv").open("a") as stream:
            stream.write("9,1\n")
    assert ": its files are not those of its SHA256SUMS" in refused(top)


def test_trials_that_failed_a_check_are_compared(made: Path, tmp_path: Path) -> None:
    """`run` ends with 5. Records of another call do not count as repeated."""
    top = unpacked(made, tmp_path)
    shutil.copytree(top / "campaign", top / "repeated" / "old")
    (top / "cellbed" / "cellbed").rename(top / "cellbed" / "real")
    (top / "cellbed" / "cellbed").write_text(
        '#!/bin/sh\n"${0%cellbed}real" "$@" || exit\n[ "$1" != run ] || exit 5\n'
    )
    (top / "cellbed" / "cellbed").chmod(0o755)
    seal(top)
    done = repeat(top)
    assert done.returncode == 0, done.stderr
    assert "\n1 of 2 trials were repeated. " in done.stdout


def test_its_readme_names_trials_that_failed_a_check(campaign: Path, release: Path) -> None:
    found = bundles.repeatable(campaign)
    assert bundles.words_of(found, release)["checks"] == "All trials passed their checks."
    bad = dataclasses.replace(found, invalid=["SACK-s1-0"])
    assert bundles.words_of(bad, release)["checks"] == "These trials failed a check: SACK-s1-0."


@pytest.mark.parametrize(
    ("folder", "said"), [("", "the files of a bundle alone"), ("{}/", "which no bundle holds")]
)
def test_an_experiment_that_names_a_file(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, said: str
) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    (tmp_path / "tunnel.csv").write_text("time_s,down_rate_bit_per_s\n0,9000000\n1,8000000\n")
    monkeypatch.chdir(tmp_path)
    path = f'mss_bytes = 1024, path = "{folder.format(tmp_path)}tunnel.csv"'
    rewrite(other, text=TINY.replace("mss_bytes = 1024", path))
    with pytest.raises(UsageError, match=said):
        bundles.repeatable(other)


def rewrite(campaign: Path, **keys: object) -> None:
    """Let a campaign's header say something else; a key that is None goes."""
    file = campaign / "campaign.json"
    document = {**json.loads(file.read_text()), **keys}
    left = {key: value for key, value in document.items() if value is not None}
    file.write_text(json.dumps(left))


def test_a_header_without_trials(campaign: Path, tmp_path: Path) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    rewrite(other, trials=None)
    with pytest.raises(UsageError, match="campaign.json lists no trials; run the experiment"):
        bundles.repeatable(other)


def test_a_record_of_another_experiment(campaign: Path, tmp_path: Path) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    (other / "trials" / "SACK-s9-0").mkdir()
    with pytest.raises(UsageError, match="not of this experiment and project: SACK-s9-0; run"):
        bundles.repeatable(other)


def test_only_what_was_recorded_is_packed(campaign: Path, release: Path, tmp_path: Path) -> None:
    """And neither is a file written through a link, nor has the release a name of its own."""
    other = shutil.copytree(campaign, tmp_path / "tiny")
    for record in (other / "trials").iterdir():
        (record / ".netrc").write_text("password")
    named = tmp_path / "-x\n.tar"
    named.symlink_to(release)
    (tmp_path / "private").write_text("private")
    (tmp_path / "tiny-artifact.partial").symlink_to(tmp_path / "private")
    archive = bundles.bundle(other, named, CITATION, tmp_path)
    assert (tmp_path / "private").read_text() == "private"
    with tarfile.open(archive) as opened:
        names = opened.getnames()
    assert "tiny-artifact/release/cellbed.tar" in names
    assert not [name for name in names if ".netrc" in name or not name.isprintable()]


@pytest.mark.parametrize("name", ["campaign.json", "flows.csv"])
def test_a_link_is_not_packed(campaign: Path, release: Path, tmp_path: Path, name: str) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    found = next(other.rglob(name))
    found.rename(tmp_path / name)
    found.symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match=f"{name} is a link; a bundle holds only files"):
        bundles.bundle(other, release, CITATION, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny", name}


def test_a_name_that_a_terminal_obeys(campaign: Path, release: Path, tmp_path: Path) -> None:
    other = shutil.copytree(campaign, tmp_path / "tiny")
    record = next((other / "trials").iterdir())
    (record / "a\x1b[2J").touch()
    sealed_again(record, "a\x1b[2J")
    with pytest.raises(UsageError, match=r"a\\x1b\[2J' has a character that a list"):
        bundles.bundle(other, release, CITATION, tmp_path)


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


def test_a_release_with_other_contents(campaign: Path, release: Path, tmp_path: Path) -> None:
    """It has the same names, and its own checksums fit."""
    other = Path(shutil.copy(release, tmp_path))
    releases.forged(other, [releases.member("x")])
    with pytest.raises(MissingError, match="is not the release of this machine's products: it has"):
        bundles.bundle(campaign, other, CITATION, tmp_path)
    assert bundles.said("known") != [releases.digest(other)]


def test_products_of_another_release(made: Path, tmp_path: Path) -> None:
    """An earlier artifact was perhaps unpacked into the same folder."""
    top = unpacked(made, tmp_path)
    note = next((top / "cache" / "releases").glob("kernel-*"))
    note.write_text("0" * 64 + "\n")
    done = repeat(top)
    assert done.returncode == 3
    assert "the folder cache has products of another release; remove it" in done.stderr


@pytest.mark.parametrize("name", ["campaign.json", "flows.csv", "SHA256SUMS"])
@pytest.mark.parametrize("kind", ["FIFO", "socket", "device"])
def test_what_is_no_file(
    campaign: Path,
    release: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: str,
) -> None:
    """A FIFO might never end."""
    other = shutil.copytree(campaign, tmp_path / "tiny")
    found = next(other.rglob(name))
    found.unlink()
    if kind == "FIFO":
        os.mkfifo(found)
    elif kind == "socket":
        monkeypatch.chdir(found.parent)  # the path of a socket has at most 107 bytes
        socket.socket(socket.AF_UNIX).bind(name)
    else:
        found.symlink_to("/dev/full")
    with pytest.raises((UsageError, RecordError), match="is not a file|changed since the trial"):
        bundles.bundle(other, release, CITATION, tmp_path)


def test_the_quickest_trial_is_a_part_of_its_own(campaign: Path) -> None:
    found = bundles.repeatable(campaign)
    [trial] = found.part.of(found.trials)
    cost = {
        record.name: json.loads((record / "run.json").read_text())["wall_s"]
        for record in (campaign / "trials").iterdir()
    }
    assert cost[trial.name] == min(cost.values()) == found.seconds
