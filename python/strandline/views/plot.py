"""Draws charts with matplotlib: direct labels, colours for colour-blind readers, the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from strandline.views import plot_bars, plot_grid, plot_lines, plot_scatter
from strandline.views.chart import Chart, Kind
from strandline.views.palette import INK
from strandline.views.plot_legend import Legends
from strandline.views.plot_place import WIDE, Place
from strandline.views.plot_size import Layout, Style, layout
from strandline.views.plot_style import BODY, FAINT, Look
from strandline.views.plot_words import Words

DECIMALS = 5
"""Of positions, as shares of a picture."""
LETTER = 0.062
"""Inches of a letter of an axis' title."""
OUTSIDE = 0.55
"""Inches of a row that ticks and titles take, as far as the length of an axis' title depends on it."""
UNIT: dict[str, Any] = {"color": INK, "linewidth": 0.8, "zorder": 1.5, "gid": "unit"}
"""The line at 1 of normalised values."""

DRAW: Mapping[Kind, Callable[[Place], None]] = {
    Kind.LINES: plot_lines.lines,
    Kind.BARS: plot_bars.bars,
    Kind.CDF: plot_lines.cdf,
    Kind.GRID: plot_grid.grid,
    Kind.SCATTER: plot_scatter.scatter,
}


def draw(chart: Chart, style: Style) -> Figure:
    """The chart as matplotlib's figure."""
    parts = layout(chart, style.width)
    look, words = Look(chart), Words(chart, style)
    legends = Legends(chart, look, style.width.inches)
    height = parts.rows * parts.row + words.head + words.foot + legends.height
    # The part between the words above and below: as a row among theirs, the solver may give it the whole picture.
    between = 0.0, words.foot / height, 1.0, 1 - (words.head + words.foot) / height
    room = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, rect=between)
    figure = Figure(figsize=(style.width.inches, height), layout=room)
    FigureCanvasAgg(figure)
    body = figure.add_subfigure(GridSpec(1, 1, figure=figure)[0])
    places = _places(body, chart, parts, look)
    for place in places:
        _frame(place)
        DRAW[chart.kind](place)
    shared = _titles(body, chart, parts)
    words.write(figure, height)
    legends.add(body)
    _freeze(figure, body, shared)
    if chart.kind is Kind.SCATTER:
        for place in places:
            plot_scatter.name_points(place)
    return figure


def _freeze(figure: Figure, body: SubFigure, shared: Text | None) -> None:
    """Lays the plots out once, for all formats, and rounds: the solver's last bits differ from run to run."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    body.bbox_relative.set_points(body.bbox_relative.get_points().round(DECIMALS))
    for axes in figure.axes:
        x, y, width, height = axes.get_position().bounds
        rounded = (round(each, DECIMALS) for each in (x, y, width, height))
        axes.set_position(Bbox.from_bounds(*rounded))
    if shared is not None:
        # Beside the plots: the solver puts it in the middle of what also holds legends and names below them.
        places = Bbox.union([axes.get_position() for axes in figure.axes])
        shared.set_y(round((places.y0 + places.y1) / 2, DECIMALS))


def _places(figure: SubFigure, chart: Chart, parts: Layout, look: Look) -> list[Place]:
    """The plots. Those of one quantity, and the pieces of a panel, share a scale."""
    grid = figure.add_gridspec(parts.rows, parts.columns)
    first: dict[int, Axes] = {}
    width = figure.bbox.width / figure.get_dpi()
    places = []
    for number, piece in enumerate(parts.pieces):
        scale = 0 if chart.shared_y else chart.panels.index(piece.panel)
        axes = figure.add_subplot(grid[divmod(number, parts.columns)], sharey=first.get(scale))
        first.setdefault(scale, axes)
        outer = width / parts.columns, parts.row
        places.append(Place(axes, chart, piece, look, outer))
    return places


def _frame(place: Place) -> None:
    axes, piece = place.axes, place.piece
    if piece.panel.title and piece.first:
        axes.set_title(fill(piece.panel.title, int(place.inches[0] / LETTER)), loc="left", fontsize=BODY)
    axes.tick_params(labelleft=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    if place.chart.has_unit(piece.panel):
        axes.axhline(1, **UNIT)


def _titles(figure: SubFigure, chart: Chart, parts: Layout) -> Text | None:
    """The titles of the axes: that of y once where all plots have the same one, that of x below the lowest plots.

    The title that plots share is returned.
    """
    titles = {chart.title_of(piece.panel) for piece in parts.pieces}
    room = parts.rows * parts.row if len(titles) == 1 else parts.row
    letters = int((room - OUTSIDE) / LETTER)
    letters_x = int((figure.bbox.width / figure.get_dpi() / parts.columns - WIDE) / LETTER)
    for axes in figure.axes[-parts.columns :]:
        axes.set_xlabel(fill(chart.x_title, letters_x))
    if len(titles) == 1:
        return figure.supylabel(fill(titles.pop(), letters), fontsize=BODY, multialignment="center")
    for axes, piece in zip(figure.axes, parts.pieces, strict=True):
        axes.set_ylabel(fill(chart.title_of(piece.panel), letters), multialignment="center")
    return None
