# SPDX-License-Identifier: GPL-2.0-only
"""Runs a student's trials again: in virtual time the same seed gives the same record.

Checksums show that a record was edited; whoever edits it can make them anew. What another run
leaves he cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.api.experiment import Experiment
from harness.course import lab as labs
from harness.course.handed_in import NotHandedInError
from harness.course.measures import Finished
from harness.design import experiment as experiments
from harness.records.seal import checksum

# What tells of the run, the machine or the judge, and not of the trial (docs/records.md).
OF_THE_RUN = {"run.json", "trial.json", "SHA256SUMS", "judgement.json"}


def run_again(
    design: experiments.Design, lab: str, trials: Sequence[Finished], place: Path
) -> Sequence[Finished]:
    """Run a student's trials here, in a place, and compare their facts byte for byte.

    Returns the trials that were run here: what of the student's is not compared, because it
    differs from run to run, has no say in what is right.

    Raises:
        NotHandedInError: a file is another.
        LabError, MissingError, InvalidTrialError: they could not be run.
    """
    experiment = Experiment(design, labs.file(lab, labs.EXPERIMENT), "")
    anew = {frozenset(one.factors.items()): one for one in experiment.run(place).records.trials}
    own = [anew[frozenset(trial.factors.items())] for trial in trials]
    for trial, other in zip(trials, own, strict=True):
        different = other_files(trial.record.folder, other.folder)
        if different:
            raise NotHandedInError(
                f"{trial.record.name}: {', '.join(different)}: another when run again here; "
                "edited, or from a machine that is set up otherwise"
            )
    return [Finished(record=one, metrics=one.metrics) for one in own]


def other_files(one: Path, other: Path) -> list[str]:
    """Files of two records that are not the same, without those of the run."""
    sums = [
        {path.name: checksum(path) for path in folder.iterdir() if path.name not in OF_THE_RUN}
        for folder in (one, other)
    ]
    return sorted(name for name in {**sums[0], **sums[1]} if sums[0].get(name) != sums[1].get(name))
