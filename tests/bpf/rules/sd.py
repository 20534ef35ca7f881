# SPDX-License-Identifier: GPL-2.0-only
"""Selective drop (98-0876R1, section 4.2)."""

CAUSE = "refused_fairness"


def refuses(port, x: int, x_vc: int, active: int) -> bool:
    return x_vc > port.z * x / active
