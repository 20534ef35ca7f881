# SPDX-License-Identifier: GPL-2.0-only
"""Kept results of a study: what is left in its folder of campaigns whose records are not.

studies/ID/results/CAMPAIGN/
    trials.csv      a line a trial (analysis/kept_trials.py)
    cells.csv       a line a cell: levels, seeds, each response, all that was measured
    claims.csv      the claims and their verdicts, where the campaign decides any
    one-draw.csv    how many published cells one seed could not have given, where any is published
    *.csv, *.svg    what else the study keeps of the report, and the figures its README shows
    manifest.json   what was run, when, of which commit, by which programs
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis import omissions
from analysis.errors import TableError
from analysis.files import regular
from analysis.records import CampaignRecords
from analysis.table import Row, Table, read_csv

FORMAT = "cellbed-kept/1"
MANIFEST = "manifest.json"


def number(row: Row, column: str) -> float | None:
    """A figure of a kept table; None where there is none."""
    return float(row[column]) if row[column] else None


@dataclass(frozen=True)
class Kept:
    """The kept results in a study's folder."""

    folder: Path

    def table(self, campaign: str, name: str) -> Table:
        """A table of a campaign; raises TableError where there is none."""
        return read_csv(self.folder / campaign / f"{name}.csv")

    def cells(self, campaign: str) -> Table:
        """Its cells; raises TableError where there are none."""
        return self.table(campaign, "cells")

    def cell(self, campaign: str, **levels: str) -> Row:
        """The one cell of these levels; raises TableError unless there is exactly one."""
        table = self.cells(campaign)
        found = [row for row in table.rows if levels.items() <= row.items()]
        if len(found) != 1:
            text = " ".join(f"{name}={level}" for name, level in levels.items())
            raise TableError(
                f"{table.source} has {len(found)} cells with {text}, but must have one"
            )
        return found[0]

    def claims(self, campaign: str) -> Table:
        """Its claims with their verdicts; raises TableError where there are none."""
        return self.table(campaign, "claims")

    def manifest(self, campaign: str) -> Mapping[str, Any]:
        """What is known of the campaign; raises TableError where it cannot be read."""
        path = self.folder / campaign / MANIFEST
        try:
            document: dict[str, Any] = json.loads(regular(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise TableError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise TableError(f"{path} is not JSON: {error}") from None
        if document.get("format") != FORMAT:
            raise TableError(
                f"{path} has the format '{document.get('format')}', but must have '{FORMAT}'"
            )
        return document


def manifest(
    campaign: CampaignRecords, commit: str, earlier: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The manifest of a campaign that is kept.

    commit: of the project that judged it; by which it was run, the campaign says itself.
    earlier: the manifest of what was kept of it before.
    """
    ran = dict.fromkeys(
        str(one)
        for known in (*(m["commit"].split(", ") for m in earlier), _ran(campaign, commit))
        for one in known
    )
    both = {
        what: _different(
            [t.document.get(what) for t in campaign.trials] + [x for m in earlier for x in m[what]]
        )
        for what in ("versions", "software")
    }
    return {
        "format": FORMAT,
        "campaign": campaign.name,
        "title": campaign.document.get("title"),
        "commit": ", ".join(ran),
        "judged_by": commit,
        "trials": len(campaign.trials),
        "left_out": sum(one["left_out"] for one in earlier) + _left_out(campaign, earlier),
        "seeds": sorted({trial.seed for trial in campaign.trials}),
        "virtual_s": round(sum(trial.document["virtual_s"] for trial in campaign.trials)),
        "wall_s": round(sum(trial.document["wall_s"] for trial in campaign.trials)),
        "ended": max(str(trial.document.get("ended", "")) for trial in campaign.trials),
        **both,
    }


def _left_out(campaign: CampaignRecords, earlier: Sequence[Mapping[str, Any]]) -> int:
    """How many records this part leaves out, without those that an earlier manifest counts."""
    counted = {seed for one in earlier for seed in one["seeds"]}
    known = [one for one in (*campaign.invalid, *campaign.superseded) if one.seed in counted]
    return len(list(omissions.left_out(campaign))) - len(known)


def _ran(campaign: CampaignRecords, commit: str) -> Sequence[object]:
    return campaign.document.get("commits") or [commit]


def _different(documents: Iterable[object]) -> list[Any]:
    return [json.loads(text) for text in sorted({json.dumps(x, sort_keys=True) for x in documents})]
