"""Draws lines over the x axis, and distributions."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, log10

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from strandline.views import plot_labels, plot_paper
from strandline.views.chart import Panel, Series
from strandline.views.plot_bars import whiskers
from strandline.views.plot_boxes import Box, around, place_of
from strandline.views.plot_place import Place
from strandline.views.plot_style import LINES, Look, ink

THIN, BOUND, MARKER, NEST = 1.3, 1.0, 3.2, 1.5
"""Points of a line, of a bound, of a marker, and by how much each is wider for every line on top of it."""
WIDEST = 4.5
"""The most points by which a line is wider: many lines on top of each other share them."""
NEAR, MOSTLY = 0.015, 0.8
"""How near two lines are that hide each other, as a share of the axis, and at what share of the places."""
GAP = 3.5
"""Points of a dash, and of the gap behind it."""
NUMBER = 0.55
"""Inches of a number below the axis."""
LETTER, APART = 0.056, 0.04
"""Inches of a letter of such a number, and between two of them."""
TALL = 0.5
"""Inches of the axis for each number of it that is logarithmic."""


def _marks(panel: Panel, room: int) -> tuple[int, ...]:
    """The marks of a decade of a logarithmic axis with room for so many: powers of ten alone over many decades."""
    values = [value for series in panel.series for value in series.values if value is not None and value > 0]
    decades = log10(max(values) / min(values)) if values else 0
    return (1, 2, 5) if 3 * decades <= room else (1,)


def lines(place: Place) -> None:
    """A line for each series."""
    axes, panel, chart = place.axes, place.piece.panel, place.chart
    across = _across(place)
    if chart.log_x:
        axes.set_xscale("log", base=2)
    if chart.log_y:
        axes.set_yscale("log")
        room = max(3, int(place.inches[1] / TALL * 3))
        axes.yaxis.set_major_locator(LogLocator(subs=_marks(panel, room), numticks=room))
        axes.yaxis.set_major_formatter("{x:,.10g}")
        axes.yaxis.set_minor_locator(NullLocator())
    plot_paper.band(axes, panel)
    curves = [series.values for series in panel.series]
    depths = nested(_orders(curves) if chart.log_y else curves)
    step = _step(depths)
    for series, depth in zip(panel.series, depths, strict=True):
        _line(axes, across, series.values, series, place.look, depth, step)
        whiskers(axes, across, series.values, series.whiskers, place.look.colour(series))
        plot_paper.marks(axes, across, series.paper)
        plot_paper.bounds(axes, series, place.look.colour(series))
    plot_paper.spreads(axes, panel, dict(zip(chart.places, across, strict=True)))
    if not chart.log_y:
        # Panels that share the axis and come later extend it.
        axes.set_ylim(bottom=0, auto=None)
    axes.set_xticks(across, chart.places)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    place.name_places()
    if not place.look.needs_legend:
        plot_labels.ends(place, across[-1])


def _across(place: Place) -> list[float]:
    """Where the places are: at their numbers, or at equal distances if they are words."""
    return list(place.chart.numbers or map(float, range(len(place.chart.places))))


def name_numbers(place: Place) -> bool:
    """Leaves out names of numbers that others would meet: the ends stay, then powers of two; no value lacks one."""
    across, names = _across(place), place.names
    if place.chart.numbers is None:
        return True
    last = len(names) - 1
    order = sorted(range(len(names)), key=lambda each: (each not in (0, last), log2(across[each] or 1) % 1 > 0, each))
    boxes: dict[int, Box] = {}
    for index in order:
        x, _ = place_of(place.axes, across[index], 1)
        box = around(x, 0, LETTER * len(names[index]) + APART, 1)
        if not any(box.meets(other) for other in boxes.values()):
            boxes[index] = box
    if len(boxes) < len(names):
        place.axes.set_xticks(across, [name if index in boxes else "" for index, name in enumerate(names)])
    return True


def _step(depths: Sequence[int]) -> float:
    """Points by which a line is wider for every line on top of it."""
    return min(NEST, WIDEST / max(1, *depths)) if depths else NEST


def _line(
    axes: Axes, across: Sequence[float], up: Sequence[float], series: Series, look: Look, depth: int, step: float
) -> None:
    """A line; one that others cover stays visible: on both sides of them, or in the gaps between their dashes."""
    dash: str | tuple[float, tuple[float, float]] = look.line(series)
    if dash == LINES[1]:
        dash, depth = (GAP * depth, (GAP, GAP)), depth // 2
    axes.plot(
        across,
        up,
        color=look.colour(series),
        marker=look.marker(series),
        linestyle=dash,
        markersize=MARKER + step * depth,
        linewidth=(THIN if dash == LINES[0] else BOUND) + step * depth,
        solid_capstyle="round",
        # A mark at the end of an axis is not cut.
        clip_on=False,
    )


def _orders(curves: Sequence[Sequence[float]]) -> list[list[float]]:
    """How high values are on a logarithmic axis from the least of them on."""
    least = min((value for curve in curves for value in curve if value > 0), default=1.0)
    return [[log2(max(value, least) / least) for value in curve] for curve in curves]


def nested(curves: Sequence[Sequence[float]]) -> list[int]:
    """For each curve, how many others in turn cover most of it."""
    extent = max((abs(value) for curve in curves for value in curve), default=0.0) or 1.0

    def covers(above: Sequence[float], below: Sequence[float]) -> bool:
        near = sum(abs(one - other) <= NEAR * extent for one, other in zip(above, below, strict=True))
        return near >= MOSTLY * len(below)

    depths = [0] * len(curves)
    for index in reversed(range(len(curves))):
        over = [depths[other] + 1 for other in range(index + 1, len(curves)) if covers(curves[other], curves[index])]
        depths[index] = max(over, default=0)
    return depths


def cdf(place: Place) -> None:
    """The share of tasks that take no longer, over latency; the searched value is above."""
    axes, panel = place.axes, place.piece.panel
    shares = [float(each) for each in place.chart.places]
    depths = nested([series.values for series in panel.series])
    step = _step(depths)
    for series, depth in zip(panel.series, depths, strict=True):
        _line(axes, series.values, shares, series, place.look, depth, step)
    axes.set_ylim(0, 102)
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(max(2, min(4, int(place.inches[0] / NUMBER)))))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    noted = [
        (str(series.notes[0]), place.look.colour(series)) for series in panel.series if series.notes[0] is not None
    ]
    if noted:
        plot_labels.above(axes, [(place.chart.note or "", ink()), *noted], place.inches[0])
