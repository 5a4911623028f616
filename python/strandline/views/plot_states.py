"""Draws grids of states with matplotlib: each test's program, the allowed crash states, and the reached ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from textwrap import wrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from strandline.views.palette import COLOURS, mixed
from strandline.views.plot_size import NoPictureError, Style
from strandline.views.plot_style import back, faint, grey, ink
from strandline.views.state_grid import GridPanel, Mark, Row, StateGrid

# The layout is in inches, downwards from the top left.
HEAD, FOOT, EDGE = 0.72, 0.45, 0.2
BETWEEN = 0.3
LEAST = 2.6
"""Width of a panel."""
SHRUNK = 6 / 7
"""How much smaller than here a picture is drawn at most, to fill its width: its smallest letters then have 6 points."""
CELL = 0.125
LINE = 0.135
"""Height of a line of text."""
CHARACTER = 0.068
"""Width of a character of a program, at its size."""
TITLE_CHARACTERS = 13
"""A panel's title, in inches."""
TEXT, SMALL = 8.0, 7.0
"""Points."""

ALLOWED, FORBIDDEN, SHOWN = COLOURS[4], COLOURS[1], COLOURS[2]
BAND = 0.15
"""The share of their colour in the background of the states that a model forbids."""
LEGEND = {
    Mark.ALLOWED: ("s", ALLOWED, ALLOWED),
    Mark.FORBIDDEN: ("x", FORBIDDEN, FORBIDDEN),
    Mark.SHOWN: ("o", SHOWN, SHOWN),
    Mark.NOT_SHOWN: ("o", None, None),
    Mark.VIOLATION: ("D", "#CC0000", "#CC0000"),
}
"""Marker, its face and its edge; hollow without a colour."""


@dataclass(frozen=True)
class Size:
    """Inches that a panel takes."""

    program: float
    labels: float
    width: float
    height: float


Sized = tuple[GridPanel, Size]


def draw(grid: StateGrid, style: Style) -> Figure:
    """The grid as matplotlib's figure."""
    inches, head = style.width.inches, HEAD if style.title is not False else EDGE
    lines = flow([(panel, _size(panel)) for panel in grid.panels], inches / SHRUNK - 2 * EDGE)
    heights = [max(size.height for _, size in line) for line in lines]
    width = max(_width(line) for line in lines) + 2 * EDGE
    height = sum(heights) + BETWEEN * (len(heights) - 1) + head + FOOT
    scale = min(1.0, inches / width)
    if scale < SHRUNK - 0.001 or scale * height > (style.height or inf):
        raise NoPictureError(
            f"the states of these tests cannot be read in a picture {inches:g} inches wide"
            f"{f' and {style.height:g} high' if style.height else ''}: use --width text, or read the table"
        )
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    if style.title is not False:
        _head(axes, grid)
    for number, line in enumerate(lines):
        left, top = EDGE, head + sum(heights[:number]) + BETWEEN * number
        for panel, size in line:
            _panel(axes, panel, size, left, top)
            left += size.width + BETWEEN
    _legend(figure, grid)
    _shrink(figure, scale)
    return figure


def _shrink(figure: Figure, scale: float) -> None:
    """Draws all smaller, text and marks too."""
    width, height = figure.get_figwidth(), figure.get_figheight()
    figure.set_size_inches(scale * width, scale * height)
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_fontsize(scale * float(text.get_fontsize()))
    for line in figure.findobj(Line2D):
        if isinstance(line, Line2D):
            line.set(markersize=scale * line.get_markersize(), linewidth=scale * line.get_linewidth())


def flow(panels: Sequence[Sized], most: float) -> list[list[Sized]]:
    """The panels in rows, filled like words in lines; a row exceeds `most` inches only for a single panel."""
    lines: list[list[Sized]] = [[]]
    for each in panels:
        if lines[-1] and _width([*lines[-1], each]) > most:
            lines.append([])
        lines[-1].append(each)
    return lines


def _width(line: Sequence[Sized]) -> float:
    return sum(size.width for _, size in line) + BETWEEN * (len(line) - 1)


def _size(panel: GridPanel) -> Size:
    program = CHARACTER * max(map(len, panel.program)) + 0.15
    labels = CHARACTER * max(len(name) for name in (*panel.locations, *(row.label for row in panel.rows))) + 0.1
    width = max(program + labels + CELL * len(panel.states), LEAST)
    below = max(LINE * len(panel.program), _grid_height(panel))
    return Size(program, labels, width, LINE * (len(_title(panel, width)) + 1.6) + below)


