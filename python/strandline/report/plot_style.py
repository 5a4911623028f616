"""Colours, markers and dashes, and their assignment to series."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strandline.report.chart import Chart, Kind, Series

#: Okabe and Ito's palette, its yellow left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", ":", "-.")
INK, FAINT = "#333333", "#DDDDDD"

RC = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    # A dollar sign in a title is literal.
    "text.parse_math": False,
    "svg.hashsalt": "strandline",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """The styles of a chart's series, equal in all panels."""

    chart: Chart

    def colour(self, series: Series) -> str:
        """The colour of a series' label."""
        return COLOURS[self.chart.labels.index(series.label) % len(COLOURS)]

    def marker(self, series: Series) -> str:
        """The marker of a series' label; none on a dashed line, which is a bound."""
        return MARKERS[self.chart.labels.index(series.label) % len(MARKERS)] if self.dash(series) == "-" else ""

    def dash(self, series: Series) -> str:
        """The dash pattern of a series' line."""
        return "-" if series.dash is None else DASHES[self.chart.dashes.index(series.dash) % len(DASHES)]

    @property
    def needs_legend(self) -> bool:
        """Whether lines cannot be labelled at their ends."""
        return len(self.chart.panels) > 1 or bool(self.chart.dashes)

    def handles(self) -> list[Artist]:
        """The legend's entries: each label's colour, and each dash in grey."""
        first = {series.label: series for panel in self.chart.panels for series in reversed(panel.series)}
        handles: list[Artist] = [self._handle(first[label]) for label in self.chart.labels]
        for dash, style in zip(self.chart.dashes, DASHES, strict=False):
            handles.append(Line2D([], [], color="#666666", linestyle=style, label=dash))
        return handles

    def _handle(self, series: Series) -> Artist:
        if self.chart.kind is Kind.BARS:
            return Patch(color=self.colour(series), label=series.label)
        return Line2D([], [], color=self.colour(series), marker=self.marker(series), markersize=5, label=series.label)
