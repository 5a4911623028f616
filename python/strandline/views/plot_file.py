"""Writes a picture in its formats, the same bytes every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strandline.views.chart import Chart
from strandline.views.plot_size import Format, Style
from strandline.views.state_grid import StateGrid
from strandline.views.timeline_chart import TimelineChart

DPI = 300
"""Dots per inch of a PNG, as printers ask for."""

TIMELESS: Mapping[Format, Mapping[str, Any]] = {
    Format.SVG: {"metadata": {"Date": None}},
    Format.PDF: {"metadata": {"CreationDate": None}},
    Format.PNG: {"dpi": DPI},
}
"""Files must not contain the time of writing."""


def write(shown: Chart | StateGrid | TimelineChart, folder: Path, style: Style, name: str = "plot") -> None:
    """Writes `NAME.svg`, `NAME.png` or whichever formats are asked for."""
    if not style.formats:
        return
    # Importing matplotlib takes a second, and it may not be installed.
    from matplotlib import rc_context

    from strandline.views import plot, plot_states, plot_timeline
    from strandline.views.plot_style import RC

    with rc_context(RC):
        if isinstance(shown, Chart):
            figure = plot.draw(shown, style)
        elif isinstance(shown, StateGrid):
            figure = plot_states.draw(shown, style)
        else:
            figure = plot_timeline.draw(shown, style)
        for each in style.formats:
            figure.savefig(folder / f"{name}.{each.value}", **TIMELESS[each])
