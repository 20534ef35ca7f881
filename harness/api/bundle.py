# SPDX-License-Identifier: GPL-2.0-only
"""One frozen archive of an experiment, its records, and the release that repeats them.

The same campaign and release give the same bytes: names are sorted, owners and times left out.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import platform
import shlex
import stat
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
from harness.judge import judgement
from harness.records.seal import SUMS, changed_files
from harness.records.whole import naming
from plan.errors import MissingError, UsageError

FOLDER = paths.PROJECT / "lab" / "release" / "bundle"
PROJECT_NAME = "cellbed"  # of the project's folder in it
RELEASE = "release/cellbed.tar"
MOST_NAMED = 3
# A link could lead to any file of this machine, and a FIFO might never end.
PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, kw_only=True)
class Repeatable:
    """A campaign of which each trial has a whole record.

    Attributes:
        part: the shard that is the trial which took least time, and nothing besides.
        seconds: how long that trial took [s].
        invalid: names of the trials that failed a check.
    """

    folder: Path
    experiment: Experiment
    trials: Sequence[PlannedTrial]
    seeds: int
    part: Shard
    seconds: float
    invalid: Sequence[str]


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
    with (
        naming(archive),
        tempfile.TemporaryDirectory(dir=output, prefix=".cellbed-bundle-") as own,
    ):
        partial = Path(own, archive.name)
        write(partial, f"{found.experiment.name}-artifact", files)
        partial.replace(archive)
    return archive


def check_release(release: Path) -> None:
    """Refuse an archive that has not the bytes of what ran the trials.

    `setup --from` compares names, which a release with other contents could have, too.
    """
    places = paths.places()
    named = {name: str(places[name]) for name in ("image", "kernel", "programs")}
    named["environment"] = f"{str(places['environment']).rpartition('-')[0]}-debian"
    pairs = [f"{name}={path}" for name, path in named.items()]
    said("use", "check", str(release), version(), platform.machine(), *pairs)
    [digest] = said("use", "digest", str(release))
    if digest not in known_releases():
        raise MissingError(
            f"{release} is not the release of this machine's products: it has the same names, but "
            "nobody made it of them here, or set up from it; name the archive of ./cellbed release"
        )


def known_releases() -> Sequence[str]:
    """The digests of the releases that have the bytes of this machine's products."""
    return said("known")


def said(script: str, *words: str) -> Sequence[str]:
    """The lines that a script of lab/release prints; MissingError is its last word."""
    argv = [str(paths.PROJECT / "lab" / "release" / script), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError("".join(done.stderr.strip().splitlines()[-1:]))
    return done.stdout.splitlines()


def repeatable(campaign: Path) -> Repeatable:
    """Read a campaign, and plan its experiment again: the release must give the same names."""
    header = read_header(campaign)
    if header.trials is None:
        raise UsageError(f"{campaign / HEADER} lists no trials; run the experiment again")
    seeds = len({entry.seed for entry in header.trials if entry.counts})
    experiment, trials = planned_alone(campaign, str(header.document.get("text", "")), seeds)
    records = {trial.name: campaign / "trials" / trial.name for trial in trials}
    check_records(campaign, records)
    judged = {name: judgement.current(record) for name, record in records.items()}
    cost = {name: wall_s(record) for name, record in records.items()}
    quickest = min(trials, key=lambda trial: (cost[trial.name], trial.name))
    return Repeatable(
        folder=campaign, experiment=experiment, trials=trials, seeds=seeds,
        part=part_of(quickest, trials), seconds=cost[quickest.name],
        invalid=[name for name, document in judged.items() if not document["valid"]],
    )  # fmt: skip


def check_records(campaign: Path, records: Mapping[str, Path]) -> None:
    """UsageError unless a campaign has these records, as they were recorded, and no others."""
    if absent := [name for name, record in records.items() if not record.is_dir()]:
        raise UsageError(
            f"{campaign} has no record of {some(absent)}; run the whole experiment with this "
            "project, and with no option but --seeds and --jobs: options belong into its file"
        )
    there = {path.name for path in (campaign / "trials").iterdir() if path.name[0] != "."}
    if others := sorted(there - records.keys()):
        raise UsageError(
            f"{campaign} has records that are not of this experiment and project: {some(others)}; "
            "run the experiment into a new folder"
        )
    if changed := [name for name, record in records.items() if changed_files(record)]:
        raise UsageError(f"{campaign}: {some(changed)} changed since the trial; run it again")


def planned_alone(
    campaign: Path, text: str, seeds: int
) -> tuple[Experiment, Sequence[PlannedTrial]]:
    """Plan an experiment in a folder that has nothing besides, as a reader has it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "experiment.toml")
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            experiment = Experiment.from_file(file)
            trials = experiment.prepare(campaign, seeds=max(seeds, 1)).trials
        except UsageError as error:
            raise UsageError(
                f"{campaign}: its experiment cannot be planned with the files of a bundle alone: "
                f"{error}"
            ) from error
        named = [one for one in strings(tomllib.loads(text)) if os.path.isfile(file.parent / one)]
    if named:
        raise UsageError(f"{campaign}: its experiment needs {some(named)}, which no bundle holds")
    return experiment, trials


def strings(value: object) -> Iterator[str]:
    """Each text in a table of TOML."""
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from strings(part)


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
        "parameters": parameters(found).encode(),
        "CITATION.cff": citation.resolve(),
        "LICENSE": paths.PROJECT / "LICENSE",
        "experiment.toml": found.experiment.text.encode(),
        RELEASE: release.resolve(),
        f"campaign/{HEADER}": found.folder / HEADER,
    }
    for trial in found.trials:
        record = found.folder / "trials" / trial.name
        for name in recorded(record):
            files[f"campaign/trials/{trial.name}/{name}"] = record / name
    for name in checkout.files():
        files[f"{PROJECT_NAME}/{name}"] = paths.PROJECT / name
    for name in files:
        if not name.isprintable() or "\\" in name:
            raise UsageError(f"{name!r} has a character that a list of checksums cannot hold")
    return files


def recorded(record: Path) -> list[str]:
    """The files of a record, whose checksums were compared: nothing that lies beside them."""
    lines = (record / SUMS).read_text(encoding="utf-8").splitlines()
    return [*(line.split("  ", 1)[1] for line in lines), SUMS, judgement.FILE]


def parameters(found: Repeatable) -> str:
    """What the script `repeat` reads."""
    values = {
        "release": RELEASE,
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
        "checks": (
            f"These trials failed a check: {', '.join(found.invalid)}."
            if found.invalid
            else "All trials passed their checks."
        ),
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
    head.mode = 0o644
    if isinstance(content, bytes):
        head.size = len(content)
        archive.addfile(head, io.BytesIO(content))
        return hashlib.sha256(content).hexdigest()
    with plain(content) as stream:
        state = os.fstat(stream.fileno())
        head.size = state.st_size
        head.mode |= 0o111 if state.st_mode & 0o100 else 0
        archive.addfile(head, stream)
        stream.seek(0)
        return hashlib.file_digest(stream, "sha256").hexdigest()


def plain(path: Path) -> io.BufferedReader:
    """Open a file, and neither a link nor anything else of that name."""
    try:
        stream = os.fdopen(os.open(path, PLAIN), "rb")
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise UsageError(f"{path} is a link; a bundle holds only files") from error
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise UsageError(f"{path} is not a file; a bundle holds only files")
    return stream
