"""Draws the paper's values: diamonds at ours, and lines at extremes whose place the paper does not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strandline.views.chart import BAND, EXTREMES, PAPER, Chart, Panel, Series
from strandline.views.plot_style import back, grey, ink

DIAMOND: dict[str, Any] = {"marker": "D", "markersize": 4, "markeredgewidth": 1.0, "zorder": 4}
SMALL = 2.8
"""Points of a diamond between crowded bars."""
BROKEN: dict[str, Any] = {"linestyle": (0, (5, 3)), "linewidth": 1.0, "zorder": 3}


def marks(axes: Axes, across: Sequence[float], paper: Sequence[float | None], small: bool = False) -> None:
    """A diamond at each place of which the paper has a value."""
    look = {**_diamond(), "markersize": SMALL, "markeredgewidth": 0.8} if small else _diamond()
    found = [(place, value) for place, value in zip(across, paper, strict=True) if value is not None]
    if found:
        axes.plot(*zip(*found, strict=True), linestyle="", markeredgecolor=ink(), **look)


def bounds(axes: Axes, series: Series, colour: str) -> None:
    """A broken line in the series' colour across the plot, with a diamond at its right end."""
    for value in series.bounds:
        axes.axhline(value, color=colour, **BROKEN)
        to_right = axes.get_yaxis_transform()
        axes.plot([1], [value], transform=to_right, clip_on=False, markeredgecolor=colour, **_diamond())


def spreads(axes: Axes, panel: Panel, across: Mapping[str, float]) -> None:
    """A broken upright line between the smallest and the largest value of all series at a place."""
    for spread in panel.spreads:
        if spread.place not in across:
            continue
        places = [across[spread.place]] * len(spread.values)
        axes.plot(places, spread.values, color=ink(), clip_on=False, markeredgecolor=ink(), **BROKEN | _diamond())


def band(axes: Axes, panel: Panel) -> None:
    """Where the paper says in words that something lies."""
    if panel.band is not None:
        axes.axvspan(*panel.band, **_shade())


def _diamond() -> dict[str, Any]:
    return {"markerfacecolor": back(), **DIAMOND}


def _shade() -> dict[str, Any]:
    return {"facecolor": grey(), "alpha": 0.18, "linewidth": 0, "zorder": 0.5}


def handles(chart: Chart) -> list[Artist]:
    """The legend's entries of what is drawn."""
    broken: dict[str, Any] = {"color": ink(), **BROKEN}
    looks: dict[str, Artist] = {
        PAPER: Line2D([], [], linestyle="", markeredgecolor=ink(), **_diamond()),
        EXTREMES: Line2D([], [], markeredgecolor=ink(), **broken | _diamond()),
        BAND: Patch(**_shade()),
    }
    for label in chart.marks_of_paper:
        looks[label].set_label(label)
    return [looks[label] for label in chart.marks_of_paper]
