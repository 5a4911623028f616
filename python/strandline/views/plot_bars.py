"""Draws groups of bars, and what stands above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullLocator

from strandline.views import plot_paper
from strandline.views.chart import MEAN, Chart, Series
from strandline.views.numbers import number
from strandline.views.palette import INK, WHITE, extent, luminance
from strandline.views.plot_boxes import POINTS, Box, around, frame_of, free, place_of
from strandline.views.plot_place import Place
from strandline.views.plot_style import TINY, back, ink
from strandline.views.scale import cut, powers, ratios

FULL = 0.84
"""The bars' share of a group's width."""
BAR = 0.92
"""A bar's share of its place."""
TEXT, HIGH = 0.056, 0.083
"""Inches of a letter above the bars, and of its height."""
AWAY, FAR = 0.025, 0.16
"""Inches from a bar to its text, and how far a line may move it away."""
MARK, LINE = 0.04, 0.008
"""Half the height of the paper's mark, and of a line, in inches."""
TICK = 0.2
"""Inches between the numbers of a logarithmic axis, at least."""
NEAR = 1.1
"""How far an axis of ratios goes on both sides of 1, at least."""
BREAK = 0.9, 0.03
"""Where a cut bar is broken, and how slanted, as shares of its height."""
LIGHT = 0.4
"""From this luminance on, a text in a bar is dark."""
WHISKER: dict[str, Any] = {"fmt": "none", "elinewidth": 0.8, "capsize": 1.5, "zorder": 3}


def bars(place: Place) -> None:
    """A group of bars for each x, a colour for each series; or a bar of all series, if they are parts of a whole."""
    axes, panel, piece = place.axes, place.piece.panel, place.piece
    top = cut(place.chart, place.panels)
    _limit(place, top)
    floors = [0.0] * len(place.names)
    for index, series in enumerate(panel.series):
        places = _across(place, index)
        _draw(place, series, places, floors, top)
        if place.chart.stacked:
            floors = [low + value for low, value in zip(floors, _piece(place, series.values), strict=True)]
        small = _width(place) * place.inches[0] / len(place.names) < 0.15
        plot_paper.marks(axes, places, series.paper[piece.start : piece.stop], small)
        plot_paper.bounds(axes, series, place.look.colour(series))
    plot_paper.spreads(axes, panel, dict(zip(place.names, range(len(place.names)), strict=True)))
    axes.set_xlim(-0.55, len(place.names) - 0.45)
    axes.set_xticks(range(len(place.names)), place.names)
    axes.tick_params(axis="x", length=0)
    place.name_places()


def _piece(place: Place, values: Sequence[Any]) -> Sequence[Any]:
    return values[place.piece.start : place.piece.stop]


def _width(place: Place) -> float:
    """The width of a bar's place, where a group's is 1."""
    return FULL / (1 if place.chart.stacked else len(place.piece.panel.series))


def _across(place: Place, index: int) -> list[float]:
    """The middles of the bars of a series."""
    middle = 0 if place.chart.stacked else index - (len(place.piece.panel.series) - 1) / 2
    return [number_ + middle * _width(place) for number_ in range(len(place.names))]


def _draw(place: Place, series: Series, across: Sequence[float], floors: Sequence[float], top: float | None) -> None:
    """The bars with their whiskers; a bar beyond the axis' end is broken. A ratio on a logarithmic axis begins at 1."""
    values, width = _piece(place, series.values), _width(place) * BAR
    begin = 1.0 if _of_ratios(place) else 0.0
    drawn = [(value if top is None else min(value, top)) - begin for value in values]
    lows = [low + begin for low in floors]
    place.axes.bar(across, drawn, width, lows, **place.look.face(series))
    for x, value in zip(across, values, strict=True):
        if top is not None and value > top:
            at, slant = BREAK
            ends = [(at - slant) * top, (at + slant) * top]
            place.axes.plot([x - width * 0.65, x + width * 0.65], ends, color=back(), linewidth=2, gid="break")
    shown = [
        None if top is not None and value > top else interval
        for value, interval in zip(values, _piece(place, series.whiskers), strict=False)
    ]
    whiskers(place.axes, across, values, shown, ink())


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


