"""Colours, markers and dashes, and their assignment to series."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strandline.views.chart import Chart, Kind, Series

#: Okabe and Ito's palette, its yellow left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#888888")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", ":", "-.")
INK, FAINT, GREY = "#333333", "#DDDDDD", "#666666"
HUE, LIGHT, DARK = "Blues", 0.35, 1.0
"""The hue of ordered series, and the part of it that is visible on white."""
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
    # A dollar sign in a title is literal.
    "text.parse_math": False,
    "svg.hashsalt": "strandline",
    "svg.fonttype": "path",
    # Fonts as outlines that editors and publishers accept.
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Look:
    """The styles of a chart's series, equal in all panels."""

    chart: Chart

    def colour(self, series: Series) -> str:
        """The colour of a series' label: one of a palette, or a step from light to dark."""
        labels = self.chart.labels
        index = labels.index(series.label)
        if not self.chart.ordered:
            return COLOURS[index % len(COLOURS)]
        return to_hex(colormaps[HUE](LIGHT + (DARK - LIGHT) * index / max(len(labels) - 1, 1)))

    def marker(self, series: Series) -> str:
        """The marker of a series' label; none on a dashed line, which is a bound."""
        return self.shape(series) if self.dash(series) == "-" else ""

    def shape(self, series: Series) -> str:
        """The marker of a series' label; labels of one colour have different ones."""
        index = self.chart.labels.index(series.label)
        return MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]

    def dash(self, series: Series) -> str:
        """The dash pattern of a series' line."""
        if series.bound:
            return DASHES[2]
        return "-" if series.dash is None else DASHES[self.chart.dashes.index(series.dash) % len(DASHES)]

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
            for number, (dash, style) in enumerate(zip(self.chart.dashes, DASHES, strict=False))
        ]

    def _handle(self, series: Series) -> Artist:
        if self.chart.kind is Kind.BARS:
            return Patch(color=self.colour(series), label=series.label)
        colour, marker = self.colour(series), self.shape(series)
        return Line2D([], [], color=colour, marker=marker, markersize=4, label=series.label)