def _grid_height(panel: GridPanel) -> float:
    return CELL * (len(panel.locations) + len(panel.rows) + 0.5)


def _title(panel: GridPanel, width: float) -> list[str]:
    return wrap(panel.title, int(width * TITLE_CHARACTERS))


def _head(axes: Axes, grid: StateGrid) -> None:
    axes.text(EDGE, 0.14, grid.title, fontsize=9, fontweight="bold", va="top")
    columns = "a column is a state of memory after a crash; a row is a model's verdict, or what a design left"
    axes.text(EDGE, 0.38, f"{grid.source}. In each grid {columns}", fontsize=SMALL, color=grey(), va="top")


def _panel(axes: Axes, panel: GridPanel, size: Size, left: float, top: float) -> None:
    for line in _title(panel, size.width):
        axes.text(left, top, line, fontsize=TEXT + 0.5, fontweight="bold", va="top")
        top += LINE
    top += 0.3 * LINE
    for number, line in enumerate(panel.program):
        y = top + LINE * (number + 0.5)
        axes.text(left, y, line, fontsize=TEXT, family="DejaVu Sans Mono", va="center", parse_math=False)
    _grid(axes, panel, left + size.program + size.labels, top)
    below = top + max(LINE * len(panel.program), _grid_height(panel)) + 0.8 * LINE
    condition: dict[str, Any] = {"fontsize": SMALL, "color": grey(), "family": "DejaVu Sans Mono"}
    axes.text(left, below, panel.condition, va="center", parse_math=False, **condition)


def _grid(axes: Axes, panel: GridPanel, left: float, top: float) -> None:
    """The states' values, and below them the rows; a vertical band marks a state that a model forbids."""
    bottom = top + _grid_height(panel)
    for number in range(len(panel.states)):
        if any(row.marks[number] is Mark.FORBIDDEN for row in panel.rows):
            axes.add_patch(
                Rectangle(
                    (left + CELL * number, top), CELL, bottom - top, color=mixed(back(), FORBIDDEN, BAND), linewidth=0
                )
            )
    for number, location in enumerate(panel.locations):
        y = top + CELL * (number + 0.5)
        _label(axes, left, y, location, bold=False)
        for place, state in enumerate(panel.states):
            _value(axes, left + CELL * (place + 0.5), y, state[number])
    for number, row in enumerate(panel.rows):
        y = top + CELL * (len(panel.locations) + number + 1)
        _label(axes, left, y, row.label, bold=row.is_model)
        _marks(axes, row, left, y)


def _label(axes: Axes, right: float, y: float, text: str, bold: bool) -> None:
    weight = "bold" if bold else "normal"
    axes.text(right - 0.05, y, text, fontsize=TEXT, fontweight=weight, ha="right", va="center")


def _value(axes: Axes, x: float, y: float, value: int) -> None:
    colour, weight = (ink(), "bold") if value else (grey(), "normal")
    axes.text(x, y, str(value), fontsize=TEXT, color=colour, fontweight=weight, ha="center", va="center")


def _marks(axes: Axes, row: Row, left: float, y: float) -> None:
    axes.plot([left, left + CELL * len(row.marks)], [y, y], color=faint(), linewidth=0.6, zorder=1)
    for mark, (marker, face, edge) in LEGEND.items():
        places = [left + CELL * (number + 0.5) for number, each in enumerate(row.marks) if each is mark]
        axes.plot(places, [y] * len(places), **_style(marker, face, edge), markersize=6.5, zorder=2)


def _style(marker: str, face: str | None, edge: str | None) -> dict[str, Any]:
    return {"linestyle": "", "marker": marker, "markerfacecolor": face or back(), "markeredgecolor": edge or ink()}


def _legend(figure: Figure, grid: StateGrid) -> None:
    met = {mark for panel in grid.panels for row in panel.rows for mark in row.marks}
    handles: Sequence[Line2D] = [
        Line2D([], [], **_style(marker, face, edge), label=mark.value)
        for mark, (marker, face, edge) in LEGEND.items()
        if mark in met
    ]
    figure.legend(handles=handles, loc="lower center", ncols=len(LEGEND), frameon=False, fontsize=TEXT)
