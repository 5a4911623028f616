"""Sizes of pictures in a paper: widths, rows, and which part of a panel is drawn where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec

from strandline.errors import InputError
from strandline.views.chart import Chart, Kind, Panel


class Width(Enum):
    """The width of a picture, as two-column papers have it."""

    COLUMN = "column"
    TEXT = "text"

    @property
    def inches(self) -> float:
        """One column, or both with the space between them."""
        return {Width.COLUMN: 3.33, Width.TEXT: 7.0}[self]


class Format(Enum):
    """The format of a picture."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


@dataclass(frozen=True)
class Style:
    """What the user says about a picture."""

    formats: tuple[Format, ...] = (Format.SVG, Format.PNG)
    width: Width = Width.TEXT
    title: bool = True


NO_PICTURE = "a picture needs matplotlib: run `pip install 'strandline[plot]'`"


def style(formats: Sequence[str] | None, width: str, title: bool) -> Style:
    """The style that these words say; an `InputError` for a word that is none.

    Without `formats` there are the usual ones, or none where matplotlib is not installed: it is an extra.
    """
    for name in formats or ():
        if name not in (known := [each.value for each in Format]):
            raise InputError(f"`{name}` is no format of a picture: use {', '.join(known)}, or several")
    if width not in (widths := [each.value for each in Width]):
        raise InputError(f"`{width}` is no width of a picture: use {' or '.join(widths)}")
    can_draw = find_spec("matplotlib") is not None
    if formats and not can_draw:
        raise InputError(NO_PICTURE)
    usual = Style.formats if can_draw else ()
    return Style(tuple(map(Format, formats)) if formats else usual, Width(width), title)


BAR, GAP = 0.085, 0.08
"""Inches of a bar, below which its value cannot be read, and of the space between groups."""
AXIS = 0.5
"""Inches of the labels of the y axis."""
LINE_PANELS = {Width.COLUMN: 2, Width.TEXT: 3}
"""Panels of lines side by side."""
ALONE = {Width.COLUMN: 2.2, Width.TEXT: 3.2}
BESIDE = {Width.COLUMN: 1.9, Width.TEXT: 2.2}
AMONG = {Width.COLUMN: 1.5, Width.TEXT: 1.75}
"""Inches of height of a single plot, of a single row, and of one of several rows."""


CELL, CELL_NAMES, CELL_TITLES = (0.27, 0.125), 1.25, 0.5
"""Inches of a cell of a grid to the right and upwards, of the names beside the cells, and of the titles around them."""
POINTS = 3.5
"""Inches of height of a scatter plot, whose points have names beside them."""
NAMED_COLUMNS = {Width.COLUMN: 1, Width.TEXT: 2}
"""Plots side by side of points or lines with a name at each."""
NAME, BELOW = 0.13, 0.75
"""Inches of such a name, and of what is above and below the plot."""
LETTER, TURN = 0.055, 0.5
"""Inches of a letter of a name below the bars, and its share of the height where names are turned."""


@dataclass(frozen=True)
class Piece:
    """A panel, or a part of its places where all of them are too many for one row."""

    panel: Panel
    start: int
    stop: int

    @property
    def first(self) -> bool:
        """Whether it is the panel's first piece."""
        return self.start == 0


@dataclass(frozen=True)
class Layout:
    """The pieces in their rows, and the height of a row in inches."""

    pieces: tuple[Piece, ...]
    columns: int
    row: float

    @property
    def rows(self) -> int:
        """The number of rows."""
        return -(-len(self.pieces) // self.columns)


def layout(chart: Chart, width: Width) -> Layout:
    """Where each panel is drawn."""
    if chart.kind is Kind.GRID:
        return _grid(chart, width)
    pieces, columns = _bars(chart, width) if chart.kind is Kind.BARS else _lines(chart, width)
    row = (ALONE if len(pieces) == 1 else BESIDE if len(pieces) == columns else AMONG)[width]
    if chart.crowded or chart.kind is Kind.SCATTER:
        columns = min(NAMED_COLUMNS[width], len(pieces))
        row = max(row, NAME * len(chart.labels) + BELOW) if chart.crowded else POINTS
    if chart.kind is Kind.BARS and len(pieces) > 1:
        names = chart.places[: pieces[0].stop]
        row += TURN * LETTER * max(map(len, names)) if turns(names, width.inches / columns - AXIS) else 0
    return Layout(tuple(pieces), columns, row)


def _grid(chart: Chart, width: Width) -> Layout:
    """Rows of cells below each other; a panel with too many places for one row of the picture takes several."""
    series = max(len(panel.series) for panel in chart.panels)
    fit = max(1, int((width.inches - CELL_NAMES) / CELL[0]))
    height = CELL[1] * series + TURN * LETTER * max(map(len, chart.places)) + CELL_TITLES
    return Layout(tuple(_cut(chart, fit)), 1, height)


def _cut(chart: Chart, fit: int) -> list[Piece]:
    """The panels in equal pieces of at most `fit` places."""
    places = len(chart.places)
    step = -(-places // -(-places // fit))
    return [
        Piece(panel, start, min(start + step, places)) for panel in chart.panels for start in range(0, places, step)
    ]


def turns(names: Sequence[str], inches: float) -> bool:
    """Whether names below bars are too wide for their space in a plot of a width."""
    return LETTER * max(map(len, names)) * len(names) > 0.95 * inches


def _lines(chart: Chart, width: Width) -> tuple[list[Piece], int]:
    whole = [Piece(panel, 0, len(chart.places)) for panel in chart.panels]
    return whole, line_columns(len(whole), width)


def line_columns(panels: int, width: Width) -> int:
    """The number of panels of lines side by side: four make a square, and few fill a column each."""
    most = LINE_PANELS[width]
    if panels == 4 or panels == 2:
        return 2
    return 1 if panels < most else most


def _bars(chart: Chart, width: Width) -> tuple[list[Piece], int]:
    """As many panels in a row as can be read; a panel that is too wide takes several rows."""
    places = len(chart.places)
    group = BAR * max(len(panel.series) for panel in chart.panels) + GAP
    fit = max(1, int((width.inches - AXIS) / group))
    if places > fit:
        return _cut(chart, fit), 1
    columns = max(1, min(len(chart.panels), int(width.inches / (AXIS + group * places))))
    even = -(-len(chart.panels) // -(-len(chart.panels) // columns))
    return [Piece(panel, 0, places) for panel in chart.panels], even
