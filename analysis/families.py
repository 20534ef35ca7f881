# SPDX-License-Identifier: GPL-2.0-only
"""Several tests that are read together: Holm's adjustment.

Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of
Statistics 6 (1979), pages 65-70.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p adjusted for the family, in the order given.

    The chance that any true hypothesis of the family has an adjusted p of at most 0.05 is 0.05,
    however the tests depend on each other.
    """
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, largest)
    return adjusted
