"""Draws the paper's values: diamonds at ours, and lines at extremes whose place the paper does not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from strandline.views.chart import EXTREMES, PAPER, Chart, Panel, Series
from strandline.views.palette import INK

DIAMOND: dict[str, Any] = {
    "marker": "D",
    "markersize": 4,
    "markerfacecolor": "white",
    "markeredgewidth": 1.0,
    "zorder": 4,
}
SMALL = 2.8
"""Points of a diamond between crowded bars."""
BROKEN: dict[str, Any] = {"linestyle": (0, (5, 3)), "linewidth": 1.0, "zorder": 3}


def marks(axes: Axes, across: Sequence[float], paper: Sequence[float | None], small: bool = False) -> None:
    """A diamond at each place of which the paper has a value."""
    look = {**DIAMOND, "markersize": SMALL, "markeredgewidth": 0.8} if small else DIAMOND
    found = [(place, value) for place, value in zip(across, paper, strict=True) if value is not None]
    if found:
        axes.plot(*zip(*found, strict=True), linestyle="", markeredgecolor=INK, **look)


def bounds(axes: Axes, series: Series, colour: str) -> None:
    """A broken line in the series' colour across the plot, with a diamond at its right end."""
    for value in series.bounds:
        axes.axhline(value, color=colour, **BROKEN)
        to_right = axes.get_yaxis_transform()
        axes.plot([1], [value], transform=to_right, clip_on=False, markeredgecolor=colour, **DIAMOND)


def spreads(axes: Axes, panel: Panel, across: Mapping[str, float]) -> None:
    """A broken upright line between the smallest and the largest value of all series at a place."""
    for spread in panel.spreads:
        if spread.place not in across:
            continue
        places = [across[spread.place]] * len(spread.values)
        axes.plot(places, spread.values, color=INK, clip_on=False, markeredgecolor=INK, **BROKEN | DIAMOND)


def handles(chart: Chart) -> list[Line2D]:
    """The legend's entries of what is drawn."""
    looks = {PAPER: {"linestyle": "", **DIAMOND}, EXTREMES: {"color": INK, **BROKEN, **DIAMOND}}
    return [Line2D([], [], markeredgecolor=INK, **looks[label], label=label) for label in chart.marks_of_paper]
