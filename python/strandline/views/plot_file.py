"""Writes a picture in its formats, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from strandline.views.chart import Chart
from strandline.views.plot_size import Format, Style
from strandline.views.state_grid import StateGrid
from strandline.views.timeline_chart import TimelineChart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.views.plot_inline import Inline

DPI = 300
"""Dots per inch of a PNG, as printers ask for."""

TIMELESS: Mapping[Format, Mapping[str, Any]] = {
    Format.SVG: {"metadata": {"Date": None}},
    Format.PDF: {"metadata": {"CreationDate": None}},
    Format.PNG: {"dpi": DPI},
}
"""Files must not contain the time of writing."""


Shown: TypeAlias = Chart | StateGrid | TimelineChart
"""What a picture shows."""


def write(shown: Shown, folder: Path, style: Style, name: str = "plot") -> None:
    """Writes `NAME.svg`, `NAME.png` or whichever formats are asked for."""
    if not style.formats:
        return
    with _drawn(shown, style) as figure:
        for each in style.formats:
            figure.savefig(folder / f"{name}.{each.value}", **TIMELESS[each])


def draw(shown: Shown, style: Style) -> Inline:
    """The picture as matplotlib's figure, which a notebook shows."""
    from strandline.views.plot_inline import inline

    with _drawn(shown, style) as figure:
        return inline(figure)


@contextmanager
def _drawn(shown: Shown, style: Style) -> Iterator[Figure]:
    """In the block, the figure, and the settings with which it is written."""
    # Importing matplotlib takes a second, and it may not be installed.
    from matplotlib import rc_context

    from strandline.views import plot, plot_states, plot_timeline
    from strandline.views.plot_style import THEMES

    with rc_context(dict(THEMES[style.theme])):
        if isinstance(shown, Chart):
            figure = plot.draw(shown, style)
        elif isinstance(shown, StateGrid):
            figure = plot_states.draw(shown, style)
        else:
            figure = plot_timeline.draw(shown, style)
        yield figure
