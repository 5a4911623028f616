"""A plot within a picture: where a panel, or a piece of it, is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from strandline.views.chart import Chart, Panel
from strandline.views.plot_size import Piece
from strandline.views.plot_style import Look

WIDE, HIGH = 0.5, 0.65
"""Inches next to and below a plot: its axes' labels."""


@dataclass(frozen=True)
class Place:
    """The axes of a piece, and what its drawing depends on."""

    axes: Axes
    chart: Chart
    piece: Piece
    look: Look
    outer: tuple[float, float]
    """Inches of the plot with the labels of its axes."""

    @property
    def inches(self) -> tuple[float, float]:
        """Inches between the axes, before the labels are laid out."""
        return self.outer[0] - WIDE, self.outer[1] - HIGH

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels that share the scale."""
        return self.chart.scaled_with(self.piece.panel)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels along x."""
        return self.chart.places[self.piece.start : self.piece.stop]
