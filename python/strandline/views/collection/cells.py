"""Layers of grids and scatter plots, which a page draws as the picture does."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import altair as alt
from matplotlib.colors import to_hex

from strandline.views.chart import Chart, Panel
from strandline.views.collection.chart_rows import Row
from strandline.views.plot_grid import colour

CELL = 17
"""Pixels of a row of cells."""
ON_CELL = "#333333"
"""The colour of a number on a cell, which is light on a dark page, too."""

NUMBER = "format(datum.value, '~s')"
"""How an axis of bytes names a value."""


def height(panel: Panel) -> int:
    """Pixels of a grid."""
    return CELL * len(panel.series)


def filled(panel: Panel, rows: list[Row]) -> list[Row]:
    """The rows with the colour of each cell."""
    return [{**row, "fill": to_hex(colour(row["value"], panel))} for row in rows]


def cells(panel: Panel, x: Any, told: dict[str, Any]) -> list[Any]:
    """A cell a value, with its number."""
    y = alt.Y("series:N", title=None, sort=[series.label for series in panel.series])
    rect = alt.Chart().mark_rect(cursor="pointer").encode(x=x, y=y, color=alt.Color("fill:N", scale=None), **told)
    words = alt.Chart().mark_text(fontSize=9, color=ON_CELL, aria=False)
    return [rect, words.encode(x=x, y=y, text="text:N")]


def right(chart: Chart) -> Any:
    """The x axis of a scatter plot, with a place for 0."""
    costs = [series.values[0] for panel in chart.panels for series in panel.series if series.values[0] > 0]
    least = 10.0 ** floor(log10(min(costs, default=1.0)))
    scale = alt.Scale(type="symlog", constant=least, nice=False, padding=12)
    powers = [0.0, *(10.0**power for power in range(round(log10(least)), floor(log10(max([*costs, least]))) + 2))]
    return alt.X("right:Q", title=chart.x_title, scale=scale, axis=alt.Axis(values=powers, labelExpr=NUMBER))


def points(chart: Chart, y: Any, color: Any, told: dict[str, Any]) -> list[Any]:
    """A point a series, with its name."""
    at = {"x": right(chart), "y": y}
    dots = alt.Chart().mark_point(filled=True, size=42, opacity=1, cursor="pointer").encode(**at, color=color, **told)
    names = alt.Chart().mark_text(dx=7, align="left", fontSize=9, aria=False)
    return [dots, names.encode(**at, color=color, text="series:N")]
