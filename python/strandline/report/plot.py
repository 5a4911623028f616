"""Draws charts with matplotlib: direct labels, colours that colour-blind readers tell apart, same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from strandline.report.chart import Chart, Kind, Series
from strandline.report.numbers import significant

#: Okabe and Ito's palette, its yellow left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "#333333", "#DDDDDD"

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "strandline",
    "svg.fonttype": "path",
}


def save(chart: Chart, folder: Path) -> None:
    """Writes `plot.svg` and `plot.png`."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _frame(axes, chart)
        _lines(axes, chart) if chart.kind is Kind.LINES else _bars(axes, chart)
        figure.savefig(folder / "plot.svg", metadata={"Date": None})
        figure.savefig(folder / "plot.png", dpi=160)


def _frame(axes: Axes, chart: Chart) -> None:
    axes.set_title(chart.title, loc="left", fontweight="bold", fontsize=11, pad=24)
    axes.text(0, 1.02, chart.source, transform=axes.transAxes, fontsize=9, color="#666666", va="bottom")
    axes.set_xlabel(chart.x_title)
    axes.set_ylabel(chart.y_title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)


def _lines(axes: Axes, chart: Chart) -> None:
    places = _positions(chart.places)
    for number, series in enumerate(chart.series):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.plot(places, series.values, color=colour, marker=marker, markersize=5, linewidth=1.8)
    axes.set_ylim(bottom=0)
    axes.set_xticks(places, chart.places)
    _label_ends(axes, places[-1], chart.series)


def _positions(places: Sequence[str]) -> list[float]:
    """Numbers stand where they lie on the axis, words at equal distances."""
    try:
        return [float(place) for place in places]
    except ValueError:
        return [float(number) for number in range(len(places))]


def _label_ends(axes: Axes, end: float, series: Sequence[Series]) -> None:
    """Names each line at its right end, pushed apart where ends lie close."""
    ends = spread([line.values[-1] for line in series], gap=0.055 * axes.get_ylim()[1])
    for number, (line, height) in enumerate(zip(series, ends, strict=True)):
        axes.annotate(
            line.label,
            (end, height),
            xytext=(9, 0),
            textcoords="offset points",
            color=COLOURS[number % len(COLOURS)],
            va="center",
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights moved as little as a sweep from below and one from above need to keep them `gap` apart, in order."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    moved = [heights[index] for index in order]
    for index in range(1, len(moved)):
        moved[index] = max(moved[index], moved[index - 1] + gap)
    excess = moved[-1] - heights[order[-1]] if moved else 0.0
    moved = [height - excess / 2 for height in moved]
    placed = dict(zip(order, moved, strict=True))
    return [placed[index] for index in range(len(heights))]


def _bars(axes: Axes, chart: Chart) -> None:
    width = 0.8 / len(chart.series)
    for number, series in enumerate(chart.series):
        left = (number - (len(chart.series) - 1) / 2) * width
        places = [place + left for place in range(len(chart.places))]
        bars = axes.bar(places, series.values, width * 0.92, color=COLOURS[number % len(COLOURS)], label=series.label)
        axes.bar_label(bars, [significant(value) for value in series.values], padding=2, fontsize=8)
        _paper_marks(axes, places, series, width, first=number == 0)
    axes.set_xticks(range(len(chart.places)), chart.places)
    axes.margins(y=0.12)
    axes.legend(frameon=False, ncols=4, loc="upper right", bbox_to_anchor=(1, 1.09), fontsize=9)


def _paper_marks(axes: Axes, places: Sequence[float], series: Series, width: float, first: bool) -> None:
    marks = [(place, value) for place, value in zip(places, series.paper, strict=True) if value is not None]
    if marks:
        lefts, heights = [place - width / 2 for place, _ in marks], [value for _, value in marks]
        rights = [left + width for left in lefts]
        axes.hlines(heights, lefts, rights, color=INK, linewidth=2, label="the paper" if first else "_")
