"""Draws groups of bars."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strandline.report import plot_paper
from strandline.report.chart import Chart, Panel, Series
from strandline.report.numbers import number
from strandline.report.plot_style import Look

CROWDED = 16
"""From this number of bars on, notes are small, and long ones are turned."""
CHARACTER = 0.085
"""Width of a character of a label, in inches."""
USED = 0.88
"""The axis's share of a plot's width."""
NOTE = 0.12
"""A note's height, as a share of the highest bar."""


def bars(axes: Axes, chart: Chart, panel: Panel, look: Look) -> None:
    """A group of bars for each x, a colour for each series; above each bar its note or, without notes, its value."""
    width = 0.8 / len(panel.series)
    size, turned = _style(chart, panel)
    for index, series in enumerate(panel.series):
        left = (index - (len(panel.series) - 1) / 2) * width
        places = [place + left for place in range(len(chart.places))]
        axes.bar(places, series.values, width * 0.92, color=look.colour(series))
        plot_paper.marks(axes, places, series, small=turned > 0)
        plot_paper.bounds(axes, series, look.colour(series))
        for place, top, text in zip(places, _tops(chart, series), _above(chart, series), strict=True):
            _write(axes, (place, top), text, size, turned)
    plot_paper.spreads(axes, chart, panel, range(len(chart.places)))
    _name_places(axes, chart.places)
    axes.margins(y=0.12)


def _name_places(axes: Axes, places: Sequence[str]) -> None:
    """The labels below the bars, turned if one is wider than its space."""
    axes.set_xticks(range(len(places)), places)
    if CHARACTER * max(map(len, places)) > USED * _inches(axes) / len(places):
        axes.tick_params(axis="x", rotation=25)
        for name in axes.get_xticklabels():
            name.set(ha="right", rotation_mode="anchor")


def _inches(axes: Axes) -> float:
    """One plot's share of the figure's width."""
    figure, grid = axes.get_figure(), axes.get_gridspec()
    return figure.get_figwidth() / grid.ncols if isinstance(figure, Figure) and grid else 0.0


def _write(axes: Axes, at: tuple[float, float], text: str, size: float, turned: float) -> None:
    axes.annotate(
        text,
        at,
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=size,
        rotation=turned,
    )


def _tops(chart: Chart, series: Series) -> list[float]:
    """The heights below the notes: those of the bars, or of the paper's marks that would be under the notes."""
    highest = max(value for panel in chart.panels for each in panel.series for value in each.values)
    return [
        paper if paper is not None and value < paper < value + NOTE * highest else value
        for value, paper in zip(series.values, series.paper, strict=True)
    ]


def _above(chart: Chart, series: Series) -> list[str]:
    if chart.note is not None:
        return [note or "" for note in series.notes]
    return [number(value) for value in series.values]


def _style(chart: Chart, panel: Panel) -> tuple[float, float]:
    """Points and degrees of the notes above the bars."""
    if len(chart.places) * len(panel.series) <= CROWDED:
        return 8, 0
    longest = max(len(text) for series in panel.series for text in _above(chart, series))
    return 7, 90 if longest > 2 else 0
