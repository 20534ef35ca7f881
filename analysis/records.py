# SPDX-License-Identifier: GPL-2.0-only
"""Reading a campaign's records: `cellbed-campaign/1` and its `cellbed-trial/1` directories.

    CAMPAIGN/campaign.json            the experiment, and (if given) the ids of its trials
    CAMPAIGN/trials/TRIAL/trial.json  plan, factors, seed, checks, metrics
    CAMPAIGN/trials/TRIAL/*.csv       series of the trial, read only when plotted

A trial that failed a check is listed and never averaged in; a record that cannot be read is
listed with its reason; a name that begins with a dot is one still being written.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import RecordError

CAMPAIGN_FORMAT = "cellbed-campaign/1"
TRIAL_FORMAT = "cellbed-trial/1"
LEVEL_ORDER = {
    "network": ("WAN", "MEO", "GEO"),
    "flavor": ("Vanilla", "Reno", "NewReno", "SACK"),
    "policy": ("EPD", "SD"),
    "buffer": ("0.5", "1", "2"),
}
"""Levels of 98-0876R1 (table 3) in its order; others come after, in the order of the records."""
PAPER_FACTORS = tuple(LEVEL_ORDER)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One fidelity check of a trial; values are None where the check gave none."""

    name: str
    ok: bool
    measured: Any = None
    expected: Any = None
    limit: Any = None
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One recorded trial. `metrics` may lack a value (None); `document` is all of trial.json."""

    name: str
    folder: Path
    factors: Mapping[str, str]
    seed: int
    valid: bool
    checks: tuple[Check, ...]
    metrics: Mapping[str, float | None]
    document: Mapping[str, Any] = field(repr=False)

    @property
    def cell(self) -> tuple[tuple[str, str], ...]:
        """The factors and their levels, as a key: trials that share it differ in seed alone."""
        return tuple(self.factors.items())


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A campaign's records: valid trials, invalid ones, and (folder, reason) of unreadable ones."""

    name: str
    folder: Path
    document: Mapping[str, Any] = field(repr=False)
    trials: tuple[Trial, ...]
    invalid: tuple[Trial, ...]
    unreadable: tuple[tuple[str, str], ...]

    def levels(self, factor: str) -> tuple[str, ...]:
        """Levels of `factor` among the valid trials, in the paper's order where it has one."""
        found = dict.fromkeys(t.factors[factor] for t in self.trials if factor in t.factors)
        return ordered(factor, found)


def ordered(factor: str, levels: Mapping[str, Any]) -> tuple[str, ...]:
    """`levels` sorted as in the paper; unknown ones keep their order, after the known."""
    known = LEVEL_ORDER.get(factor, ())
    return tuple(sorted(levels, key=lambda x: known.index(x) if x in known else len(known)))


def read_campaign(folder: Path | str) -> Campaign:
    """All records under `folder`.

    Raises RecordError when it is no campaign, when no trial in it can be read, and when two
    valid trials have the same factors and seed.
    """
    folder = Path(folder)
    document = _campaign_document(folder)
    wanted = document.get("trials")
    trials, unreadable = [], []
    for entry in _trial_folders(folder):
        if wanted is not None and entry.name not in wanted:
            continue
        try:
            trials.append(read_trial(entry))
        except RecordError as error:
            unreadable.append((entry.name, str(error)))
    if not trials:
        first = f": {unreadable[0][1]}" if unreadable else ""
        raise RecordError(f"{folder}: no trial in it can be read{first}")
    campaign = Campaign(
        name=str(document.get("name") or folder.resolve().name),
        folder=folder,
        document=document,
        trials=tuple(sorted((t for t in trials if t.valid), key=_place)),
        invalid=tuple(sorted((t for t in trials if not t.valid), key=_place)),
        unreadable=tuple(unreadable),
    )
    _refuse_twins(campaign)
    return campaign


