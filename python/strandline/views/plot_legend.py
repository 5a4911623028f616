"""Legends: the series below the plots, and above them what is common to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import SubFigure
from matplotlib.patches import Patch

from strandline.views import plot_paper
from strandline.views.chart import Chart, Kind
from strandline.views.numbers import number
from strandline.views.palette import extent, of_cell
from strandline.views.plot_layout import Layout
from strandline.views.plot_style import SMALL, Look

MARK, LETTER, LINE, PAD = 0.4, 0.056, 0.15, 0.08
"""Inches of an entry's mark with its space, of a letter, of a row of entries, and around a legend."""
RATIOS = (("1/8", 1 / 8), ("1/4", 1 / 4), ("1/2", 1 / 2), ("1", 1.0), ("2", 2.0), ("4", 4.0), ("8", 8.0))
"""The ratios whose colours a heat map names."""
KEY = 0.27
"""Inches of the mark of a colour of cells."""
FORM: dict[str, Any] = {
    "frameon": False,
    "fontsize": SMALL,
    "handlelength": 1.4,
    "columnspacing": 1.0,
    "borderaxespad": 0.2,
}


@dataclass(frozen=True)
class Legends:
    """The legends of a chart in a picture."""

    layout: Layout
    look: Look

    @property
    def chart(self) -> Chart:
        """What is drawn."""
        return self.layout.chart

    @property
    def width(self) -> float:
        """Inches of the picture."""
        return self.layout.width.inches

    @property
    def series(self) -> list[Artist]:
        """The entries below; a single plot of lines labels their ends instead, and a single colour needs none."""
        lines = self.chart.kind is Kind.LINES and not self.look.needs_legend
        if self.chart.kind is Kind.GRID and not self.layout.readable:
            return self._colours
        labelled = lines or self.chart.kind in (Kind.GRID, Kind.SCATTER)
        found = [] if labelled else self.look.handles()
        return found if len(found) > 1 else []

    @property
    def _colours(self) -> list[Artist]:
        """The entries of a heat map without numbers: values and their colours."""
        panel = self.chart.panels[0]
        low, high = extent(self.chart, panel)
        steps = [low + (high - low) * step / 4 for step in range(5)]
        values = dict(RATIOS) if panel.normalised else {number(step): step for step in steps}
        return [Patch(facecolor=of_cell(self.chart, panel, value), label=name) for name, value in values.items()]

    @property
    def common(self) -> list[Artist]:
        """The entries above: dashes, and the paper's values."""
        return [*self.look.dash_handles(), *plot_paper.handles(self.chart)]

    @property
    def _heading(self) -> list[str]:
        is_map = self.chart.kind is Kind.GRID
        return [] if is_map else wrap(self.chart.legend or "", int(self.width / LETTER))

    @property
    def height(self) -> float:
        """Inches of both."""
        heading = LINE * len(self._heading) if self.series else 0.0
        return heading + sum(self._height(handles) for handles in (self.series, self.common))

    def _height(self, handles: Sequence[Artist]) -> float:
        return PAD + LINE * -(-len(handles) // fitting(self.width, handles, self._mark)) if handles else 0.0

    @property
    def _mark(self) -> float:
        return KEY if self.chart.kind is Kind.GRID else MARK

    def add(self, figure: SubFigure) -> None:
        """Adds them to the figure."""
        if self.series:
            heading = "\n".join(self._heading) or None
            self._legend(figure, self.series, "outside lower center", title=heading, title_fontsize=SMALL)
        if self.common:
            self._legend(figure, self.common, "outside upper right")

    def _legend(self, figure: SubFigure, handles: list[Artist], where: str, **more: Any) -> None:
        columns = fitting(self.width, handles, self._mark)
        form = {**FORM, "handlelength": 0.9, "columnspacing": 0.7} if self.chart.kind is Kind.GRID else FORM
        # Matplotlib fills columns: of the entries of each, so that they are read in rows.
        rows = [handle for column in range(columns) for handle in handles[column::columns]]
        figure.legend(handles=rows, loc=where, ncols=columns, **form, **more)


def fitting(width: float, handles: Sequence[Artist], mark: float = MARK) -> int:
    """The number of legend entries in a row: as many as fit, each column as wide as its longest."""
    letters = [len(str(handle.get_label())) for handle in handles]

    def wide(columns: int) -> float:
        return sum(mark + LETTER * max(letters[column::columns]) for column in range(columns))

    return max((columns for columns in range(1, len(handles) + 1) if wide(columns) <= width), default=1)
