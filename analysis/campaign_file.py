# SPDX-License-Identifier: GPL-2.0-only
"""The header of a campaign, campaign.json: `cellbed-campaign/2`; `/1` is read as it.

    {"format": "cellbed-campaign/2", "name": ..., "title": ..., "text": ..., "factors": {...},
     "trials": [{"trial": NAME, "factors": {"buffer": 0.5}, "seed": 1, "cell": HASH,
                 "counts": true}]}

`trials` are all that the folder was ever to hold. One counts that is of the experiment as it was
run last, whatever its seed and its captures. A header without `trials` lists none, and every
record counts.
"""

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis import near_folders
from analysis.errors import RecordError
from analysis.json_file import json_document
from analysis.under_way import holder
from plan.plan import Level
from plan.schema import Reading, TypedError

NAME = "campaign.json"
FORMAT = "cellbed-campaign/2"
NAMES_ONLY = "cellbed-campaign/1"
MOST_DIGITS = 20


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A trial that a header lists.

    Attributes:
        factors: its levels, of their own types.
        seed: None where a header of /1 lists it by a name that does not tell.
        cell: hash of all that makes the trial but its seed and its captures; "": not known.
    """

    trial: str
    factors: Mapping[str, Level]
    seed: int | None
    cell: str = ""
    counts: bool = True


ENTRIES = Reading({}, defaults=True, others=True)


@dataclass(frozen=True, kw_only=True)
class CampaignFile:
    """What campaign.json says; trials None: it lists none."""

    document: Mapping[str, Any] = field(repr=False)
    factors: Mapping[str, Sequence[Level]]
    trials: Sequence[Entry] | None


def read_header(folder: Path) -> CampaignFile:
    """The header of a campaign's folder; RecordError where it is missing or damaged."""
    return of_document(folder, read_document(folder))


def read_document(folder: Path) -> Mapping[str, Any]:
    """The header of a campaign's folder as it stands there; RecordError where it is missing."""
    path = folder / NAME
    if not path.exists():
        raise RecordError(why_none(folder))
    return json_document(path, FORMAT, NAMES_ONLY)


def of_document(folder: Path, document: Mapping[str, Any]) -> CampaignFile:
    """What the header of a folder says; RecordError where it is damaged."""
    path = folder / NAME
    factors = named_factors(document)
    listed = document.get("trials")
    if listed is not None and not isinstance(listed, list):
        raise RecordError(f"{path}: the key trials must be a list")
    if listed is not None and document["format"] == NAMES_ONLY:
        listed = by_name(listed, factors)
    return CampaignFile(document=document, factors=factors, trials=entries(path, listed))


def commits_of(document: Mapping[str, Any]) -> list[str]:
    """The commits that a header lists; none where it lists them wrongly."""
    found = document.get("commits")
    return [str(one) for one in found if one] if isinstance(found, list) else []


def why_none(folder: Path) -> str:
    """What a path is instead of a campaign's folder, and what to do, in one sentence."""
    if folder.suffix == ".toml" and folder.is_file():
        return (
            f"{folder} is an experiment, but this command needs the folder of its results; "
            f"./cellbed run {folder} makes that folder and prints its name at the end"
        )
    if who := holder(folder):
        return f"{folder} has no campaign.json yet: {who} begins to work there; wait a moment"
    if folder.is_file():
        return f"{folder} is a file; name a folder that ./cellbed run has made"
    if folder.is_dir():
        return f"{folder} is no folder of results: it has no campaign.json"
    meant = near_folders.hint(folder, NAME)
    return f"{folder} does not exist; name a folder that ./cellbed run has made{meant}"


def entries(path: Path, listed: object) -> Sequence[Entry] | None:
    """A list of trials as it stands in the file; RecordError where it is none."""
    if listed is None:
        return None
    try:
        return ENTRIES.value(Sequence[Entry], listed, "trials")
    except TypedError as error:
        raise RecordError(f"{path}: {error}") from None


def named_factors(document: Mapping[str, Any]) -> dict[str, list[Level]]:
    """The factors with their levels, of the header's own words or of the experiment's file."""
    try:
        named = document.get("factors") or tomllib.loads(document.get("text") or "")["factors"]
        return {name: list(levels) for name, levels in named.items()}
    except (tomllib.TOMLDecodeError, AttributeError, KeyError, TypeError):
        return {}


def by_name(names: Sequence[Any], factors: Mapping[str, Sequence[Level]]) -> list[dict[str, Any]]:
    """Trials of a header of /1, which has their names: levels, s with the seed, and digits."""
    cells = (dict(zip(factors, cell, strict=True)) for cell in itertools.product(*factors.values()))
    known = {"-".join(map(str, c.values())).replace("/", "_").replace(" ", ""): c for c in cells}
    found = []
    for name in map(str, names):
        place, seed, _ = ["", "", *name.rsplit("-", 2)][-3:]
        number = seed.removeprefix("s")
        found.append({
            "trial": name,
            "factors": known.get(place, {}),
            "seed": int(number) if number.isdecimal() and len(number) < MOST_DIGITS else None,
        })  # fmt: skip
    return found
