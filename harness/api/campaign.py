# SPDX-License-Identifier: GPL-2.0-only
"""A campaign's directory as data frames and as a report, judged by the present code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from analysis.campaign_file import why_none
from analysis.errors import AnalysisError, MissingLibraryError, RecordError, ReportError
from analysis.omissions import omissions
from analysis.records import CampaignRecords, Trial, level_text, read_campaign
from analysis.typed import levels_of
from harness.api.arguments import check_number, check_step, mapping_of, path_of, shown
from harness.api.tables import check_name, no_goodput, why_empty
from harness.campaign.lock import locked
from harness.design.experiment import Level
from harness.judge import judgement, studies
from harness.judge.judgement import Judged
from plan.errors import CellbedError, MissingError, UsageError
from plan.near import choices

if TYPE_CHECKING:
    import pandas as pd

    from analysis.report import Written

MOST_SEED = 1_000_000_000 + 1000


class Campaign:
    """The records in a folder of results.

    A record that another version of the checks has judged is judged again first. If records are
    left out, a line on standard error names them with the reason.

    Args:
        folder: the folder that `./cellbed run` or Experiment.run() has made.

    Attributes:
        folder: this folder.
        judged: the records that were judged again, and the verdicts and figures that changed.
        records: all that was read. `trials` has the valid trials, which all tables and figures
            use. `invalid` has the trials that failed a check, `superseded` the older records of
            the same cell and seed, `unreadable` and `others` (with other settings or software) the
            names of records with the reason.

    Raises:
        UsageError: the folder has no results, or no trial in it can be read.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = path_of(folder, "folder")
        # Of a run that is under way, what it records from now on is left for the next time.
        there = {path.name for path in self.folder.glob("trials/*")}
        found = [path for path in judgement.records(self.folder) if path.name in there]
        self.judged = judgement.bring_up_to_date(found)
        with told():
            self.records = self._read(there)
        if line := omissions(self.records):
            print(line, file=sys.stderr)

    def _read(self, there: Collection[str]) -> CampaignRecords:
        try:
            return read_campaign(self.folder, there)
        except RecordError as error:
            raise RecordError(without_any(self.folder, there, str(error))) from None

    def __repr__(self) -> str:
        found, others = self.records, len(self.records.others)
        more = f", {others} with other settings or software" if others else ""
        number = len(found.trials)
        trials = f"{number} trial{'s' * (number != 1)}, {len(found.invalid)} invalid{more}"
        return f"Campaign({str(self.folder)!r}): {trials}"

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.records.name

    @property
    def factors(self) -> dict[str, tuple[Level, ...]]:
        """Each factor with its levels, in the order of the experiment.

        All levels of a factor have one type: numbers, true and false, or texts. If the experiment
        has levels of several types, all are texts. All tables have the levels of this type.
        """
        return {name: tuple(levels.values()) for name, levels in levels_of(self.records).items()}

    def trial(
        self, levels: Mapping[str, Level] | None = None, /, seed: int | None = None, **more: Level
    ) -> Trial:
        """Return the valid trial with these levels and this seed, for example to draw it.

        Args:
            levels: levels of factors whose names have a dot, such as {"queue.policy": "epd"}.
            seed: the trial's seed; None: 1, or the only seed of the campaign.
            more: levels of other factors, such as policy="EPD".

        Raises:
            UsageError: no valid trial, or more than one, has these levels and this seed.
        """
        example = '{"queue.policy": "epd"}'
        named = {**mapping_of(levels or {}, "levels", example), **more}
        wanted = {factor: self._level(factor, level) for factor, level in named.items()}
        check_number(seed, "seed", MOST_SEED)
        seeds = sorted({trial.seed for trial in self.records.trials})
        seed = seed or (seeds[0] if len(seeds) == 1 else 1)
        every = [one for one in self.records.trials if wanted.items() <= one.factors.items()]
        found = [trial for trial in every if trial.seed == seed]
        if len(found) != 1:
            text = ", ".join(f"{factor}={level}" for factor, level in wanted.items())
            hint = f"name one trial by levels of {', '.join(self.factors)}"
            if not found and every:
                hint = f"the seeds are {', '.join(map(str, sorted({one.seed for one in every})))}"
            raise UsageError(
                f"{self.folder} has {len(found)} valid trials with {text or 'any level'} and seed "
                f"{seed}; {hint}"
            )
        return found[0]

    def _level(self, factor: str, level: object) -> str:
        """A level as the records have it; UsageError where no trial has it."""
        levels = self.records.factors
        if factor not in levels:
            known = choices(factor, levels)
            raise UsageError(f"{self.folder}: there is no factor {factor}; {known}")
        if not isinstance(level, Level):
            raise UsageError(f"{factor} = {shown(level)}: name one level")
        if level_text(level) not in levels[factor]:
            known = choices(level, levels[factor])
            raise UsageError(f"{self.folder}: {factor} has no level {level}; {known}")
        return level_text(level)

    def trials(self) -> pd.DataFrame:
        """Return one row for each valid trial.

        The columns are `trial` (its name), one for each factor (of the type of its levels), `seed`,
        one for each metric, NAME_published for each metric that the study's paper publishes, and
        virtual_s, wall_s and cpu_s [s]. A metric without a unit in its name is a ratio or a count.
        efficiency and fairness are those of 98-0876R1, section 7; docs/records.md explains all
        metrics. A missing value is NaN.

        Raises:
            MissingError: pandas is not installed; `./cellbed setup --library` installs it.
        """
        return frames().trials(self.records)

    def cells(self, *metrics: str) -> pd.DataFrame:
        """Return one row for each cell and metric, as means over the seeds.

        The columns are one for each factor, `metric`, `mean`, `half_width` (half of the 95 %
        interval of the mean, by Student's t, in the unit of the metric; NaN with one seed), and
        `seeds` (the number of trials with a value).

        Args:
            metrics: the names of the metrics; without any, all metrics.

        Raises:
            MissingError: as trials().
            UsageError: no trial has a metric of this name.
        """
        known = dict.fromkeys(name for one in self.records.trials for name in one.metrics)
        for metric in metrics:
            if not isinstance(metric, str) or metric not in known:
                raise UsageError(f"{shown(metric)} is no metric; {choices(metric, known)}")
        return frames().cells(self.records, *metrics)

    def checks(self) -> pd.DataFrame:
        """Return one row for each check of each trial, also of the invalid trials.

        The columns are `trial`, one for each factor, `seed`, `name`, `ok`, `measured`, `expected`
        and `limit` (all three in `unit`), and `why` (the reason where a record lacks a value).
        docs/records.md explains each check.

        Raises:
            MissingError: as trials().
        """
        return frames().checks(self.records)

    def flows(self) -> pd.DataFrame:
        """Return one row for each connection of each valid trial: series("flows")."""
        return self.series("flows")

    def requests(self) -> pd.DataFrame:
        """Return one row for each request of each valid trial: series("requests").

        A workload without requests gives an empty frame, and a line on standard error.
        """
        return self.series("requests")

    def series(self, name: str) -> pd.DataFrame:
        """Return the rows of the table NAME.csv of all valid trials.

        The columns `trial`, one for each factor, and `seed` come first, then the columns of the
        table. Their names carry the units (docs/records.md); times count from the trial's start.
        If no trial has a row, the frame is empty, and a line on standard error names the key or the
        workload that records the table.

        Args:
            name: flows, requests, queue, drops, cwnd, throughput, or another table of a trial.

        Raises:
            MissingError: as trials().
            UsageError: a trial has no table of this name.
        """
        check_name(name, self.records.trials)
        found: pd.DataFrame = frames().series(self.records, name)
        if found.empty:
            print(f"{self.folder}: {why_empty(name, self.records.trials)}", file=sys.stderr)
        return found

    def goodput(self, step_s: float = 1.0) -> pd.DataFrame:
        """Return the goodput of each pair over time: payload that its client received.

        Goodput counts each byte of TCP payload once, without headers and repeated segments. The
        columns are `trial`, one for each factor, `seed`, `pair`, `begin_s` and `end_s` (bounds of
        the interval [s]), `goodput_bit_per_s`, and `source`. With `source` "acks", the ACK numbers
        of the clients in up.pcap or down.pcap tell the goodput (RFC 9293, section 3.4), summed over
        all connections of the pair. With "answers", it is made of requests.csv: the bytes of an
        answer are spread evenly from its first to its last byte. If no trial has either, the frame
        is empty, and a line on standard error names the key that records it.

        Args:
            step_s: the length of an interval [s], above 0. The last interval may be shorter.

        Raises:
            MissingError: as trials().
            UsageError: step_s is no number above 0, or a capture is damaged.
        """
        check_step(step_s)
        with told():
            found: pd.DataFrame = frames().goodput(self.records, step_s)
        if found.empty:
            print(f"{self.folder}: {no_goodput(self.records.trials)}", file=sys.stderr)
        return found

    def report(
        self, out: Path | str | None = None, listener: Callable[[str], None] = lambda _: None
    ) -> Written:
        """Write the report and return the paths of its files.

        Args:
            out: the folder of the report; None: the folder `report` in the folder of results.
            listener: a function that is called with the name of each part before it is made.

        Raises:
            CellbedError: the report cannot be written.
            UsageError: a file of the study is wrong.
        """
        from analysis.report import write_report  # the plots' libraries are slow to load

        with told():
            out = None if out is None else path_of(out, "out")
            study = studies.find(self.records.study)
            return write_report(self.records, study, out, listener)

    def export(self, kind: str, out: Path | str | None = None) -> Sequence[Path]:
        """Write the tables and captures in another format and return the paths of the files.

        Args:
            kind: csv, flent, parquet, pcapng or qlog (docs/api.md).
            out: the folder of the files; None: export-KIND in the folder of results.

        Raises:
            CellbedError: the files cannot be written.
            MissingError: a library of the format is not installed.
            UsageError: the format does not exist, or the records have no data for it.
        """
        from analysis import exports

        with told():
            folder = self.folder / f"export-{kind}" if out is None else path_of(out, "out")
            return exports.export(self.records, kind, folder)


def judge(folder: Path | str) -> Judged:
    """Judge the records in a folder of results by the checks of this version. Run no trial.

    Args:
        folder: the folder that `./cellbed run` or Experiment.run() has made.

    Returns:
        the numbers of records and of judged records, and each verdict or figure that changed.

    Raises:
        UsageError: the folder has no results, or another process uses it.
    """
    folder = path_of(folder, "folder")
    if not (folder / "campaign.json").is_file():
        raise UsageError(why_none(folder))
    with locked(folder):
        return judgement.bring_up_to_date(judgement.records(folder))


def without_any(folder: Path, there: Collection[str], said: str) -> str:
    """Say why a folder has no record that counts: what became of its trials, if that is known.

    there: the names of its folders of trials.
    """
    from analysis.report.standing import first_failure, standing_of  # with the plots' libraries

    if any(not name.startswith(".") for name in there):
        return said  # a record is there, but it does not count
    found = standing_of(folder, set(), {})
    if found.whole:
        return said
    again = "give the command again later" if found.under_way else "run it again"
    return f"{folder} has no record: {found.sentence()}{first_failure(found)}; {again}"


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
