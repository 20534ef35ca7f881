# SPDX-License-Identifier: GPL-2.0-only
"""Reading a campaign's records: `cellbed-campaign/2` and its `cellbed-trial/2` directories.

    CAMPAIGN/campaign.json       the experiment, and (if given) its trials (campaign_file.py)
    CAMPAIGN/trials/TRIAL/
        trial.json               plan, factors, seed, software
        lab.json, run.json       what the lab counted; what the run took, and when it ended
        judgement.json           checks, metrics, published figures, computed from the others
        *.csv                    series of the trial, read only when plotted

A trial that failed a check is listed and never averaged in; a record that cannot be read is
listed with its reason; a name that begins with a dot is one still being written.
"""

import csv
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.campaign_file import CampaignFile, read_header
from analysis.errors import RecordError
from analysis.files import regular
from analysis.headers import OF_THE_RUN, Header, RunHeader, TrialHeader, header
from analysis.json_file import json_document, json_object
from analysis.likeness import essence, why_not
from plan import facts as lab_facts
from plan import plan as plans
from plan.errors import CellbedError
from plan.facts import TrialFacts
from plan.plan import Plan

JUDGEMENT_FORMAT = "cellbed-judgement/2"
JUDGEMENT = "judgement.json"


@dataclass(frozen=True, kw_only=True)
class FidelityCheck:
    """One fidelity check of a trial; values are None where the check gave none.

    why: what the values do not say, of a check that could not be made.
    """

    name: str
    ok: bool
    measured: Any = None
    expected: Any = None
    limit: Any = None
    unit: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One trial: what the lab was told to do, what it counted, and its series.

    `document` has the keys of its JSON files side by side, as read_facts().
    """

    name: str
    folder: Path
    factors: Mapping[str, str]
    seed: int
    plan: Plan = field(repr=False)
    facts: TrialFacts = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)

    def series(self, name: str) -> list[dict[str, float | str | None]] | None:
        """Rows of its `NAME.csv`: numbers as float, empty fields as None, the rest as text.

        None when it has no such series; raises RecordError when that is damaged.
        """
        return _series(self.folder / f"{name}.csv")


@dataclass(frozen=True, kw_only=True)
class Trial(Record):
    """A record with its judgement, whose keys `document` has too.

    `metrics` may lack a value (None); published: what the study's source has for its cell.
    """

    valid: bool
    checks: tuple[FidelityCheck, ...]
    metrics: Mapping[str, float | None]
    published: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class CampaignRecords:
    """A campaign's records.

    trials: the valid ones that count; invalid: those that failed a check; superseded: valid ones
    of which another record of the same factors and seed counts; unreadable: (folder, reason);
    others: (folder, reason) of what is there of another plan or other software.
    `factors` are those of the trials, each with its levels, in the experiment's order where its
    file names them.
    """

    name: str
    folder: Path
    document: Mapping[str, Any] = field(repr=False)
    trials: tuple[Trial, ...]
    invalid: tuple[Trial, ...]
    superseded: tuple[Trial, ...]
    unreadable: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    factors: Mapping[str, tuple[str, ...]]

    @property
    def study(self) -> str | None:
        """The id of the study that its trials were run for; None without one, or with several."""
        found = {trial.plan.study for trial in (*self.trials, *self.invalid)}
        return found.pop() if len(found) == 1 else None

    def levels(self, factor: str) -> tuple[str, ...]:
        """Levels of `factor` among the trials that count, in the experiment's order."""
        found = {trial.factors[factor] for trial in self.trials if factor in trial.factors}
        return tuple(level for level in self.factors.get(factor, ()) if level in found)


def read_campaign(folder: Path | str, among: Collection[str] | None = None) -> CampaignRecords:
    """All records under `folder`, or those whose folders have one of the names `among`.

    Where campaign.json lists trials, those of the experiment as it was run last count, of all
    seeds. Of several valid records of the same factors and seed one counts, see _chosen().
    Raises RecordError when it is no campaign and when no trial in it can be read.
    """
    folder = Path(folder)
    header = read_header(folder)
    listed = header.trials
    counting = None if listed is None else {entry.trial for entry in listed if entry.counts}
    trials, unreadable, others = [], [], []
    for entry in _trial_folders(folder):
        if among is not None and entry.name not in among:
            continue
        if counting is not None and entry.name not in counting:
            others.append(entry)
            continue
        try:
            trials.append(read_trial(entry))
        except RecordError as error:
            unreadable.append((entry.name, str(error)))
    reasons = tuple((entry.name, _why_not(entry, header, trials)) for entry in others)
    if not trials:
        first = "".join(f": {why}" for _, why in [*unreadable, *reasons][:1])
        what = "counts" if others and not unreadable else "can be read"
        raise RecordError(f"no trial in {folder} {what}{first}")
    factors = _factors(header, trials)
    trials.sort(key=lambda trial: _place(trial, factors))
    valid, superseded = _chosen([trial for trial in trials if trial.valid])
    return CampaignRecords(
        name=str(header.document.get("name") or folder.resolve().name),
        folder=folder,
        document=header.document,
        trials=valid,
        invalid=tuple(trial for trial in trials if not trial.valid),
        superseded=superseded,
        unreadable=tuple(unreadable),
        others=reasons,
        factors=factors,
    )