def read_trial(folder: Path) -> Trial:
    """The record in one trial's directory; raises RecordError naming the file and what is wrong."""
    path = folder / "trial.json"
    document = _document(path, TRIAL_FORMAT)
    try:
        return Trial(
            name=str(document["trial"]),
            folder=folder,
            factors={name: level_text(level) for name, level in document["factors"].items()},
            seed=int(document["seed"]),
            valid=_boolean(document["valid"]),
            checks=tuple(_check(entry) for entry in document["checks"]),
            metrics={name: _metric(value) for name, value in document["metrics"].items()},
            document=document,
        )
    except KeyError as error:
        raise RecordError(f"{path}: the key {error} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise RecordError(f"{path}: a value is of the wrong kind: {error}") from None


def read_series(trial: Trial, name: str) -> list[dict[str, float | str | None]] | None:
    """Rows of the trial's `NAME.csv`: numbers as float, empty fields as None, the rest as text.

    None when the trial recorded no such series; raises RecordError when it is damaged.
    """
    path = trial.folder / f"{name}.csv"
    if not path.exists():
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(_typed_rows(csv.DictReader(file, strict=True), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path}: cannot read the series: {error}") from None


def level_text(level: object) -> str:
    """A level as text; a whole number has no decimal point (2.0 is '2')."""
    if isinstance(level, bool):
        return str(level).lower()
    if isinstance(level, (int, float)):
        return f"{level:g}"
    return str(level)


def _campaign_document(folder: Path) -> Mapping[str, Any]:
    path = folder / "campaign.json"
    if not folder.is_dir():
        raise RecordError(f"{folder}: there is no such campaign directory")
    if not path.exists():
        raise RecordError(f"{folder}: not a campaign (it has no campaign.json)")
    return _document(path, CAMPAIGN_FORMAT)


def _document(path: Path, expected: str) -> Mapping[str, Any]:
    """The JSON object in `path`, of format `expected`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path}: cannot read it: {error.strerror}") from None
    except ValueError as error:
        raise RecordError(f"{path}: not JSON: {error}") from None
    found = document.get("format") if isinstance(document, dict) else None
    if found != expected:
        raise RecordError(f"{path}: its format is '{found}', this version reads '{expected}'")
    return document  # type: ignore[no-any-return]  # checked: an object with a format


def _trial_folders(folder: Path) -> list[Path]:
    trials = folder / "trials"
    if not trials.is_dir():
        raise RecordError(f"{folder}: no trials recorded yet (it has no directory 'trials')")
    return sorted(e for e in trials.iterdir() if e.is_dir() and not e.name.startswith("."))


def _check(entry: Mapping[str, Any]) -> Check:
    known = {key: entry.get(key) for key in ("measured", "expected", "limit")}
    unit = entry.get("unit") or ""
    return Check(name=str(entry["name"]), ok=_boolean(entry["ok"]), unit=str(unit), **known)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _metric(value: object) -> float | None:
    """A metric's number; None where it has none, and for what is not one number (a list)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _place(trial: Trial) -> tuple[tuple[int, ...], int, str]:
    """Sort key: levels in the paper's order, then the seed."""
    places = []
    for factor in PAPER_FACTORS:
        known, level = LEVEL_ORDER[factor], trial.factors.get(factor)
        places.append(known.index(level) if level in known else len(known))
    return tuple(places), trial.seed, trial.name


def _refuse_twins(campaign: Campaign) -> None:
    seen: dict[tuple[tuple[tuple[str, str], ...], int], str] = {}
    for trial in campaign.trials:
        key = (tuple(sorted(trial.cell)), trial.seed)
        if key in seen:
            raise RecordError(
                f"{campaign.folder}: trials {seen[key]} and {trial.name} have the same factors and "
                f"seed; campaign.json must list in 'trials' which ones count"
            )
        seen[key] = trial.name


def _typed_rows(
    reader: "csv.DictReader[str]", path: Path
) -> Iterator[dict[str, float | str | None]]:
    for row in reader:
        if None in row or None in row.values():
            raise RecordError(f"{path}: line {reader.line_num} has the wrong number of fields")
        yield {name: _typed(text) for name, text in row.items()}


def _typed(text: str) -> float | str | None:
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text
