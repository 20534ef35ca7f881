# SPDX-License-Identifier: GPL-2.0-only
"""Measured trials against a model's prediction of the same ones: levels and seed."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.cells import Cell
from analysis.statistics import Estimate, estimate, mean
from analysis.study import Prediction


@dataclass(frozen=True, kw_only=True)
class Against:
    """One cell and response: the mean predicted, and measured less predicted over the seeds.

    Both are of the seeds that have a measured and a predicted value.
    """

    cell: Cell
    predicted: float
    difference: Estimate

    @property
    def apart(self) -> bool | None:
        """Whether the interval of the difference leaves 0 out; None without an interval."""
        if self.difference.low is None or self.difference.high is None:
            return None
        return not self.difference.low <= 0 <= self.difference.high


def against(cells: Iterable[Cell], prediction: Prediction, response: str) -> tuple[Against, ...]:
    """One for each cell of which a seed has both."""
    found = []
    for cell in cells:
        values = cell.metrics.get(response, {})
        pairs = [
            (measured, predicted[response])
            for seed, measured in values.items()
            if (predicted := prediction.of(cell.levels, cell.plan, seed)) and response in predicted
        ]
        if pairs:
            differences = [measured - predicted for measured, predicted in pairs]
            of_model = mean([predicted for _, predicted in pairs])
            found.append(Against(cell=cell, predicted=of_model, difference=estimate(differences)))
    return tuple(found)


def mean_absolute_difference(found: Sequence[Against]) -> float:
    """Over the cells, of their mean differences."""
    return math.fsum(abs(one.difference.mean) for one in found) / len(found)
