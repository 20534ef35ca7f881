# SPDX-License-Identifier: GPL-2.0-only
"""What is drawn in axes as data for plotly.js: the same lines, where a reader can look closer.

Colours are the names of the page's style (analysis/report/svg.py).
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

from analysis.report.svg import LIGHT

Data = dict[str, Any]
SHAPES = {"default": "linear", "steps-post": "hv"}
DASHES = {"-": "solid", "--": "dash"}


def picture(title: str, axes: Axes) -> Data:
    """Traces and layout of axes with lines, steps and lines of reference."""
    lines, steps = axes.lines, [one for one in axes.patches if isinstance(one, StepPatch)]
    across = [line for line in lines if line.get_transform() != axes.transData]
    return {
        "title": title,
        "traces": [
            *(_line(line) for line in lines if line not in across),
            *(_steps(one) for one in steps),
        ],
        "across": [_number(line.get_ydata()[0]) for line in across],  # type: ignore[index]
        "x": _axis(axes.get_xlabel(), axes.get_xscale(), *axes.get_xlim()),
        "y": _axis(axes.get_ylabel(), axes.get_yscale(), *axes.get_ylim()),
    }


def _axis(title: str, scale: str, low: float, high: float) -> Data:
    ends = [math.log10(low), math.log10(high)] if scale == "log" else [low, high]
    return {"title": title, "type": scale, "range": _numbers(ends)}


def _line(line: Line2D) -> Data:
    return {
        **_named(line.get_label(), line.get_color()),
        "x": _numbers(line.get_xdata()),
        "y": _numbers(line.get_ydata()),
        "shape": SHAPES[line.get_drawstyle()],
        "dash": DASHES[str(line.get_linestyle())],
    }


def _steps(patch: StepPatch) -> Data:
    """A filled one is a stack of bars, another one a line."""
    values, edges, base = patch.get_data()
    if not patch.get_fill():
        x, y = _numbers(edges), _numbers([*values, values[-1]])
        return {**_named(patch.get_label(), patch.get_edgecolor()), "x": x, "y": y, "shape": "hv"}
    return {
        **_named(patch.get_label(), patch.get_facecolor()),
        "x": _numbers((edges[1:] + edges[:-1]) / 2),
        "base": _numbers(np.broadcast_to(base, np.shape(values))),
        "y": _numbers(values - base),
    }


def _named(label: object, colour: Any) -> Data:
    """A label of matplotlib's own begins with "_"."""
    text = str(label)
    return {"name": "" if text.startswith("_") else text, "colour": LIGHT[to_hex(colour)][0]}


def _numbers(values: Any) -> list[float | None]:
    found: Iterable[float] = (float(value) for value in values)
    return [_number(value) for value in found]


def _number(value: Any) -> float | None:
    """With six digits, as many as a screen can show."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
