"""Draws values as coloured cells with their numbers."""

from __future__ import annotations

from typing import Any

from matplotlib.patches import Rectangle

from strandline.views.numbers import number
from strandline.views.palette import INK, of_cell
from strandline.views.plot_layout import APART
from strandline.views.plot_place import Place
from strandline.views.plot_style import SMALL, TINY, back

SHORT = 5
"""Letters of a number in a cell."""


def grid(place: Place) -> None:
    """A row for each series, the first at the top; bounds stand below a gap, in italics."""
    axes, piece = place.axes, place.piece
    size = SMALL if place.layout.readable else TINY
    heights = _heights(place)
    edge: dict[str, Any] = {"edgecolor": back(), "linewidth": 0.6 if place.layout.readable else 0.3}
    for series, y in zip(piece.panel.series, heights, strict=True):
        for x, value in enumerate(series.values[piece.start : piece.stop]):
            face = of_cell(place.chart, piece.panel, value)
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, **edge))
            if place.layout.readable:
                axes.text(x, y, text(value), fontsize=TINY, color=INK, ha="center", va="center_baseline")
    axes.set_xlim(-0.5, len(place.names) - 0.5)
    axes.set_ylim(heights[-1] + 0.5, -0.5)
    axes.set_xticks(range(len(place.names)), place.names, fontsize=size)
    axes.set_yticks(heights, [series.label for series in piece.panel.series])
    for name, series in zip(axes.get_yticklabels(), piece.panel.series, strict=True):
        name.set(fontsize=size, style="italic" if series.bound else "normal")
    axes.tick_params(length=0, labelleft=place.leftmost)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    place.name_places()


def _heights(place: Place) -> list[float]:
    found, below = [], 0.0
    for index, series in enumerate(place.piece.panel.series):
        below = below or (APART if series.bound and index else 0.0)
        found.append(index + below)
    return found


def text(value: float) -> str:
    """A value in few letters."""
    return number(value) if len(number(value)) <= SHORT else f"{value:.0e}"
