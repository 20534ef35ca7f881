# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's directory as data frames and as a report, judged by the present code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from analysis.campaign_file import why_none
from analysis.errors import AnalysisError, MissingLibraryError, ReportError
from analysis.omissions import omissions
from analysis.records import Trial, level_text, read_campaign
from harness.campaign.lock import locked
from harness.design.experiment import Level
from harness.judge import judgement, studies
from harness.judge.judgement import Judged
from plan.errors import CellbedError, MissingError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.report import Written

RECORDED_BY = {
    "cwnd": "record.cwnd_sample_ms = 100",
    "drops": "record.drops = true",
    "queue": "record.queue_sample_ms = 100",
    "throughput": "record.throughput_sample_ms = 1000",
}


class Campaign:
    """The records of a campaign's directory.

    Attributes:
        folder: the directory.
        judged: which records had to be judged anew, and with what difference.
        records: all that was read: `trials` that count, and what is left out: `invalid`,
            `superseded`, `unreadable`, `others`. A line on standard error names that.

    Raises:
        UsageError: no campaign, or no trial in it can be read.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.judged = judgement.bring_up_to_date(judgement.records(self.folder))
        with told():
            self.records = read_campaign(self.folder)
        if line := omissions(self.records):
            print(line, file=sys.stderr)

    def __repr__(self) -> str:
        found, others = self.records, len(self.records.others)
        more = f", {others} of another plan or other software" if others else ""
        trials = f"{len(found.trials)} trials, {len(found.invalid)} invalid{more}"
        return f"Campaign({str(self.folder)!r}): {trials}"

    @property
    def name(self) -> str:
        return self.records.name

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """Each factor with its levels, as text."""
        return dict(self.records.factors)

    def trial(
        self, levels: Mapping[str, Level] | None = None, /, seed: int = 1, **more: Level
    ) -> Trial:
        """The one valid trial with these levels and this seed; UsageError where there is none.

        Args:
            levels: of factors whose names have a dot, such as {"queue.policy": "epd"}.
            more: of other factors, such as policy="EPD".
        """
        wanted = {f: level_text(level) for f, level in {**(levels or {}), **more}.items()}
        found = [
            trial
            for trial in self.records.trials
            if trial.seed == seed and wanted.items() <= trial.factors.items()
        ]
        if len(found) != 1:
            text = ", ".join(f"{factor}={level}" for factor, level in wanted.items())
            raise UsageError(
                f"{self.folder}: {len(found)} valid trials with {text or 'any level'}, seed "
                f"{seed}, not one; levels of {', '.join(self.factors)} tell them apart"
            )
        return found[0]

    def trials(self) -> pd.DataFrame:
        """A line a valid trial: name, levels, seed, metrics, NAME_published where there is one."""
        return frames().trials(self.records)

    def cells(self, *metrics: str) -> pd.DataFrame:
        """A line a set of levels and metric [all]: mean, half-width of its 95 % interval, seeds."""
        return frames().cells(self.records, *metrics)

    def checks(self) -> pd.DataFrame:
        """A line a check, of the invalid trials too."""
        return frames().checks(self.records)

    def flows(self) -> pd.DataFrame:
        """A line a connection of every valid trial."""
        return self.series("flows")

    def requests(self) -> pd.DataFrame:
        """A line a request of every valid trial that has any."""
        return self.series("requests")

    def series(self, name: str) -> pd.DataFrame:
        """The lines of NAME.csv of every valid trial, after its name, levels and seed.

        Where no trial has any, a line on standard error tells which key records them.
        """
        found: pd.DataFrame = frames().series(self.records, name)
        if found.empty:
            print(f"{self.folder}: {nothing_in(name)}", file=sys.stderr)
        return found

    def report(
        self, out: Path | str | None = None, listener: Callable[[str], None] = lambda _: None
    ) -> Written:
        """Write the report into `out` [the campaign's folder/report]; where each part is.

        Args:
            listener: called with a word on what is being made.
        """
        from analysis.report import write_report  # the plots' libraries are slow to load

        with told():
            study = studies.find(self.records.study)
            return write_report(self.records, study, out, listener)

    def export(self, kind: str, out: Path | str | None = None) -> Sequence[Path]:
        """Write it as csv, flent, parquet, pcapng or qlog into `out` [the folder/export-KIND].

        Raises:
            MissingError: the environment has not what the format needs.
            UsageError: no such format, or the records have nothing that it can hold.
        """
        from analysis import exports

        with told():
            folder = self.folder / f"export-{kind}" if out is None else Path(out)
            return exports.export(self.records, kind, folder)


def judge(folder: Path | str) -> Judged:
    """Judge the records of a campaign's directory by the present code; run nothing.

    Raises:
        UsageError: no campaign, or another process is at work in it.
    """
    folder = Path(folder)
    if not (folder / "campaign.json").is_file():
        raise UsageError(why_none(folder))
    with locked(folder):
        return judgement.bring_up_to_date(judgement.records(folder))


def nothing_in(table: str) -> str:
    """Why a table is empty, and what would fill it."""
    if key := RECORDED_BY.get(table):
        return f"no trial has {table}.csv; set {key} in the experiment to record it"
    return f"no trial has a row of {table}.csv; docs/records.md lists the tables"


@contextmanager
def told() -> Iterator[None]:
    """The analysis's errors as those of one tree, in the same words."""
    try:
        yield
    except ReportError as error:
        raise CellbedError(str(error)) from error
    except MissingLibraryError as error:
        raise MissingError(str(error)) from error
    except AnalysisError as error:
        raise UsageError(str(error)) from error


def frames() -> ModuleType:
    """analysis.frames; MissingError without pandas."""
    try:
        from analysis import frames
    except ImportError as error:
        raise MissingError(str(error)) from error
    return frames
