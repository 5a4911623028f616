"""Which part of a chart is drawn where: rows, and what is shown, so that the picture is not higher than it may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from strandline.views.chart import Chart, Kind, Panel, crowded
from strandline.views.plot_size import Style, Width

BAR, GAP = 0.085, 0.08
"""Inches of a bar, below which its value cannot be read, and of the space between groups."""
THIN, THIN_GAP = 0.0245, 0.04
"""The same of bars that are told by their height alone."""
SIDE = 0.5
"""Inches of the labels of the y axis."""
LINE_PANELS = {Width.COLUMN: 2, Width.TEXT: 3}
"""Panels of lines side by side."""
INNER = {Width.COLUMN: (1.55, 1.25, 0.85), Width.TEXT: (2.55, 1.55, 1.1)}
"""Inches between the axes of a single plot, of a single row, and of one of several rows."""
LOW, LOWEST, STRIP = 0.6, 0.32, 0.24
"""The least such inches of bars with values, of others, and of panels of bars below each other."""
POINTS = {Width.COLUMN: 1.25, Width.TEXT: 2.85}
LEAST_POINTS = 0.7
"""Inches between the axes of a scatter plot, whose points have names beside them, and the least of these."""
CELL, CELL_HIGH = 0.265, 0.125
"""Inches of a cell with a number."""
SMALL_CELL, LOW_CELL = 0.095, 0.084
"""The least inches of a cell, to the right and upwards: of a line of its names."""
APART = 0.3
"""The space before cells of bounds, where a cell is 1."""
LETTER, LINE = 0.056, 0.115
"""Inches of a letter of a name, and of its height with some space."""
SMALLER = 6 / 7
"""The size of names beside small cells, of that of others."""
TITLE_LETTER, TITLE_LINE, EDGE = 0.062, 0.15, 0.06
"""Of a panel's title, and of an axis'; and what is around the axes."""
TURN, SLANT = 30, 0.5
"""Degrees by which names are turned that do not fit, and the sine of that."""


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
    """A chart as it is drawn: the pieces in their rows, and the inches between the axes of a row."""

    chart: Chart
    """What is drawn: cells in place of bars that would be too thin."""
    width: Width
    pieces: tuple[Piece, ...]
    columns: int
    inner: float
    least: float
    """What `inner` is at least, so that the plots can be read."""
    readable: bool = True
    """Whether each value has room for its number."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return -(-len(self.pieces) // self.columns)

    @property
    def whole(self) -> bool:
        """Whether all plots have the same places, which the lowest name."""
        if self.chart.kind is Kind.SCATTER:
            return False
        return all(piece.first and piece.stop == len(self.chart.places) for piece in self.pieces)

    @property
    def outer(self) -> float:
        """Inches of a plot with the labels of its y axis."""
        return self.width.inches / self.columns

    @property
    def across(self) -> float:
        """Inches between the axes of a plot, to the right."""
        if self.chart.kind is Kind.GRID:
            return (self.width.inches - names_beside(self.chart, self.readable)) / self.columns - EDGE
        return self.outer - SIDE

    @property
    def turn(self) -> int:
        """Degrees by which the names of places are turned."""
        piece = self.pieces[0]
        if self.chart.kind in (Kind.SCATTER, Kind.CDF) or (self.chart.kind is Kind.LINES and self.chart.numbers):
            return 0
        return turned(self.chart.places[piece.start : piece.stop], self.across)

    def title(self, text: str) -> list[str]:
        """The title of a panel in lines."""
        return wrap(text, max(8, int((self.across + EDGE) / TITLE_LETTER)))

    @property
    def letters(self) -> int:
        """The letters of a line of the title below the axes."""
        return max(12, int((self.across + EDGE) / TITLE_LETTER))

    def lowest(self, number: int) -> bool:
        """Whether a piece has none below it."""
        return number + self.columns >= len(self.pieces)

    @property
    def around(self) -> float:
        """Inches of all rows beside what is between the axes."""
        titles = max((len(self.title(piece.panel.title)) for piece in self.pieces if piece.panel.title), default=0)
        is_scatter = self.chart.kind is Kind.SCATTER
        names = 0.0 if is_scatter else max(map(len, self.chart.places)) * LETTER
        below = {0: LINE, TURN: SLANT * names + LINE}.get(self.turn, names) + EDGE
        under = len(wrap(self.chart.x_title, self.letters))
        # The lowest plot of a column may be above the lowest row.
        ends = min(self.rows, 1 + (len(self.pieces) % self.columns > 0)) if self.whole else self.rows
        return self.rows * (TITLE_LINE * titles + EDGE) + ends * below + TITLE_LINE * under + EDGE

    @property
    def height(self) -> float:
        """Inches of all rows."""
        return self.around + self.rows * self.inner

    def fitted(self, room: float, fill: bool) -> Layout | None:
        """The layout in a height, and filling it if asked to; `None` if it does not fit."""
        inner = (room - self.around) / self.rows
        if inner < self.least - 1e-9:
            return None
        return self if inner > self.inner and not fill else replace(self, inner=inner)