def read_trial(folder: Path) -> Trial:
    """The record in one trial's directory; raises RecordError naming the file and what is wrong."""
    facts, path = read_facts(folder), folder / JUDGEMENT
    record = record_of(folder, facts)  # what is wrong with the facts before what that led to
    document = {**facts, **json_document(path, JUDGEMENT_FORMAT), "format": facts["format"]}
    try:
        return Trial(
            **{**vars(record), "document": document},
            valid=_boolean(document["valid"]),
            checks=tuple(_check(entry) for entry in document["checks"]),
            metrics={name: _metric(value) for name, value in document["metrics"].items()},
            published=dict(document.get("published") or {}),
        )
    except KeyError as error:
        raise RecordError(f"{folder}: the key {error} is missing") from None
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise RecordError(f"{folder}: a value has the wrong type: {error}") from None


def record_of(folder: Path, document: Mapping[str, Any]) -> Record:
    """A record of what read_facts() gave; RecordError names file and key of what is wrong."""
    path = folder / "trial.json"
    try:
        plan = plans.from_json(document["plan"])
        path = folder / "lab.json"
        facts = lab_facts.read(TrialFacts, document)
    except (ValueError, CellbedError) as error:  # also of values that do not go together
        raise RecordError(f"{path}: {error}") from None
    return Record(
        name=document["trial"],
        folder=folder,
        factors={name: level_text(level) for name, level in document["factors"].items()},
        seed=document["seed"],
        plan=plan,
        facts=facts,
        document=document,
    )


def capture_start_ns(trial: Record) -> int:
    """The trial's start on the clock of its pcap files; RecordError where nothing was captured."""
    capture = trial.facts.capture
    if capture is None:
        raise RecordError(f"{trial.folder} has no captured packets; run the trial with --pcap")
    return trial.facts.source.t0_ns + capture.clock_offset_ns


def read_asked(folder: Path) -> dict[str, Any]:
    """A record's trial.json: what was to run, and what ran it; RecordError as read_facts()."""
    return _header(folder / "trial.json", TrialHeader)


def read_facts(folder: Path) -> dict[str, Any]:
    """What a record has of a trial and its run, all keys of its JSON files side by side.

    The lab's document is whole again: run.json holds the part that tells of the run, and no other.
    Raises RecordError naming the file and what is wrong.
    """
    trial = read_asked(folder)
    path = folder / "run.json"
    run = _header(path, RunHeader)
    of_the_run = run.pop("lab")
    _require_of_the_run(of_the_run, path, "lab")
    lab = _joined(json_object(folder / "lab.json"), of_the_run)
    if not isinstance(lab.get("virtual_s"), (int, float)):
        raise RecordError(f"{path}: lab.virtual_s must be a number")
    return {**lab, **run, **trial}


def _require_of_the_run(document: Mapping[str, Any], path: Path, place: str) -> None:
    """RecordError for a key that tells of more than the run: nobody compares run.json."""
    for key, value in document.items():
        here = f"{place}.{key}"
        if isinstance(value, dict) and key not in OF_THE_RUN:
            _require_of_the_run(value, path, here)
        elif key not in OF_THE_RUN:
            raise RecordError(f"{path}: the key {here} belongs in lab.json")


def level_text(level: object) -> str:
    """A level as text; a whole number has no decimal point (2.0 is '2')."""
    if isinstance(level, bool):
        return str(level).lower()
    if isinstance(level, (int, float)):
        # Not :g alone, which makes one level of 1,000,000 and 1,000,001.
        return str(int(level)) if level == int(level) else f"{level:.15g}"
    return str(level)


def _header(path: Path, kind: type[Header]) -> dict[str, Any]:
    """What the JSON object in `path`, which is such a header, has of its keys."""
    document = json_document(path, kind.format)
    return dict(vars(header(path, document, kind)))


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two documents of one shape as one; where both have a key, and it is no object, `other`'s."""
    joined = {**one, **other}
    for key in one.keys() & other.keys():
        if isinstance(one[key], dict) and isinstance(other[key], dict):
            joined[key] = _joined(one[key], other[key])
    return joined


