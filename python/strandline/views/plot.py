"""Draws charts with matplotlib: direct labels, colours for colour-blind readers, the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import Bbox

from strandline.views import plot_bars, plot_grid, plot_lines, plot_scatter
from strandline.views.chart import Chart, Kind
from strandline.views.plot_layout import TITLE_LETTER, Layout, layouts
from strandline.views.plot_legend import Legends
from strandline.views.plot_place import Place
from strandline.views.plot_size import NoPictureError, Style, Width
from strandline.views.plot_style import BODY, Look, faint, ink
from strandline.views.plot_words import Words

DECIMALS = 5
"""Of positions, as shares of a picture."""
UNIT: Mapping[str, Any] = {"linewidth": 0.8, "zorder": 1.5, "gid": "unit"}
"""The line at 1 of normalised values."""

DRAW: Mapping[Kind, Callable[[Place], None]] = {
    Kind.LINES: plot_lines.lines,
    Kind.BARS: plot_bars.bars,
    Kind.CDF: plot_lines.cdf,
    Kind.GRID: plot_grid.grid,
    Kind.SCATTER: plot_scatter.scatter,
}
NAME: Mapping[Kind, Callable[[Place], bool]] = {
    Kind.LINES: plot_lines.name_numbers,
    Kind.BARS: plot_bars.write_values,
    Kind.SCATTER: plot_scatter.name_points,
}
"""What is written once the plots have their places, and whether all of it has room."""
LEFT_OUT: Mapping[Kind, str] = {
    Kind.BARS: "Numbers: of means and extremes, where they fit",
    Kind.SCATTER: "Grey points: no room for their names",
}
"""What a picture says that leaves out words."""


@dataclass(frozen=True)
class _Fitted:
    """A chart in a height: its plots, and what is around them."""

    layout: Layout
    words: Words
    legends: Legends

    @property
    def height(self) -> float:
        """Inches of the picture."""
        return self.layout.height + self.beside

    @property
    def beside(self) -> float:
        """Inches of words and legends."""
        return self.words.head + self.words.foot + self.legends.height


def draw(chart: Chart, style: Style) -> Figure:
    """The chart as matplotlib's figure; a `NoPictureError` if no picture of this size can show it."""
    fitted = _fitted(chart, style)
    layout, words, legends = fitted.layout, fitted.words, fitted.legends
    width, height = style.width.inches, style.height or fitted.height
    # The part between the words above and below: as a row among theirs, the solver may give it the whole picture.
    between = 0.0, words.foot / height, 1.0, 1 - (words.head + words.foot) / height
    room = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, rect=between)
    figure = Figure(figsize=(width, height), layout=room)
    FigureCanvasAgg(figure)
    body = figure.add_subfigure(GridSpec(1, 1, figure=figure)[0])
    places = _places(body, layout, legends.look)
    for place in places:
        _frame(place)
        DRAW[layout.chart.kind](place)
    shared = _titles(body, layout)
    legends.add(body)
    _freeze(figure, body, shared)
    name = NAME.get(layout.chart.kind)
    named = [name is None or name(place) for place in places]
    if all(named):
        words = replace(words, chart=replace(layout.chart, remarks=chart.remarks))
    words.write(figure, height)
    return figure


def _fitted(chart: Chart, style: Style) -> _Fitted:
    """The layout that shows most in the height that the picture may have."""
    styles = [style] if style.title is not None else [style, replace(style, title=False)]
    tried = [_tried(layout, each) for each in styles for layout in layouts(chart, each)]
    # Cells in place of bars or lines show no numbers of the paper: rather no title.
    tried.sort(key=lambda found: found.layout.chart.kind is not chart.kind)
    most = style.height or style.width.most
    for found in tried:
        layout = found.layout.fitted(most - found.beside, fill=style.height is not None)
        if layout is not None:
            return replace(found, layout=layout)
    least = min(found.beside + found.layout.around + found.layout.rows * found.layout.least for found in tried)
    values = sum(len(series.values) for series in chart.every)
    raise NoPictureError(
        f"{values:,} values cannot be read in a picture {style.width.inches:g} inches wide and {most:g} high: give "
        f"--height {ceil(10 * least) / 10:g}{' or --width text' if style.width is Width.COLUMN else ''}, "
        "or read the table"
    )


def _tried(layout: Layout, style: Style) -> _Fitted:
    shown = replace(layout, chart=_explained(layout))
    return _Fitted(shown, Words(shown.chart, style), Legends(shown, Look(shown.chart, style.theme)))


def _explained(layout: Layout) -> Chart:
    """The chart with room for the remark on what is left out."""
    chart = layout.chart
    crowded = chart.kind is Kind.SCATTER or not (layout.readable or chart.stacked)
    told = LEFT_OUT.get(chart.kind) if crowded else None
    return replace(chart, remarks=(*chart.remarks, told)) if told else chart


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


def _places(figure: SubFigure, layout: Layout, look: Look) -> list[Place]:
    """The plots. Those of one quantity, and the pieces of a panel, share a scale."""
    chart = layout.chart
    grid = figure.add_gridspec(layout.rows, layout.columns)
    first: dict[int, Axes] = {}
    places = []
    for number, piece in enumerate(layout.pieces):
        scale = 0 if chart.shared_y else chart.panels.index(piece.panel)
        axes = figure.add_subplot(grid[divmod(number, layout.columns)], sharey=first.get(scale))
        first.setdefault(scale, axes)
        lowest, leftmost = layout.lowest(number), number % layout.columns == 0
        places.append(Place(axes, piece, look, layout, lowest, leftmost))
    return places


def _frame(place: Place) -> None:
    axes, piece = place.axes, place.piece
    if piece.panel.title and piece.first:
        axes.set_title("\n".join(place.layout.title(piece.panel.title)), loc="left", fontsize=BODY)
    axes.tick_params(labelleft=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=faint(), linewidth=0.6)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if place.chart.has_unit(piece.panel):
        axes.axhline(1, color=ink(), **UNIT)


def _titles(figure: SubFigure, layout: Layout) -> Text | None:
    """The titles of the axes: that of y once where all plots have the same one, that of x below the lowest plots.

    The title that plots share is returned.
    """
    chart = layout.chart
    titles = {chart.title_of(piece.panel) for piece in layout.pieces}
    room = layout.rows * (layout.inner + 0.2) if len(titles) == 1 else layout.inner + 0.1
    letters = max(6, int(room / TITLE_LETTER))
    letters_x = layout.letters
    for number, axes in enumerate(figure.axes):
        if layout.lowest(number):
            axes.set_xlabel(fill(chart.x_title, letters_x))
    if len(titles) == 1:
        return figure.supylabel(fill(titles.pop(), letters), fontsize=BODY, multialignment="center")
    for axes, piece in zip(figure.axes, layout.pieces, strict=True):
        axes.set_ylabel(fill(chart.title_of(piece.panel), letters), multialignment="center")
    return None
