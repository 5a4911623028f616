"""Markers, dashes, sizes and legends of pictures."""

from __future__ import annotations

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strandline.views.chart import Kind, Series
from strandline.views.palette import INK, Palette

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", ":", "-.")
FAINT, GREY = "#DDDDDD", "#666666"
BODY, SMALL, TINY = 8.0, 7.0, 6.0
"""Points of titles of axes; of names on axes and in legends; of values above bars."""

RC = {
    "font.family": "DejaVu Sans",
    "font.size": BODY,
    "axes.linewidth": 0.8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.6,
    # A dollar sign in a title is literal.
    "text.parse_math": False,
    "svg.hashsalt": "strandline",
    "svg.fonttype": "path",
    # Fonts as outlines that editors and publishers accept.
    "pdf.fonttype": 42,
}


class Look(Palette):
    """The styles of a chart's series in a picture."""

    def colour(self, series: Series) -> str:
        """The colour of a series."""
        return self.colours[series.label]

    def marker(self, series: Series) -> str:
        """The marker of a series; none on a dashed line, which is a bound."""
        return self.shape(series) if self.line(series) == "-" else ""

    def shape(self, series: Series) -> str:
        """The marker of a series' label."""
        return MARKERS[self.shapes[series.label]]

    def line(self, series: Series) -> str:
        """The dash pattern of a series' line."""
        return LINES[self.dash(series)]

    @property
    def needs_legend(self) -> bool:
        """Whether lines cannot be labelled at their ends, or their labels need a heading."""
        if self.chart.crowded:
            return False
        return len(self.chart.panels) > 1 or bool(self.chart.dashes) or self.chart.ordered

    def handles(self) -> list[Artist]:
        """The legend's entries: each label's colour."""
        first = {series.label: series for panel in self.chart.panels for series in reversed(panel.series)}
        return [self._handle(first[label]) for label in self.chart.labels]

    def dash_handles(self) -> list[Line2D]:
        """The legend's entries of dashes, in grey; the first says what they distinguish."""
        heading = self.chart.headings[2]
        return [
            Line2D([], [], color=GREY, linestyle=style, label=dash if number else f"{heading}: {dash}")
            for number, (dash, style) in enumerate(zip(self.chart.dashes, LINES, strict=False))
        ]

    def _handle(self, series: Series) -> Artist:
        if self.chart.kind is Kind.BARS:
            return Patch(color=self.colour(series), label=series.label)
        colour, marker = self.colour(series), self.shape(series)
        return Line2D([], [], color=colour, marker=marker, markersize=4, label=series.label)
