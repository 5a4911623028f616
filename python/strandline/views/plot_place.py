"""A plot within a picture: where a panel, or a piece of it, is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from strandline.views.chart import Chart, Panel
from strandline.views.plot_layout import Layout, Piece
from strandline.views.plot_style import Look


@dataclass(frozen=True)
class Place:
    """The axes of a piece, and what its drawing depends on."""

    axes: Axes
    piece: Piece
    look: Look
    layout: Layout
    lowest: bool
    """Whether no plot is below it."""
    leftmost: bool
    """Whether no plot is to the left."""

    @property
    def chart(self) -> Chart:
        """What is drawn."""
        return self.layout.chart

    @property
    def inches(self) -> tuple[float, float]:
        """Inches between the axes, before the labels are laid out."""
        return self.layout.across, self.layout.inner

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels that share the scale."""
        return self.chart.scaled_with(self.piece.panel)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels along x."""
        return self.chart.places[self.piece.start : self.piece.stop]

    def name_places(self) -> None:
        """Names the places below the axes, turned if they would meet; below the lowest plot for all of its column."""
        axes = self.axes
        if self.layout.whole and not self.lowest:
            axes.tick_params(axis="x", labelbottom=False)
            return
        turn = self.layout.turn
        if turn:
            axes.tick_params(axis="x", rotation=turn)
            for name in axes.get_xticklabels():
                name.set(ha="right", va="center" if turn > 45 else "top", rotation_mode="anchor")
