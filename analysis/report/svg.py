# SPDX-License-Identifier: GPL-2.0-only
"""Matplotlib figures as SVG whose colours the page's style sets.

A plot is drawn in placeholder colours; each becomes a CSS variable of the page, or, in a file
of its own, its value in the light theme.
"""

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from analysis.statistics import Estimate

TEXT, GRID = "#010101", "#020202"
SERIES = ("#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05")
_MARKERS = ("o", "s", "^", "D", "v")
LIGHT = {
    TEXT: ("text", "#1c2330"),
    GRID: ("line", "#d5dae2"),
    SERIES[0]: ("s1", "#0b5cad"),
    SERIES[1]: ("s2", "#b4510a"),
    SERIES[2]: ("s3", "#0a7a4f"),
    SERIES[3]: ("s4", "#a3337f"),
    SERIES[4]: ("s5", "#6b6b00"),
}
"""Placeholder -> (CSS variable, its value in the light theme)."""


def colour(place: int) -> str:
    """Colour of the series at `place` in the style that holds; they begin again after the last."""
    colours: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    return colours[place % len(colours)]


def ink() -> str:
    """Colour of text and of lines of reference in the style that holds."""
    found: str = mpl.rcParams["text.color"]
    return found


def marker(place: int) -> str:
    """Marker of the series at `place`: another where its colour has been had before."""
    return _MARKERS[(place + place // len(SERIES)) % len(_MARKERS)]


def bars(found: Sequence[Estimate]) -> list[float] | None:
    """Half widths of the intervals for error bars; nan: no interval, None: none has one.

    With None, no bar stands in the legend either.
    """
    widths = [math.nan if one.half_width is None else one.half_width for one in found]
    return None if all(map(math.isnan, widths)) else widths


STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "axes.prop_cycle": cycler(color=SERIES),
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.titlecolor": TEXT,
    "axes.edgecolor": GRID,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def light() -> dict[str, Any]:
    """The same style in the colours of the light theme, on white: for a figure by itself."""
    real = {place: value for place, (_, value) in LIGHT.items()}
    return {
        **{key: real.get(str(value), value) for key, value in STYLE.items()},
        "axes.prop_cycle": cycler(color=[real[one] for one in SERIES]),
        **dict.fromkeys(("figure.facecolor", "savefig.facecolor"), "#ffffff"),
    }


@contextmanager
def style(name: str) -> Iterator[None]:
    """The report's plot style; `name` keeps the ids of one plot apart from all others'."""
    settings: Any = {**STYLE, "svg.hashsalt": name}
    with mpl.rc_context(settings):
        yield


def to_svg(figure: Figure, *, tight: bool = True) -> str:
    """The figure as an SVG element without ids of its own, colours as CSS variables.

    tight: fit the page to what is drawn, which draws everything twice.
    """
    buffer = io.StringIO()
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    fit: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.05} if tight else {}
    figure.savefig(buffer, format="svg", metadata=metadata, **fit)
    text = _smaller(buffer.getvalue())
    for placeholder, (variable, _) in LIGHT.items():
        text = text.replace(placeholder, f"var(--{variable})")
    return text


def _smaller(text: str) -> str:
    """Without what a page does not need: two thirds of the size is in it."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r' (?:d|x|y)="[^"]*"', _shorter, text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    text = text.replace("font-family: 'DejaVu Sans', sans-serif; ", "")
    text = text.replace("<svg ", "<svg style=\"font-family: 'DejaVu Sans', sans-serif\" ", 1)
    return re.sub(r"\s*\n\s*", "\n", text)


def _shorter(attribute: re.Match[str]) -> str:
    """Coordinates to a tenth of a point, on one line."""
    return re.sub(r"(\.\d)\d+", r"\1", attribute.group()).replace("\n", "")


def stand_alone(svg: str) -> str:
    """The SVG as a file of its own: literal light-theme colours on white."""
    text = svg
    for variable, light in LIGHT.values():
        text = text.replace(f"var(--{variable})", light)
    end = text.index(">", text.index("<svg")) + 1
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text[:end]}\n{ground}{text[end:]}'
