# SPDX-License-Identifier: GPL-2.0-only
"""Two levels of a factor over all trials that differ in nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.compare.difference import Divergence, changed_files, divergence
from analysis.errors import RecordError
from analysis.records import Trial
from analysis.statistics import Estimate, estimate, mean


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two trials of one cell and seed, one of each level.

    Attributes:
        changed: files of the records that differ.
        divergence: None where they do not part.
    """

    first: Trial
    second: Trial
    changed: Sequence[str]
    divergence: Divergence | None

    @property
    def identical(self) -> bool:
        return not self.changed and self.divergence is None


@dataclass(frozen=True, kw_only=True)
class Response:
    """A response over all comparisons; `difference` is that of each, second less first."""

    name: str
    first: float
    second: float
    difference: Estimate

    @property
    def relative(self) -> float:
        """The mean difference as a fraction of the first level's mean; infinite for one of 0."""
        size = abs(self.difference.mean)
        return size / abs(self.first) if self.first else (float("inf") if size else 0.0)


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """What two levels of a factor come to.

    one_sided: responses that a comparison has at one level only.
    """

    factor: str
    levels: tuple[str, str]
    each: Sequence[Comparison]
    responses: Sequence[Response]
    one_sided: Sequence[str] = ()

    @property
    def identical(self) -> bool:
        return all(one.identical for one in self.each)

    def differs(self, tolerance: float) -> bool:
        """Does a response differ by more than this fraction; without one, does anything?

        Raises RecordError where no response is known, so that nothing can be said of any.
        """
        if not tolerance:
            return not self.identical
        if not (self.responses or self.one_sided):
            raise RecordError(
                "--tolerance cannot be used: no response has a value at either level; leave it out"
            )
        return bool(self.one_sided) or any(one.relative > tolerance for one in self.responses)


def compare(
    trials: Sequence[Trial], factor: str, levels: tuple[str, str], names: Mapping[str, str]
) -> Comparisons:
    """Two levels of a factor.

    Args:
        trials: valid ones, of which others have neither level.
        levels: the first is what the second is compared with.
        names: metrics to compare, each with its short name.

    Raises RecordError where no trial of one level has its like at the other.
    """
    first, second = (by_cell(trials, factor, level) for level in levels)
    both = [(first[key], second[key]) for key in first if key in second]
    if not both:
        raise RecordError(
            f"no valid trial with {factor}={levels[0]} has a valid trial with "
            f"{factor}={levels[1]} and the same seed and other levels"
        )
    each = [
        Comparison(first=a, second=b, changed=changed_files(a, b), divergence=divergence(a, b))
        for a, b in both
    ]
    found = [response(short, name, both) for name, short in names.items()]
    return Comparisons(
        factor=factor,
        levels=levels,
        each=each,
        responses=[r for r in found if r is not None],
        one_sided=[short for name, short in names.items() if one_sided(name, both)],
    )


def one_sided(name: str, both: Sequence[tuple[Trial, Trial]]) -> bool:
    """Is there a comparison of which one trial has this metric and the other has not?"""
    return any((a.metrics.get(name) is None) != (b.metrics.get(name) is None) for a, b in both)


def by_cell(trials: Sequence[Trial], factor: str, level: str) -> dict[object, Trial]:
    """The trials of a level, by all that they have else."""
    return {
        (trial.seed, *((n, x) for n, x in sorted(trial.factors.items()) if n != factor)): trial
        for trial in trials
        if trial.factors[factor] == level
    }


def response(short: str, name: str, both: Sequence[tuple[Trial, Trial]]) -> Response | None:
    """One metric over the comparisons of which both trials have it; None without any."""
    values = [(a.metrics.get(name), b.metrics.get(name)) for a, b in both]
    known = [(a, b) for a, b in values if a is not None and b is not None]
    if not known:
        return None
    return Response(
        name=short,
        first=mean([a for a, _ in known]),
        second=mean([b for _, b in known]),
        difference=estimate([b - a for a, b in known]),
    )
