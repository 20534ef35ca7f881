# SPDX-License-Identifier: GPL-2.0-only
"""One frozen archive of an experiment, its records, and the release that repeats them.

The same campaign and release give the same bytes: names are sorted, owners and times left out.
"""

from __future__ import annotations

import hashlib
import io
import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from analysis.campaign_file import NAME as HEADER
from analysis.campaign_file import read_header
from analysis.json_file import json_object
from harness.api.experiment import Experiment
from harness.design.shard import Shard
from harness.design.trials import PlannedTrial
from harness.host import checkout, paths
from harness.host.version import version
from harness.records.seal import changed_files
from harness.records.whole import naming
from plan.errors import MissingError, UsageError

FOLDER = paths.PROJECT / "lab" / "release" / "bundle"
PROJECT_NAME = "cellbed"  # of the project's folder in it
MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Repeatable:
    """A campaign of which each trial has a whole record.

    Attributes:
        part: the shard that is the trial which took least time, and nothing besides.
        seconds: how long that trial took [s].
    """

    folder: Path
    experiment: Experiment
    trials: Sequence[PlannedTrial]
    seeds: int
    part: Shard
    seconds: float


def bundle(campaign: Path, release: Path, citation: Path, output: Path) -> Path:
    """Write NAME-artifact.tar into the folder `output`.

    Raises:
        UsageError: the campaign lacks records, one was changed, or other software made it.
        MissingError: the release is not one of this project as it is set up here.
    """
    check_release(release)
    found = repeatable(campaign)
    files = contents(found, release, citation)
    archive = output / f"{found.experiment.name}-artifact.tar"
    partial = archive.with_suffix(".partial")
    with naming(archive):
        try:
            write(partial, f"{found.experiment.name}-artifact", files)
            partial.replace(archive)
        finally:
            partial.unlink(missing_ok=True)
    return archive


def check_release(release: Path) -> None:
    """Refuse an archive that `setup --from` of this project would refuse."""
    places = paths.places()
    named = {name: str(places[name]) for name in ("image", "kernel", "programs")}
    named["environment"] = f"{str(places['environment']).rpartition('-')[0]}-debian"
    argv = [str(paths.PROJECT / "lab" / "release" / "use"), "check", str(release), version()]
    pairs = [f"{name}={path}" for name, path in named.items()]
    done = subprocess.run([*argv, *pairs], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError("".join(done.stderr.strip().splitlines()[-1:]))


def repeatable(campaign: Path) -> Repeatable:
    """Read a campaign, and plan its experiment again: the release must give the same names."""
    header = read_header(campaign)
    experiment = Experiment.from_text(str(header.document.get("text", "")))
    counting = [entry for entry in header.trials or () if entry.counts]
    seeds = len({entry.seed for entry in counting})
    trials = experiment.prepare(campaign, seeds=max(seeds, 1)).trials
    records = {trial.name: campaign / "trials" / trial.name for trial in trials}
    if absent := [name for name, record in records.items() if not record.is_dir()]:
        raise UsageError(
            f"{campaign} has no record of {some(absent)}; run the whole experiment with this "
            "project, and with no option but --seeds and --jobs: options belong into its file"
        )
    if changed := [name for name, record in records.items() if changed_files(record)]:
        raise UsageError(f"{campaign}: {some(changed)} changed since the trial; run it again")
    cost = {name: wall_s(record) for name, record in records.items()}
    quickest = min(trials, key=lambda trial: (cost[trial.name], trial.name))
    return Repeatable(
        folder=campaign, experiment=experiment, trials=trials, seeds=seeds,
        part=part_of(quickest, trials), seconds=cost[quickest.name],
    )  # fmt: skip


def some(names: Sequence[str]) -> str:
    """The first of some names."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def wall_s(record: Path) -> float:
    """How long a trial took [s]."""
    return float(json_object(record / "run.json")["wall_s"])


def part_of(trial: PlannedTrial, trials: Sequence[PlannedTrial]) -> Shard:
    """The shard that is this trial and no other."""
    shards = (Shard(number=number + 1, count=len(trials)) for number in range(len(trials)))
    return next(shard for shard in shards if shard.of(trials) == [trial])


def contents(found: Repeatable, release: Path, citation: Path) -> dict[str, Path | bytes]:
    """The files by their names in the bundle, but for the checksums."""
    readme = Template((FOLDER / "README.md").read_text(encoding="utf-8"))
    files: dict[str, Path | bytes] = {
        "README.md": readme.substitute(words_of(found, release)).encode(),
        "repeat": FOLDER / "repeat",
        "parameters": parameters(found, release).encode(),
        "CITATION.cff": citation,
        "LICENSE": paths.PROJECT / "LICENSE",
        "experiment.toml": found.experiment.text.encode(),
        f"release/{release.name}": release,
        f"campaign/{HEADER}": found.folder / HEADER,
    }
    for trial in found.trials:
        record = found.folder / "trials" / trial.name
        for path in record.iterdir():
            files[f"campaign/trials/{trial.name}/{path.name}"] = path
    for name in checkout.files():
        files[f"{PROJECT_NAME}/{name}"] = paths.PROJECT / name
    return files


def parameters(found: Repeatable, release: Path) -> str:
    """What the script `repeat` reads."""
    values = {
        "release": release.name,
        "seeds": str(found.seeds),
        "quickest": str(found.part),
        "trials": str(len(found.trials)),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())


def words_of(found: Repeatable, release: Path) -> Mapping[str, str]:
    """What the README of a bundle says of it."""
    return {
        "name": found.experiment.name,
        "title": found.experiment.title,
        "version": version(),
        "count": str(len(found.trials)),
        "seconds": f"{found.seconds:.0f}",
        "megabytes": f"{release.stat().st_size / 1e6:.0f}",
    }


def write(path: Path, top: str, files: Mapping[str, Path | bytes]) -> None:
    """A tar of one folder, with the checksums of all files in it."""
    sums = []
    with path.open("wb") as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for name in sorted(files):
            sums.append(f"{add(archive, f'{top}/{name}', files[name])}  {name}\n")
        add(archive, f"{top}/SHA256SUMS", "".join(sums).encode())


def add(archive: tarfile.TarFile, name: str, content: Path | bytes) -> str:
    """Add a file; gives its SHA-256."""
    head = tarfile.TarInfo(name)
    program = isinstance(content, Path) and content.stat().st_mode & 0o100
    head.mode = 0o755 if program else 0o644
    if isinstance(content, bytes):
        head.size = len(content)
        archive.addfile(head, io.BytesIO(content))
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as stream:
        head.size = content.stat().st_size
        archive.addfile(head, stream)
        stream.seek(0)
        return hashlib.file_digest(stream, "sha256").hexdigest()
