# SPDX-License-Identifier: GPL-2.0-only
"""What a plot of a trial is made from, before it is an SVG."""

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.axes import Axes

MOST_POINTS = 600
"""Points of a line: more than the plot has pixels adds nothing but size."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is to be drawn of a trial.

    Attributes:
        kind: the end of the plot's name.
        alt: what is to be seen, in words.
        paint: draws it into axes.
    """

    kind: str
    title: str
    alt: str
    paint: Callable[[Axes], None]
