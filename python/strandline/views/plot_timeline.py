"""Draws timelines with matplotlib: bars over the cycles of a run, a panel a run."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from strandline.views.palette import COLOURS
from strandline.views.plot_size import NoPictureError, Style
from strandline.views.plot_style import SMALL, TINY, faint
from strandline.views.plot_words import Words
from strandline.views.timeline_chart import Bar, Panel, Row, TimelineChart, What

# The layout is in inches, downwards from the top.
LINE, THIN, BETWEEN = 0.15, 0.04, 0.08
"""A line of bars, the thinnest that is one, and the space between rows."""
TITLE, TITLE_LINE, TITLE_LETTER = 0.1, 0.13, 0.056
"""Above a panel, for each line of its title, and a letter of it."""
AXIS = 0.42
"""Below the last panel of an axis: numbers and title."""
LEFT, RIGHT = 0.95, 0.2
"""Beside the panels: the labels of rows, and the last number's half."""
LEGEND, ENTRY = 0.15, 1.6
"""Height of a line of the legend, and width of an entry."""
LETTER, HIGH = 0.07, 0.1
"""Width of a letter within a bar, and the line from which on it has room for one."""
PALE = 0.35
"""How opaque a bar is that waits."""

LOOKS: dict[What, dict[str, Any]] = {
    What.RUNS: {"facecolor": "#5B6470", "edgecolor": "none"},
    What.LIBRARY: {"facecolor": "#C3C9D1", "edgecolor": "none"},
    What.STALL: {"facecolor": "#F7D9CC", "edgecolor": COLOURS[1], "hatch": "////", "linewidth": 0.6},
    What.FLUSH: {"facecolor": COLOURS[4], "edgecolor": "none"},
    What.WAITS: {"edgecolor": "none", "alpha": PALE},
    What.SENT: {"edgecolor": "none"},
}
HUES = COLOURS[:4]
"""Of epochs, in turn."""


def draw(chart: TimelineChart, style: Style) -> Figure:
    """The chart as matplotlib's figure; a `NoPictureError` if its lines would be too thin."""
    words, inches = Words(chart, style), style.width.inches
    legend = _legend_height(chart, inches)
    around = words.head + words.foot + legend + sum(_height(chart, panel, inches, 0) for panel in chart.panels)
    line = _line(chart, around, style)
    height = around + line * _lines(chart)
    figure = Figure(figsize=(inches, height))
    FigureCanvasAgg(figure)
    ends = {panel.axis: max(each.end for each in chart.panels if each.axis == panel.axis) for panel in chart.panels}
    top = words.head
    for panel in chart.panels:
        tall, title = _tall(panel, line), _title(panel, inches)
        above = TITLE + TITLE_LINE * len(title)
        box = (LEFT / inches, 1 - (top + above + tall) / height, 1 - (LEFT + RIGHT) / inches, tall / height)
        axes = figure.add_axes(box)
        _panel(axes, panel, ends[panel.axis], (inches - LEFT - RIGHT) / ends[panel.axis], line)
        axes.set_title("\n".join(title), loc="left", fontsize=SMALL + 0.5, pad=3)
        if _is_last(chart, panel):
            axes.set_xlabel("Cycle", labelpad=1)
        else:
            axes.tick_params(labelbottom=False)
        top += _height(chart, panel, inches, line)
    _legend(figure, chart, (words.foot + 0.04) / height, inches)
    words.write(figure, height)
    return figure


def _lines(chart: TimelineChart) -> int:
    return sum(len(row.lines) for panel in chart.panels for row in panel.rows)


def _line(chart: TimelineChart, around: float, style: Style) -> float:
    """Inches of a line: less than usual, or what fills the height that is asked for."""
    lines, most = _lines(chart), style.height or style.width.most
    room = (most - around) / max(lines, 1)
    if room < THIN:
        raise NoPictureError(
            f"{lines} lines of bars cannot be read in a picture {style.width.inches:g} inches wide and {most:g} high: "
            f"give --height {ceil(10 * (around + THIN * lines)) / 10:g}, or --width text, or see timeline.html"
        )
    return room if style.height else min(room, LINE)


def _is_last(chart: TimelineChart, panel: Panel) -> bool:
    """Whether it is the lowest of its axis."""
    return [each for each in chart.panels if each.axis == panel.axis][-1] is panel


def _tall(panel: Panel, line: float) -> float:
    lines = sum(len(row.lines) for row in panel.rows)
    return line * lines + BETWEEN * (len(panel.rows) + 1)


def _title(panel: Panel, inches: float) -> list[str]:
    return wrap(panel.title, int((inches - LEFT) / TITLE_LETTER))


def _height(chart: TimelineChart, panel: Panel, inches: float, line: float) -> float:
    above = TITLE + TITLE_LINE * len(_title(panel, inches))
    return above + _tall(panel, line) + (AXIS if _is_last(chart, panel) else 0.1)


def _panel(axes: Axes, panel: Panel, end: int, inches: float, line: float) -> None:
    """A run; `inches` are those of a cycle, and of a line."""
    axes.set(xlim=(0, end), ylim=(_tall(panel, line), 0))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color=faint(), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    ticks, y = [], BETWEEN
    for row in panel.rows:
        ticks.append(y + line * len(row.lines) / 2)
        _row(axes, row, y, inches, line)
        y += line * len(row.lines) + BETWEEN
    axes.set_yticks(ticks, [row.label for row in panel.rows])
    axes.tick_params(axis="y", length=0)


def _row(axes: Axes, row: Row, top: float, inches: float, line: float) -> None:
    for number, bars in enumerate(row.lines):
        for bar in bars:
            _bar(axes, bar, top + line * number, inches, line)


def _bar(axes: Axes, bar: Bar, top: float, inches: float, line: float) -> None:
    look = dict(LOOKS[bar.what])
    if bar.epoch is not None:
        look["facecolor"] = HUES[bar.epoch % len(HUES)]
    axes.broken_barh([(bar.begin, bar.end - bar.begin)], (top + line / 15, line * 13 / 15), **look)
    has_room = line > HIGH and inches * (bar.end - bar.begin) > LETTER * len(str(bar.epoch))
    if bar.what is What.SENT and has_room:
        middle = (bar.begin + bar.end) / 2
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": TINY, "color": "white"}
        axes.text(middle, top + line / 2, str(bar.epoch), **place)


def _met(chart: TimelineChart) -> list[What]:
    """What is drawn, in the order of the legend."""
    met = {bar.what for panel in chart.panels for row in panel.rows for line in row.lines for bar in line}
    return [what for what in LOOKS if what in met]


def _columns(chart: TimelineChart, inches: float) -> int:
    return max(1, min(len(_met(chart)), int(inches / ENTRY)))


def _legend_height(chart: TimelineChart, inches: float) -> float:
    met = _met(chart)
    lines = -(-len(met) // _columns(chart, inches)) if met else 0
    return LEGEND * (lines + (What.SENT in met) + 0.5)


def _legend(figure: Figure, chart: TimelineChart, y: float, inches: float) -> None:
    met = _met(chart)
    handles: Sequence[Artist] = [Patch(**{"facecolor": HUES[0], **LOOKS[what]}, label=what.value) for what in met]
    title = "Colour and number: the epoch of the core" if What.SENT in met else None
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, y),
        ncols=_columns(chart, inches),
        frameon=False,
        fontsize=SMALL,
        title=title,
        title_fontsize=SMALL,
        borderaxespad=0,
    )
