"""Draws groups of bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from strandline.views import plot_paper
from strandline.views.chart import Chart, Panel, Series
from strandline.views.numbers import number
from strandline.views.palette import INK
from strandline.views.plot_place import Place
from strandline.views.plot_size import turns
from strandline.views.plot_style import TINY
from strandline.views.scale import cut, powers

FULL = 0.84
"""The bars' share of a group's width."""
TEXT = 0.05
"""Inches of a letter above the bars."""
LINE = 0.12
"""Inches of a line of text above the bars."""
MARK = 0.2
"""Half the height of the paper's mark, as a share of a text's."""
BREAK = 0.9, 0.03
"""Where a cut bar is broken, and how slanted, as shares of its height."""
WHISKER: dict[str, Any] = {"fmt": "none", "elinewidth": 0.8, "capsize": 1.5, "zorder": 3}


def bars(place: Place) -> None:
    """A group of bars for each x, a colour for each series; above each bar its note or, without notes, its value."""
    axes, panel, piece = place.axes, place.piece.panel, place.piece
    top = cut(place.chart, place.panels)
    width = FULL / len(panel.series)
    turned = _turned(place, width)
    _limit(place, top, turned)
    for index, series in enumerate(panel.series):
        left = (index - (len(panel.series) - 1) / 2) * width
        places = [number_ + left for number_ in range(len(place.names))]
        _draw(place, series, places, width * 0.92, top)
        plot_paper.marks(axes, places, series.paper[piece.start : piece.stop], small=width * _group(place) < 0.15)
        plot_paper.bounds(axes, series, place.look.colour(series))
        heights = _tops(place, series, top, turned)[piece.start : piece.stop]
        for x, height, text in zip(places, heights, _above(place.chart, series)[piece.start :], strict=False):
            _write(axes, (x, max(height, axes.get_ylim()[0])), text, turned)
    plot_paper.spreads(axes, panel, dict(zip(place.names, range(len(place.names)), strict=True)))
    _name_places(place)


def _draw(place: Place, series: Series, places: Sequence[float], width: float, top: float | None) -> None:
    """The bars with their whiskers; a bar beyond the axis' end is broken."""
    piece = place.piece
    values = series.values[piece.start : piece.stop]
    drawn = [value if top is None else min(value, top) for value in values]
    place.axes.bar(places, drawn, width, color=place.look.colour(series))
    for x, value in zip(places, values, strict=True):
        if top is not None and value > top:
            at, slant = BREAK
            ends = [(at - slant) * top, (at + slant) * top]
            place.axes.plot([x - width * 0.6, x + width * 0.6], ends, color="white", linewidth=2, gid="break")
    shown = [
        None if top is not None and value > top else interval
        for value, interval in zip(values, series.whiskers[piece.start : piece.stop], strict=False)
    ]
    whiskers(place.axes, places, values, shown, INK)


def whiskers(
    axes: Axes,
    across: Sequence[float],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float] | None],
    colour: str,
) -> None:
    """The intervals of values, as upright lines."""
    for x, value, interval in zip(across, values, intervals, strict=False):
        if interval is not None:
            arms = [[value - interval[0]], [interval[1] - value]]
            axes.errorbar([x], [value], yerr=arms, ecolor=colour, **WHISKER)


def _limit(place: Place, top: float | None, turned: bool) -> None:
    """The ends of the y axis: zero, or on a logarithmic one a power of ten, and the highest bar with its text."""
    chart, axes = place.chart, place.axes
    panels = place.panels
    high = _highest(panels) if top is None else top
    share = min(0.5, _length(place, turned) / place.inches[1])
    if chart.log_y:
        low = powers(chart, place.piece.panel)[0]
        axes.set_yscale("log")
        axes.set_ylim(low, low * (high / low) ** (1 / (1 - share)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    else:
        axes.set_ylim(0, high / (1 - share))


def _length(place: Place, turned: bool) -> float:
    """Inches of the longest text above the bars, upwards."""
    texts = [text for panel in place.panels for series in panel.series for text in _above(place.chart, series)]
    return (TEXT * max(map(len, texts)) if turned else LINE) + 0.06


def _highest(panels: Sequence[Panel]) -> float:
    """The highest of what is drawn, at least 1 where values are relative to 1."""
    found = [1.0 if any(panel.normalised for panel in panels) else 0.0]
    for panel in panels:
        found += [value for spread in panel.spreads for value in spread.values]
        for series in panel.series:
            found += [*series.values, *series.bounds, *(value for value in series.paper if value is not None)]
            found += [high for interval in series.whiskers if interval is not None for high in interval]
    return max(found) or 1.0


def _group(place: Place) -> float:
    """Inches of a group of bars."""
    return place.inches[0] / len(place.names)


def _name_places(place: Place) -> None:
    """The labels below the bars, turned if one is wider than its space."""
    place.axes.set_xlim(-0.55, len(place.names) - 0.45)
    place.axes.set_xticks(range(len(place.names)), place.names)
    place.axes.tick_params(axis="x", length=0)
    if turns(place.names, place.inches[0]):
        place.axes.tick_params(axis="x", rotation=30)
        for name in place.axes.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")


def _write(axes: Axes, at: tuple[float, float], text: str, turned: bool) -> None:
    axes.annotate(
        text,
        at,
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=TINY,
        zorder=5,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        rotation=90 if turned else 0,
    )


def _tops(place: Place, series: Series, top: float | None, turned: bool) -> list[float]:
    """The heights at which the texts begin: above bar and whisker, and above a mark or line that would cross them."""
    low, high = place.axes.get_ylim()
    inch = (high - low) / place.inches[1]
    extent = inch * _length(place, turned)
    intervals = series.whiskers or (None,) * len(series.values)
    tops = []
    for value, paper, interval in zip(series.values, series.paper, intervals, strict=True):
        height = max(value, interval[1] if interval else value)
        height = height if top is None else min(height, top)
        obstacles = [(1.0, inch * LINE)] if place.piece.panel.normalised else []
        obstacles += [] if paper is None else [(paper, extent)]
        for obstacle, room in sorted(obstacles):
            if not place.chart.log_y and height < obstacle < height + room:
                height = obstacle
        tops.append(height + (MARK * extent if paper == height else 0))
    return tops


def _above(chart: Chart, series: Series) -> list[str]:
    if chart.note is not None:
        return [note or "" for note in series.notes]
    return [number(value) for value in series.values]


def _turned(place: Place, width: float) -> bool:
    """Whether a text above the bars is wider than a bar, so that all are turned."""
    texts = [text for series in place.piece.panel.series for text in _above(place.chart, series)]
    return TEXT * max(map(len, texts)) > width * _group(place)