def turned(names: Sequence[str], inches: float) -> int:
    """Degrees by which names are turned, so that those beside each other in a width do not meet."""
    each = inches / len(names)
    if LETTER * max(map(len, names)) < 0.95 * each:
        return 0
    return TURN if each * SLANT > LINE * 0.9 else 90


def names_beside(chart: Chart, readable: bool) -> float:
    """Inches of the names of series beside cells, which are smaller beside small cells."""
    return LETTER * (1 if readable else SMALLER) * max(map(len, chart.labels)) + 5 * EDGE


def layouts(chart: Chart, style: Style) -> Iterator[Layout]:
    """How a chart can be drawn, what shows most first."""
    if chart.kind is Kind.BARS:
        yield from _bars(chart, style.width)
    elif chart.kind is Kind.CDF or (chart.kind is Kind.LINES and not _crowded(chart)):
        yield from _lines(chart, style.width)
    elif chart.kind is Kind.SCATTER:
        columns = min(len(chart.panels), {Width.COLUMN: 1, Width.TEXT: 2}[style.width])
        yield Layout(chart, style.width, _panels(chart), columns, POINTS[style.width], LEAST_POINTS)
    # Cells of several quantities would need a key each.
    if chart.kind is Kind.GRID or (
        chart.kind in (Kind.BARS, Kind.LINES) and (chart.shared_y or _crowded(chart)) and not chart.stacked
    ):
        yield from _cells(chart, style.width)


def _crowded(chart: Chart) -> bool:
    return crowded(len(chart.labels), chart.ordered, bool(chart.dashes))


def _panels(chart: Chart) -> tuple[Piece, ...]:
    return tuple(Piece(panel, 0, len(chart.places)) for panel in chart.panels)


def _cut(chart: Chart, fit: int) -> tuple[Piece, ...]:
    """The panels in equal pieces of at most `fit` places."""
    places = len(chart.places)
    step = -(-places // -(-places // fit))
    starts = range(0, places, step)
    return tuple(Piece(panel, start, min(start + step, places)) for panel in chart.panels for start in starts)


def _inner(pieces: int, columns: int, width: Width) -> float:
    alone, beside, among = INNER[width]
    return alone if pieces == 1 else beside if pieces <= columns else among


def _bars(chart: Chart, width: Width) -> Iterator[Layout]:
    """As many panels in a row as can be read, with values; then thin bars without."""
    beside = 1 if chart.stacked else max(len(panel.series) for panel in chart.panels)
    for readable, bar, gap, least in ((True, BAR, GAP, LOW), (False, THIN, THIN_GAP, LOWEST)):
        group = bar * beside + gap
        fit = max(1, int((width.inches - SIDE) / group))
        wide = SIDE + group * len(chart.places)
        columns = max(1, min(len(chart.panels), int(width.inches / wide)))
        even = -(-len(chart.panels) // -(-len(chart.panels) // columns))
        pieces = _panels(chart) if fit >= len(chart.places) else _cut(chart, fit)
        yield Layout(chart, width, pieces, even, _inner(len(pieces), even, width), least, readable)
    if even > 1:
        yield Layout(chart, width, pieces, 1, _inner(len(pieces), 1, width), STRIP, readable=False)


def _lines(chart: Chart, width: Width) -> Iterator[Layout]:
    pieces = _panels(chart)
    columns = line_columns(len(pieces), width)
    for more in range(columns, min(len(pieces), columns + 1) + 1):
        yield Layout(chart, width, pieces, more, _inner(len(pieces), more, width), LOWEST)


def line_columns(panels: int, width: Width) -> int:
    """The number of panels of lines side by side: four make a square, and few fill a column each."""
    most = LINE_PANELS[width]
    if panels == 4 or panels == 2:
        return 2
    return 1 if panels < most else most


def _cells(chart: Chart, width: Width) -> Iterator[Layout]:
    """A cell a value: with numbers, in pieces if need be; then without, panels side by side if they fit."""
    as_cells = replace(chart, kind=Kind.GRID)
    places = len(chart.places)
    rows = max(len(panel.series) for panel in chart.panels) + (
        APART if any(series.bound for series in chart.every) else 0
    )
    for readable, cell in ((True, CELL), (False, SMALL_CELL)):
        room = width.inches - names_beside(chart, readable)
        columns = max(1, min(len(chart.panels), int(room / (cell * places + EDGE))))
        even = -(-len(chart.panels) // -(-len(chart.panels) // columns))
        fit = int((room - EDGE) / cell)
        pieces = _panels(chart) if fit >= places else _cut(chart, max(1, fit))
        yield Layout(as_cells, width, pieces, even, CELL_HIGH * rows, LOW_CELL * rows, readable)
