"""Labels of lines at their right ends, and texts above a plot."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10
from typing import Any

from matplotlib.axes import Axes

from strandline.views.chart import Series
from strandline.views.palette import luminance
from strandline.views.plot_boxes import POINTS
from strandline.views.plot_place import Place
from strandline.views.plot_style import SMALL, ink

LINE = 0.125
"""Inches of a label's line."""
RIGHT, MOVED = 5, 14
"""Points from a line's end to its label, and to that at the end of a thin line."""
PALE = 0.6
"""From this luminance on, words in the colour of their line cannot be read."""
SAME = 0.2
"""How far a label may be from its line, in lines, before a thin line joins them."""


def ends(place: Place, end: float) -> None:
    """Labels each line at its right end; if one must move aside, thin lines join all, and cross no label."""
    place.axes.margins(x=0.02)
    gap = LINE / place.inches[1]
    own = _heights(place)
    heights = spread(own, gap, (0, 1))
    moved = any(abs(one - other) > SAME * gap for one, other in zip(own, heights, strict=True))
    for series, at, height in zip(place.piece.panel.series, own, heights, strict=True):
        aside = MOVED if moved else RIGHT, (height - at) * place.inches[1] * POINTS
        _label(place, series, end, aside, "offset points", {"linewidth": 0.6} if moved else None)


def _label(
    place: Place, series: Series, end: float, at: tuple[float, float], by: str, thin: dict[str, Any] | None
) -> None:
    """A label in the colour of its line, `at` a place measured `by` something; a thin line may join them."""
    colour = place.look.colour(series)
    place.axes.annotate(
        series.label,
        (end, series.values[-1]),
        xytext=at,
        textcoords=by,
        color=colour if luminance(colour) < PALE else ink(),
        fontsize=SMALL,
        va="center",
        annotation_clip=False,
        arrowprops=thin and {"arrowstyle": "-", "color": colour, "relpos": (0, 0.5), **thin},
    )


def _heights(place: Place) -> list[float]:
    """Where lines end along the axis, from 0 to 1."""
    low, high = place.axes.get_ylim()
    return [_share(series.values[-1], low, high, place.chart.log_y) for series in place.piece.panel.series]


def _share(value: float, low: float, high: float, log: bool) -> float:
    """The position of a value along the axis, from 0 to 1."""
    if log:
        value, low, high = log10(value), log10(low), log10(high)
    return (value - low) / (high - low)


def spread(heights: Sequence[float], gap: float, within: tuple[float, float] = (-inf, inf)) -> list[float]:
    """The heights, at least `gap` apart and in order, with the least sum of squared distances to where they were.

    They stay `within` two ends, if there is room.

    Less the gaps below them, they must not fall: an isotonic regression, solved by pooling adjacent violators.
    """
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    pools: list[tuple[float, int]] = []
    for rank, index in enumerate(order):
        mean, count = heights[index] - rank * gap, 1
        while pools and pools[-1][0] >= mean:
            before, others = pools.pop()
            mean, count = (mean * count + before * others) / (count + others), count + others
        pools.append((mean, count))
    level = [mean for mean, count in pools for _ in range(count)]
    low, high = within[0], max(within[0], within[1] - (len(heights) - 1) * gap)
    placed = {index: min(max(level[rank], low), high) + rank * gap for rank, index in enumerate(order)}
    return [placed[index] for index in range(len(heights))]


def above(axes: Axes, texts: Sequence[tuple[str, str]], inches: float) -> None:
    """Texts in their colours, side by side, at the top right of a plot of a width in inches."""
    for number, (text, colour) in enumerate(reversed(texts)):
        right = 1 - number * 0.17 / inches
        axes.text(right, 1.07, text, transform=axes.transAxes, ha="right", fontsize=SMALL, color=colour)
