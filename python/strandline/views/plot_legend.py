"""Legends: the series below the plots, and above them what is common to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import SubFigure

from strandline.views import plot_paper
from strandline.views.chart import Chart, Kind
from strandline.views.palette import INK
from strandline.views.plot_style import SMALL, Look

MARK, LETTER, LINE, PAD = 0.5, 0.058, 0.155, 0.1
"""Inches of an entry's mark with its space, of a letter, of a row of entries, and around a legend."""
FORM: dict[str, Any] = {
    "frameon": False,
    "fontsize": SMALL,
    "labelcolor": INK,
    "handlelength": 1.6,
    "columnspacing": 1.2,
    "borderaxespad": 0.2,
}


@dataclass(frozen=True)
class Legends:
    """The legends of a chart in a picture of a width in inches."""

    chart: Chart
    look: Look
    width: float

    @property
    def series(self) -> list[Artist]:
        """The entries below; a single plot of lines labels their ends instead, and a single colour needs none."""
        lines = self.chart.kind is Kind.LINES and not self.look.needs_legend
        labelled = lines or self.chart.kind in (Kind.GRID, Kind.SCATTER)
        found = [] if labelled else self.look.handles()
        return found if len(found) > 1 else []

    @property
    def common(self) -> list[Artist]:
        """The entries above: dashes, and the paper's values."""
        return [*self.look.dash_handles(), *plot_paper.handles(self.chart)]

    @property
    def _heading(self) -> list[str]:
        return wrap(self.chart.legend or "", int(self.width / LETTER))

    @property
    def height(self) -> float:
        """Inches of both."""
        heading = LINE * len(self._heading) if self.series else 0.0
        return heading + sum(self._height(handles) for handles in (self.series, self.common))

    def _height(self, handles: Sequence[Artist]) -> float:
        return PAD + LINE * -(-len(handles) // fitting(self.width, handles)) if handles else 0.0

    def add(self, figure: SubFigure) -> None:
        """Adds them to the figure."""
        if self.series:
            heading = "\n".join(self._heading) or None
            self._legend(figure, self.series, "outside lower center", title=heading, title_fontsize=SMALL)
        if self.common:
            self._legend(figure, self.common, "outside upper right")

    def _legend(self, figure: SubFigure, handles: list[Artist], where: str, **more: Any) -> None:
        figure.legend(handles=handles, loc=where, ncols=fitting(self.width, handles), **FORM, **more)


def fitting(width: float, handles: Sequence[Artist]) -> int:
    """The number of legend entries in a row, from the length of the longest."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    return max(1, min(len(handles), int(width / (MARK + LETTER * longest))))
