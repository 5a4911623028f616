"""The words around a plot: title and source above it, remarks below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Protocol

from matplotlib.figure import Figure

from strandline.views.plot_size import Style
from strandline.views.plot_style import SMALL, grey

TITLE = 9.0
"""Points of the title."""
TITLE_LINE, LINE = 0.165, 0.13
"""Inches of a line of the title, and of source and remarks."""
TITLE_LETTER, LETTER = 0.079, 0.055
"""Inches of a letter of each."""
EDGE = 0.06
"""Inches between words and the picture's edge."""


class Titled(Protocol):
    """What has words around its plots."""

    @property
    def title(self) -> str:
        """What it shows."""

    @property
    def source(self) -> str:
        """Whose figure it is."""

    @property
    def remarks(self) -> Sequence[str]:
        """What stands below the plots."""


@dataclass(frozen=True)
class Words:
    """The words of a picture, in lines that fit its width."""

    chart: Titled
    style: Style

    @property
    def head(self) -> float:
        """Inches above the plots."""
        if self.style.title is False:
            return 0.0
        return 2 * EDGE + TITLE_LINE * len(self._title) + LINE * len(self._source)

    @property
    def foot(self) -> float:
        """Inches below the plots."""
        return EDGE + LINE * len(self._remarks) if self._remarks else 0.0

    @property
    def _title(self) -> list[str]:
        return self._lines(self.chart.title, TITLE_LETTER)

    @property
    def _source(self) -> list[str]:
        return self._lines(self.chart.source, LETTER)

    @property
    def _remarks(self) -> list[str]:
        return self._lines(". ".join(self.chart.remarks), LETTER)

    def _lines(self, text: str, letter: float) -> list[str]:
        return wrap(text, int((self.style.width.inches - 2 * EDGE) / letter))

    def write(self, figure: Figure, height: float) -> None:
        """Writes them; `height` is that of the picture in inches."""
        left = EDGE / self.style.width.inches
        if self.style.title is not False:
            y = height - EDGE
            title = "\n".join(self._title)
            figure.text(left, y / height, title, fontsize=TITLE, fontweight="bold", va="top")
            y -= TITLE_LINE * len(self._title)
            figure.text(left, y / height, "\n".join(self._source), fontsize=SMALL, color=grey(), va="top")
        if self._remarks:
            remarks = "\n".join(self._remarks)
            figure.text(left, EDGE / 2 / height, remarks, fontsize=SMALL, color=grey(), va="bottom")
