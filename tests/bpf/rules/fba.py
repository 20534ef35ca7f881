# SPDX-License-Identifier: GPL-2.0-only
"""Fair buffer allocation (Heinanen and Kilkki 1998)."""

from fractions import Fraction

CAUSE = "refused_fairness"


def refuses(port, x: int, x_vc: int, active: int) -> bool:
    allowed = port.z * (1 + Fraction(port.buffer_cells - x, x - port.threshold_cells))
    return Fraction(x_vc * active, x) > allowed