def _of_ratios(place: Place) -> bool:
    """Whether the axis is logarithmic around 1."""
    return place.chart.log_y and all(panel.normalised for panel in place.panels)


def _limit(place: Place, top: float | None) -> None:
    """The ends of the y axis: zero, or on a logarithmic one a round number, and the highest bar with its text."""
    chart, axes = place.chart, place.axes
    high = _highest(place) if top is None else top
    share = min(0.5, _length(place) / place.inches[1])
    if not chart.log_y:
        axes.set_ylim(0, high / (1 - share))
        return
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())
    if _of_ratios(place):
        share = min(share, 0.25)
        low, high = min(1 / NEAR, extent(chart, place.piece.panel)[0]), max(NEAR, high)
        beyond = (high / low) ** (share / (1 - 2 * share))
        axes.set_ylim(low / beyond, high * beyond)
        axes.set_yticks(ratios(*axes.get_ylim(), max(2, int(place.inches[1] / TICK))))
    else:
        low = powers(chart, place.piece.panel)[0]
        axes.set_ylim(low, low * (high / low) ** (1 / (1 - share)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _length(place: Place) -> float:
    """Inches of the longest text above the bars, upwards."""
    if place.chart.stacked:
        return AWAY
    texts = [text for panel in place.panels for series in panel.series for text in _above(place.chart, series)]
    return (TEXT * max(map(len, texts)) if _turned(place) else HIGH) + 2 * AWAY


def _highest(place: Place) -> float:
    """The highest of what is drawn, at least 1 where values are relative to 1."""
    found = [1.0 if any(panel.normalised for panel in place.panels) else 0.0]
    for panel in place.panels:
        found += [value for spread in panel.spreads for value in spread.values]
        if place.chart.stacked:
            found += map(sum, zip(*(series.values for series in panel.series), strict=True))
        for series in panel.series:
            found += [*series.values, *series.bounds, *(value for value in series.paper if value is not None)]
            found += [high for interval in series.whiskers if interval is not None for high in interval]
    return max(found) or 1.0


@dataclass(frozen=True)
class _Bar:
    """A bar that is drawn, in inches, and the text that it should have."""

    series: Series
    index: int
    """Its place."""
    text: str
    at: tuple[float, float]
    """The end that its text is at, in values."""
    box: Box
    end: float
    """The upper end of its whisker, or of itself."""
    down: bool
    """Whether it goes down from 1."""


def write_values(place: Place) -> bool:
    """Above each bar its note or, without notes, its value: where it fits, or in the bar; whether all are written."""
    if place.chart.stacked:
        return True
    every = _every(place)
    lines, marks, frame = _lines(place), _marks(place), frame_of(place.axes).grown(AWAY)
    taken = [*(bar.box for bar in every), *marks, *lines]
    found: dict[int, Box] = {}
    for number_ in _order(place, every):
        bar = every[number_]
        spot = free(_beside(bar, _turned(place), lines), taken, frame) or free(
            _inside(bar, _turned(place)), [*marks, *lines], bar.box
        )
        if spot is not None:
            found[number_] = spot
            taken.append(spot)
    for number_ in sorted(found):
        _write(place, every[number_], found[number_])
    return len(found) == sum(bool(bar.text) for bar in every)


def _every(place: Place) -> list[_Bar]:
    """The bars of a plot that have a text."""
    found, piece, top = [], place.piece, cut(place.chart, place.panels)
    begin = 1.0 if _of_ratios(place) else place.axes.get_ylim()[0]
    half = _width(place) * BAR / 2
    for number_, series in enumerate(piece.panel.series):
        texts = _above(place.chart, series)
        for index, x in enumerate(_across(place, number_), piece.start):
            value = series.values[index] if top is None else min(series.values[index], top)
            low, high = sorted((begin, max(value, place.axes.get_ylim()[0])))
            box = Box(*place_of(place.axes, x - half, low), *place_of(place.axes, x + half, high))
            whisker = series.whiskers[index] if series.whiskers else None
            end = value if whisker is None or value == top else max(value, whisker[1])
            down = value < begin
            at = (x, low if down else max(end, low))
            found.append(_Bar(series, index, texts[index], at, box, place_of(place.axes, *at)[1], down))
    return found


def _order(place: Place, every: Sequence[_Bar]) -> list[int]:
    """The bars from those of means and extremes on; no others if bars are too thin for their values."""
    named = [number_ for number_, bar in enumerate(every) if bar.text]
    by_value = sorted(named, key=lambda each: every[each].series.values[every[each].index])
    means = [each for each in named if place.chart.places[every[each].index] == MEAN]
    first = list(dict.fromkeys([*means, *by_value[-1:], *by_value[:1]]))
    return list(dict.fromkeys([*first, *named])) if place.layout.readable else first


def _beside(bar: _Bar, turned: bool, lines: Sequence[Box]) -> list[Box]:
    """Where a text may be: at the bar's end, or just beyond a line that would cross it there."""
    wide, high = _size(bar.text, turned)
    middle = bar.box.middle[0]
    ends = [bar.end, *(line.high for line in lines if bar.end <= line.high <= bar.end + FAR and not bar.down)]
    return [around(middle, end + (-1 if bar.down else 1) * (AWAY + high / 2), wide, high) for end in ends]


def _inside(bar: _Bar, turned: bool) -> list[Box]:
    """Where a text may be in its bar: at its upper end."""
    wide, high = _size(bar.text, turned)
    return [] if bar.down else [around(bar.box.middle[0], bar.box.high - AWAY - high / 2, wide, high)]


def _size(text: str, turned: bool) -> tuple[float, float]:
    return (HIGH, TEXT * len(text)) if turned else (TEXT * len(text), HIGH)


def _lines(place: Place) -> list[Box]:
    """The lines across a plot: at 1, and at the paper's extremes."""
    panel, frame = place.piece.panel, frame_of(place.axes)
    values = [bound for series in panel.series for bound in series.bounds]
    values += [1.0] if place.chart.has_unit(panel) else []
    heights = [place_of(place.axes, 0, value)[1] for value in values]
    return [Box(frame.left, height - LINE, frame.right, height + LINE) for height in heights]


def _marks(place: Place) -> list[Box]:
    """The paper's diamonds, and its upright lines."""
    found, piece, axes = [], place.piece, place.axes
    for number_, series in enumerate(piece.panel.series):
        for x, value in zip(_across(place, number_), _piece(place, series.paper), strict=True):
            found += [] if value is None else [around(*place_of(axes, x, value), 2 * MARK, 2 * MARK)]
        found += [
            around(frame_of(axes).right, place_of(axes, 0, each)[1], 2 * MARK, 2 * MARK) for each in series.bounds
        ]
    for spread in piece.panel.spreads:
        if spread.place in place.names:
            x = place.names.index(spread.place)
            ends = [place_of(axes, x, value) for value in (min(spread.values), max(spread.values))]
            found.append(Box(*ends[0], *ends[1]).grown(MARK))
    return found


def _write(place: Place, bar: _Bar, box: Box) -> None:
    """A text at its box; in a bar in a colour that stands out from it, above all else with a rim."""
    inside = not bar.down and box.high < bar.end
    face = place.look.colour(bar.series)
    colour = (INK if luminance(face) > LIGHT else WHITE) if inside else ink()
    place.axes.annotate(
        bar.text,
        bar.at,
        xytext=(0, POINTS * (box.low - bar.end)),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=TINY,
        color=colour,
        zorder=5,
        path_effects=[withStroke(linewidth=1.5, foreground=face if inside else back())],
        rotation=90 if _turned(place) else 0,
    )


def _above(chart: Chart, series: Series) -> list[str]:
    if chart.note is not None:
        return [note or "" for note in series.notes]
    return [number(value) for value in series.values]


def _turned(place: Place) -> bool:
    """Whether a text above the bars is wider than a bar, so that all are turned."""
    texts = [text for series in place.piece.panel.series for text in _above(place.chart, series)]
    room = _width(place) * place.inches[0] / len(place.names)
    return not place.layout.readable or TEXT * max(map(len, texts)) > room
