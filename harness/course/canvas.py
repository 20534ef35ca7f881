# SPDX-License-Identifier: GPL-2.0-only
"""A drawing of boxes, lines and words, as SVG: the same calls give the same bytes anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from analysis.report.svg import GRID, LIGHT, SERIES, TEXT

INK, PALE = LIGHT[TEXT][1], LIGHT[GRID][1]
BLUE, ORANGE, GREEN, PURPLE, OLIVE = (LIGHT[one][1] for one in SERIES)
WIDTH = 720
SMALL, NORMAL = 12, 14


@dataclass
class Canvas:
    """Parts of a drawing, from the upper left corner, in pixels."""

    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, fill: str = "#ffffff") -> None:
        """A box with a frame."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
            f'stroke="{INK}"/>'
        )

    def crossed(self, x: float, y: float, width: float, height: float) -> None:
        """A box that is lost: it has a cross, so that it needs no colour."""
        self.box(x, y, width, height)
        self.line(x, y, x + width, y + height, ORANGE, 2)
        self.line(x, y + height, x + width, y, ORANGE, 2)

    def line(
        self, x: float, y: float, to_x: float, to_y: float, colour: str = INK, width: float = 1
    ) -> None:
        """A straight line."""
        self.parts.append(
            f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>'
        )

    def arrow(self, x: float, y: float, to_x: float) -> None:
        """A line to the right with a head."""
        self.line(x, y, to_x, y, width=1.5)
        self.parts.append(f'<path d="M{to_x:g} {y:g}l-8 -4v8z" fill="{INK}"/>')

    def words(self, x: float, y: float, text: str, at: str = "start", size: int = SMALL) -> None:
        """Words on a line; at: start, middle or end of them is at x."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{at}" font-size="{size}">{escape(text)}</text>'
        )

    def title(self, y: float, text: str) -> None:
        """What a part of the drawing shows."""
        self.parts.append(
            f'<text x="16" y="{y:g}" font-size="{NORMAL}" font-weight="bold">{escape(text)}</text>'
        )


def svg(canvas: Canvas, height: float, title: str, description: str) -> str:
    """The drawing as a file, on white; a screen reader reads title and description."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            "<!-- SPDX-License-Identifier: GPL-2.0-only -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
            f'width="{WIDTH}" height="{height:g}" role="img" aria-labelledby="title desc" '
            f'font-family="\'DejaVu Sans\', sans-serif" fill="{INK}">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(description)}</desc>',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *canvas.parts,
            "</svg>\n",
        ]
    )
