"""Draws charts with matplotlib: direct labels, colours for colour-blind readers, the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from strandline.report import plot_bars, plot_lines, plot_paper
from strandline.report.chart import Chart, Kind, Panel
from strandline.report.plot_style import FAINT, INK, RC, Look

HEAD = 0.62
"""Inches above the plots for title and source."""
SINGLE, WIDE, SMALL = (8.0, 4.2), (11.0, 4.2), (5.2, 3.5)
"""Inches of a single plot, of one with many bars, and of each of several panels."""
MANY_BARS = 20
LONG = 44
"""Characters in a line of the y axis' title."""
LEGEND_MARK, LEGEND_LETTER = 0.55, 0.066
"""Inches of a legend entry's mark with its space, and of a letter."""

DRAW: Mapping[Kind, Callable[[Axes, Chart, Panel, Look], None]] = {
    Kind.LINES: plot_lines.lines,
    Kind.BARS: plot_bars.bars,
    Kind.CDF: plot_lines.cdf,
}


def save(chart: Chart, folder: Path) -> None:
    """Writes `plot.svg` and `plot.png`."""
    with matplotlib.rc_context(RC):
        figure = draw(chart)
        figure.savefig(folder / "plot.svg", metadata={"Date": None})
        figure.savefig(folder / "plot.png", dpi=160)


def draw(chart: Chart) -> Figure:
    """The chart as matplotlib's figure."""
    rows, columns = grid(len(chart.panels))
    width, height = _panel_size(chart)
    height = rows * height + HEAD
    room = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - HEAD / height), w_pad=0.1, h_pad=0.08)
    figure = Figure(figsize=(columns * width, height), layout=room)
    FigureCanvasAgg(figure)
    look = Look(chart)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=chart.shared_y)
    for number, (place, panel) in enumerate(zip(axes.flat, chart.panels, strict=False)):
        _frame(place, chart, panel, first=number % columns == 0 or not chart.shared_y)
        DRAW[chart.kind](place, chart, panel, look)
    for place in list(axes.flat)[len(chart.panels) :]:
        place.set_visible(False)
    _head(figure, chart, height)
    _legend(figure, chart, look)
    return figure


def grid(panels: int) -> tuple[int, int]:
    """Rows and columns for a number of panels: up to three in a row, four in a square."""
    columns = 2 if panels in (2, 4) else min(panels, 3)
    return -(-panels // columns), columns


def _panel_size(chart: Chart) -> tuple[float, float]:
    if len(chart.panels) > 1:
        return (7.0, SMALL[1]) if chart.kind is Kind.BARS else SMALL
    bars = len(chart.places) * len(chart.panels[0].series)
    return WIDE if chart.kind is Kind.BARS and bars > MANY_BARS else SINGLE


def _frame(axes: Axes, chart: Chart, panel: Panel, first: bool) -> None:
    if panel.title:
        axes.set_title(panel.title, loc="left", fontsize=10, fontweight="bold")
    axes.set_xlabel(chart.x_title)
    if first:
        axes.set_ylabel(fill(chart.y_title, LONG))
    axes.tick_params(labelleft=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)


def _head(figure: Figure, chart: Chart, height: float) -> None:
    note = f". Above the bars: {chart.note}" if chart.note and chart.kind is Kind.BARS else ""
    left = 0.12 / figure.get_figwidth()
    figure.text(left, 1 - 0.12 / height, chart.title, fontsize=11, fontweight="bold", va="top")
    figure.text(left, 1 - 0.36 / height, f"{chart.source}{note}", fontsize=9, color="#666666", va="top")


def fitting(figure: Figure, handles: Sequence[Artist]) -> int:
    """The number of legend entries in a row, from the length of the longest."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    return max(1, min(10, int(figure.get_figwidth() / (LEGEND_MARK + LEGEND_LETTER * longest))))


def _legend(figure: Figure, chart: Chart, look: Look) -> None:
    """One legend for all panels. A single plot of lines labels their ends instead; a single colour needs no legend."""
    labelled = chart.kind is Kind.LINES and not look.needs_legend
    ours, theirs = [] if labelled else look.handles(), plot_paper.handles(chart)
    handles = [*ours, *theirs]
    if theirs or len(ours) > 1:
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(len(handles), fitting(figure, handles)),
            frameon=False,
            fontsize=9,
            labelcolor=INK,
        )
