"""Letters, colours, markers, dashes and legends of pictures. A theme is settings of matplotlib, also of colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strandline.views.chart import Kind, Series
from strandline.views.palette import BLACK, INK, Palette, mixed
from strandline.views.plot_size import Theme

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", ":", "-.")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "||||", "----")
BODY, SMALL, TINY = 8.0, 7.0, 6.0
"""Points of titles of axes; of names on axes and in legends; of values above bars."""
DIM = 0.25
"""The share of the ground's colour in words that are read last."""


def _settings(ink: str, back: str, faint: str, **more: Any) -> dict[str, Any]:
    of_ink = ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color", "legend.labelcolor")
    of_back = ("axes.facecolor", "figure.facecolor", "savefig.facecolor")
    return {
        "font.family": "DejaVu Sans",
        "font.size": BODY,
        "axes.linewidth": 0.8,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "hatch.linewidth": 0.6,
        # Letters are as wide and high in all formats: the plots are laid out once.
        "text.hinting": "none",
        "figure.dpi": 300,
        # A dollar sign in a title is literal.
        "text.parse_math": False,
        "svg.hashsalt": "strandline",
        "svg.fonttype": "path",
        # Fonts as outlines that editors and publishers accept.
        "pdf.fonttype": 42,
        **dict.fromkeys(of_ink, ink),
        **dict.fromkeys(of_back, back),
        "grid.color": faint,
        **more,
    }


THEMES: Mapping[Theme, Mapping[str, Any]] = {
    Theme.PLAIN: _settings(INK, "white", "#DDDDDD"),
    Theme.JOURNAL: _settings(BLACK, "white", "#DDDDDD", **{"font.family": "STIXGeneral"}),
    Theme.DARK: _settings("#E6E6E6", "#16191D", "#3A4048"),
}
"""Matplotlib's settings while a picture is drawn and written."""


def ink() -> str:
    """The colour of words, axes, and the line at 1."""
    return to_hex(rcParams["text.color"])


def back() -> str:
    """The colour behind all."""
    return to_hex(rcParams["axes.facecolor"])


def faint() -> str:
    """The colour of lines that only guide the eye."""
    return to_hex(rcParams["grid.color"])


def grey() -> str:
    """The colour of words that are read last."""
    return mixed(ink(), back(), DIM)


@dataclass(frozen=True)
class Look(Palette):
    """The styles of a chart's series in a picture."""

    theme: Theme = Theme.PLAIN

    @cached_property
    def _shown(self) -> dict[str, str]:
        return self.on_dark(ink()) if self.theme is Theme.DARK else self.colours

    def colour(self, series: Series) -> str:
        """The colour of a series."""
        return self._shown[series.label]

    def hatch(self, series: Series) -> str:
        """The hatch of a series' bars; none where lightness tells them apart."""
        if self.chart.ordered or self.theme is not Theme.JOURNAL:
            return ""
        return HATCHES[self.chart.labels.index(series.label) % len(HATCHES)]

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
        return len(self.chart.panels) > 1 or bool(self.chart.dashes) or self.chart.ordered

    def handles(self) -> list[Artist]:
        """The legend's entries: each label's colour."""
        first = {series.label: series for panel in self.chart.panels for series in reversed(panel.series)}
        return [self._handle(first[label]) for label in self.chart.labels]

    def dash_handles(self) -> list[Line2D]:
        """The legend's entries of dashes, in grey; the first says what they distinguish."""
        heading = self.chart.headings[2]
        return [
            Line2D([], [], color=grey(), linestyle=style, label=dash if number else f"{heading}: {dash}")
            for number, (dash, style) in enumerate(zip(self.chart.dashes, LINES, strict=False))
        ]

    def _handle(self, series: Series) -> Artist:
        if self.chart.kind is Kind.BARS:
            return Patch(**self.face(series), label=series.label)
        colour, marker = self.colour(series), self.shape(series)
        return Line2D([], [], color=colour, marker=marker, markersize=4, label=series.label)

    def face(self, series: Series) -> dict[str, Any]:
        """What the bars of a series look like."""
        hatch = self.hatch(series)
        return {
            "facecolor": self.colour(series),
            "edgecolor": back(),
            "linewidth": 0,
            **({"hatch": hatch} if hatch else {}),
        }
