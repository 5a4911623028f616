"""Draws lines over the x axis, and distributions."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from strandline.report import plot_paper
from strandline.report.chart import Chart, Panel, Series
from strandline.report.plot_style import INK, Look


def lines(axes: Axes, chart: Chart, panel: Panel, look: Look) -> None:
    """A line for each series."""
    places = _positions(chart.places)
    if chart.log_x:
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    for series in panel.series:
        _line(axes, places, series.values, series, look)
        plot_paper.marks(axes, places, series)
        plot_paper.bounds(axes, series, look.colour(series))
    plot_paper.spreads(axes, chart, panel, places)
    # Panels that share the axis and come later extend it.
    axes.set_ylim(bottom=0, auto=None)
    axes.set_xticks(places, chart.places)
    if len(chart.places) > 10:
        axes.tick_params(axis="x", labelsize=8)
    if not look.needs_legend:
        _label_ends(axes, places[-1], panel.series, look)


def _line(axes: Axes, across: Sequence[float], up: Sequence[float], series: Series, look: Look) -> None:
    dash, marker = look.dash(series), look.marker(series)
    width = 1.8 if dash == "-" else 1.3
    axes.plot(across, up, color=look.colour(series), marker=marker, linestyle=dash, markersize=4.5, linewidth=width)


def _positions(places: Sequence[str]) -> list[float]:
    """Numbers are at their position on the axis, words at equal distances."""
    try:
        return [float(place) for place in places]
    except ValueError:
        return [float(number) for number in range(len(places))]


def _label_ends(axes: Axes, end: float, series: Sequence[Series], look: Look) -> None:
    """Labels each line at its right end; labels of close ends are moved apart."""
    ends = spread([line.values[-1] for line in series], gap=0.055 * axes.get_ylim()[1])
    for line, height in zip(series, ends, strict=True):
        axes.annotate(
            line.label,
            (end, height),
            xytext=(9, 0),
            textcoords="offset points",
            color=look.colour(line),
            va="center",
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights, kept `gap` apart and in order by one sweep from below and one from above."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    moved = [heights[index] for index in order]
    for index in range(1, len(moved)):
        moved[index] = max(moved[index], moved[index - 1] + gap)
    excess = moved[-1] - heights[order[-1]] if moved else 0.0
    moved = [height - excess / 2 for height in moved]
    placed = dict(zip(order, moved, strict=True))
    return [placed[index] for index in range(len(heights))]


def cdf(axes: Axes, chart: Chart, panel: Panel, look: Look) -> None:
    """The share of tasks that take no longer, over latency; the searched value is above."""
    shares = [float(place) for place in chart.places]
    for series in panel.series:
        _line(axes, series.values, shares, series, look)
    axes.set_ylim(0, 102)
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    noted = [(str(series.notes[0]), look.colour(series)) for series in panel.series if series.notes[0] is not None]
    if noted:
        _above(axes, [(chart.note or "", INK), *noted])


def _above(axes: Axes, texts: Sequence[tuple[str, str]]) -> None:
    """Texts in their colours, side by side, at the top right of the plot."""
    for number, (text, colour) in enumerate(reversed(texts)):
        axes.text(1 - 0.07 * number, 1.03, text, transform=axes.transAxes, ha="right", fontsize=9, color=colour)