def _trial_folders(folder: Path) -> list[Path]:
    trials = folder / "trials"
    if not trials.is_dir():
        raise RecordError(f"{folder} has no recorded trials yet: it has no folder 'trials'")
    return sorted(e for e in trials.iterdir() if e.is_dir() and not e.name.startswith("."))


def _check(entry: Mapping[str, Any]) -> FidelityCheck:
    known: dict[str, Any] = {key: entry.get(key) for key in ("measured", "expected", "limit")}
    texts = {key: str(entry.get(key) or "") for key in ("unit", "why")}
    return FidelityCheck(name=str(entry["name"]), ok=_boolean(entry["ok"]), **texts, **known)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _metric(value: object) -> float | None:
    """A metric's number; None where it has none, and for what is not one number (a list)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _why_not(folder: Path, header: CampaignFile, trials: Iterable[Trial]) -> str:
    """Why a record of a trial that is not one of the experiment's does not count."""
    try:
        document = read_asked(folder)
    except RecordError as error:
        return str(error)
    levels = {name: level_text(level) for name, level in document["factors"].items()}
    like = next((trial.document for trial in trials if trial.factors == levels), None)
    return why_not({**document, "factors": levels}, like, _texts(header))


def _texts(header: CampaignFile) -> dict[str, list[str]]:
    """The header's factors and levels, as text."""
    return {name: list(map(level_text, levels)) for name, levels in header.factors.items()}


def _factors(header: CampaignFile, trials: Iterable[Trial]) -> dict[str, tuple[str, ...]]:
    """Factors in the trials' order; levels in the experiment's, else in that of their numbers."""
    named = _texts(header)
    found: dict[str, dict[str, None]] = {}
    for trial in trials:
        for name, level in trial.factors.items():
            found.setdefault(name, {})[level] = None
    return {
        name: _in_order(levels, named.get(name) or sorted(levels, key=_number))
        for name, levels in found.items()
    }


def _in_order(levels: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """`levels` as `known` has them; those it lacks come after, in their own order."""
    return tuple(sorted(levels, key=lambda x: known.index(x) if x in known else len(known)))


def _number(level: str) -> float:
    """A level that is a number; any other comes after all numbers."""
    try:
        return float(level)
    except ValueError:
        return math.inf


def _place(
    trial: Trial, factors: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[int, ...], int, str]:
    """Sort key: levels in the experiment's order, then the seed."""
    places = tuple(
        levels.index(trial.factors[name]) if name in trial.factors else len(levels)
        for name, levels in factors.items()
    )
    return places, trial.seed, trial.name


def _chosen(trials: Sequence[Trial]) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """The record of each cell and seed that counts, and the others.

    It is the one whose run ended last; where others are of the same trial, but for what was
    recorded, the one of them with most tables and captures.
    """
    groups: dict[Any, list[Trial]] = {}
    for trial in trials:
        groups.setdefault((tuple(sorted(trial.factors.items())), trial.seed), []).append(trial)
    kept = {_most(group).name for group in groups.values()}
    return (
        tuple(trial for trial in trials if trial.name in kept),
        tuple(trial for trial in trials if trial.name not in kept),
    )


def _most(group: Sequence[Trial]) -> Trial:
    """Of the records of one cell and seed the one that counts."""
    if len(group) == 1:
        return group[0]
    newest = essence(max(group, key=_ended).document)
    same = [trial for trial in group if essence(trial.document) == newest]
    return max(same, key=lambda trial: (len(list(trial.folder.iterdir())), _ended(trial)))


def _ended(trial: Trial) -> tuple[str, str]:
    """When a trial's run ended, as its record says (UTC, ISO 8601); the name tells equals apart."""
    return str(trial.document.get("ended", "")), trial.name


def _series(path: Path) -> list[dict[str, float | str | None]] | None:
    if not path.exists():
        return None
    try:
        with regular(path).open(newline="", encoding="utf-8") as file:
            return list(_typed_rows(csv.reader(file, strict=True), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"the series in {path} cannot be read: {error}") from None


def _typed_rows(reader: Iterator[list[str]], path: Path) -> Iterator[dict[str, float | str | None]]:
    names = next(reader, [])
    for number, row in enumerate(reader, start=2):
        if row and len(row) != len(names):
            raise RecordError(f"{path}: line {number} has the wrong number of fields")
        if row:
            yield dict(zip(names, map(_typed, row), strict=True))


def _typed(text: str) -> float | str | None:
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text
