"""Charts that a page draws: Vega-Lite's specifications, made by Altair.

Colours are words of the page's style, so that a chart is dark or light with its page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from textwrap import wrap
from typing import Any

import altair as alt
from matplotlib import colormaps
from matplotlib.colors import to_hex

from strandline.views.chart import Chart, Kind, Panel
from strandline.views.collection import cells
from strandline.views.collection.chart_rows import Row, extremes, rows, spreads, told
from strandline.views.plot_style import COLOURS, DARK, HUE, LIGHT

HEIGHT, NARROWEST = 240, 260
"""Pixels of a panel's axes. The page makes panels wider where there is room."""
LETTER, LINE = 6.0, 38
"""Pixels of a letter of a place's name, and letters of a line of a vertical title."""
INK, DIM, BACK, RULE = "var(--text)", "var(--dim)", "var(--back)", "var(--rule)"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ((1, 0), (5, 3), (2, 2), (6, 2, 1, 2))
SHOWN = "indexof(hidden, datum.series) < 0"
"""The filter of series that the reader has hidden."""
BROKEN = [5, 3]


@dataclass(frozen=True)
class _Axes:
    """How the layers of a panel place their rows."""

    chart: Chart
    panel: Panel
    rows: list[Row]

    def have(self, key: str) -> bool:
        """Whether some row has it: a layer without any would be an axis without an extent."""
        return any(key in row for row in self.rows)

    @property
    def x(self) -> Any:
        if self.chart.kind is Kind.CDF:
            return alt.X("value:Q", title=self.chart.x_title, scale=alt.Scale(zero=True))
        numbers = self.chart.kind is Kind.LINES and all(map(_is_number, self.chart.places))
        if not numbers:
            axis = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')", labelOverlap=False, ticks=False)
            return alt.X("place:N", title=self.chart.x_title, sort=list(self.chart.places), axis=axis)
        axis = alt.Axis(values=[float(place) for place in self.chart.places], labelOverlap=True, labelFlush=False)
        kind: dict[str, Any] = {"type": "log", "base": 2} if self.chart.log_x else {"zero": False}
        scale = alt.Scale(**kind, nice=False, padding=12)
        return alt.X("place:Q", title=self.chart.x_title, scale=scale, axis=axis)

    @property
    def at(self) -> dict[str, Any]:
        """The place of a row along x. Bars stand side by side."""
        if self.chart.kind is not Kind.BARS:
            return {"x": self.x}
        return {"x": self.x, "xOffset": alt.XOffset("series:N", sort=[series.label for series in self.panel.series])}

    def y(self, field: str) -> Any:
        title = wrap(self.panel.y_title or self.chart.y_title, LINE) or [""]
        if self.chart.kind is Kind.CDF:
            return alt.Y("place:Q", title=title, scale=alt.Scale(domain=[0, 100]))
        if not self.chart.log_y:
            return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=True))
        scale = alt.Scale(type="log", domainMin=self.powers[0])
        return alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(values=self.powers))

    @property
    def powers(self) -> list[float]:
        """The powers of ten from below all values to above them; bars begin at the first."""
        panels = self.chart.panels if self.chart.shared_y else (self.panel,)
        found = [value for panel in panels for series in panel.series for value in series.values if value > 0] or [1.0]
        return [10.0**power for power in range(floor(log10(min(found))), ceil(log10(max(found))) + 1)]

    @property
    def told(self) -> dict[str, Any]:
        """What the pointer and the keyboard tell of a value."""
        titles = told(self.chart)
        return {
            "tooltip": [alt.Tooltip(f"{key}:N", title=title) for key, title in titles.items()],
            "description": "words:N",
        }


def specification(chart: Chart) -> dict[str, Any]:
    """The chart for Vega-Lite: panels side by side, and a parameter `hidden` of the labels that are not shown."""
    panels = [_panel(chart, panel) for panel in chart.panels]
    shared = chart.shared_y or chart.kind is Kind.CDF
    whole = (
        alt.concat(*panels, columns=len(panels))
        .resolve_scale(y="shared" if shared else "independent", color="shared", strokeDash="shared")
        .add_params(alt.param(name="hidden", value=[]))
        .configure(background="transparent", font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            labelFontSize=11,
            titleColor=INK,
            titleFontSize=12,
            titleFontWeight="normal",
            gridColor=RULE,
            domainColor=DIM,
            tickColor=DIM,
        )
        .configure_axisX(grid=False)
        .configure_title(color=INK, fontSize=12, anchor="start")
        .configure_legend(labelColor=INK, titleColor=INK, orient="top")
    )
    found: dict[str, Any] = whole.to_dict()
    return found


def colours(chart: Chart) -> dict[str, str]:
    """The colour of each label, as a style says it: as in the picture, or lighter on a dark page."""
    labels = chart.labels
    if not chart.ordered:
        return {label: _readable(COLOURS[index % len(COLOURS)]) for index, label in enumerate(labels)}
    steps = [LIGHT + (DARK - LIGHT) * index / max(len(labels) - 1, 1) for index in range(len(labels))]
    of_step = colormaps[HUE]
    shades = [(to_hex(of_step(step)), to_hex(of_step(1 - 0.9 * step))) for step in steps]
    return {label: f"light-dark({light}, {dark})" for label, (light, dark) in zip(labels, shades, strict=True)}


def _readable(colour: str) -> str:
    return INK if colour == "#000000" else colour


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _panel(chart: Chart, panel: Panel) -> Any:
    found_rows = rows(chart, panel)
    axes = _Axes(chart, panel, cells.filled(panel, found_rows) if chart.kind is Kind.GRID else found_rows)
    main = MAIN[chart.kind](axes)
    layers = [*_unit(axes), *main, *_paper(axes)]
    found = alt.layer(*layers, data=_data(axes.rows)).transform_filter(SHOWN)
    # What the keyboard tells of a value is what the pointer shows.
    words = " + '; ' + ".join(f"{json.dumps(title + ': ')} + datum.{key}" for key, title in told(chart).items())
    height = cells.height(panel) if chart.kind is Kind.GRID else HEIGHT
    shown = found.transform_calculate(words=words).properties(height=height, width=_least(chart))
    return shown.properties(title=panel.title) if panel.title else shown


def _least(chart: Chart) -> int:
    """Pixels of a panel in which the names of places do not overlap."""
    if chart.kind not in (Kind.BARS, Kind.GRID):
        return NARROWEST
    words = [max(map(len, place.split(" "))) for place in chart.places]
    return max(NARROWEST, int((LETTER * max(words) + 4) * len(words)))


def _data(found: list[Row]) -> Any:
    return alt.InlineData(values=[dict(row) for row in found])


def _colour(chart: Chart) -> Any:
    known = colours(chart)
    return alt.Color("series:N", scale=alt.Scale(domain=list(known), range=list(known.values())), legend=None)


def _unit(axes: _Axes) -> list[Any]:
    """The line at 1 of normalised values."""
    if not axes.panel.normalised or axes.chart.kind in (Kind.CDF, Kind.GRID):
        return []
    line = alt.Chart(alt.InlineData(values=[{"value": 1}])).mark_rule(color=INK, aria=False)
    return [line.encode(y=axes.y("value"))]


def _bars(axes: _Axes) -> list[Any]:
    at = axes.at
    base = {"y2": alt.datum(axes.powers[0])} if axes.chart.log_y else {}
    color = _colour(axes.chart)
    bars = alt.Chart().mark_bar(cursor="pointer").encode(**at, y=axes.y("top"), **base, color=color, **axes.told)
    if not axes.have("above"):
        return [bars, *_whiskers(axes)]
    words = alt.Chart().transform_filter("isValid(datum.above)").mark_text(dy=-7, color=INK, fontSize=9, aria=False)
    return [bars, *_whiskers(axes), words.encode(**at, y=axes.y("top"), text="above:N")]


def _whiskers(axes: _Axes) -> list[Any]:
    if axes.chart.kind is Kind.CDF or not axes.have("low"):
        return []
    rule = alt.Chart().transform_filter("isValid(datum.low)").mark_rule(color=INK, aria=False)
    return [rule.encode(**axes.at, y=axes.y("low"), y2="high:Q")]


def _lines(axes: _Axes) -> list[Any]:
    """Lines with a point at each value, which tells it."""
    chart, at = axes.chart, {"x": axes.x, "y": axes.y("value")}
    look: dict[str, Any] = {"color": _colour(chart), "detail": "series:N"}
    dashes = chart.dashes
    if dashes:
        scale = alt.Scale(domain=list(dashes), range=[list(each) for each in DASHES[: len(dashes)]])
        legend = alt.Legend(title=chart.headings[2], symbolStrokeColor=INK, symbolType="stroke")
        look["strokeDash"] = alt.StrokeDash("dash:N", scale=scale, legend=legend)
    if chart.kind is Kind.CDF:
        look["order"] = alt.Order("place:Q")
    lines = alt.Chart().mark_line(aria=False).encode(**at, **look)
    # Labels of one colour have different shapes.
    shapes = [SHAPES[(index + index // len(COLOURS)) % len(SHAPES)] for index in range(len(chart.labels))]
    shape = alt.Shape("series:N", scale=alt.Scale(domain=list(chart.labels), range=shapes), legend=None)
    points = alt.Chart().mark_point(filled=True, size=36, opacity=1, cursor="pointer")
    return [lines, *_whiskers(axes), points.encode(**at, color=_colour(chart), shape=shape, **axes.told)]


def _cells(axes: _Axes) -> list[Any]:
    return cells.cells(axes.panel, axes.x, axes.told)


def _points(axes: _Axes) -> list[Any]:
    return cells.points(axes.chart, axes.y("value"), _colour(axes.chart), axes.told)


MAIN: Mapping[Kind, Callable[[_Axes], list[Any]]] = {
    Kind.BARS: _bars,
    Kind.LINES: _lines,
    Kind.CDF: _lines,
    Kind.GRID: _cells,
    Kind.SCATTER: _points,
}


def _paper(axes: _Axes) -> list[Any]:
    """The paper's values: diamonds, and broken lines at extremes whose place or series it does not name."""
    chart, panel = axes.chart, axes.panel
    if chart.kind is Kind.CDF:
        return []
    diamond: dict[str, Any] = {
        "shape": "diamond",
        "filled": True,
        "fill": BACK,
        "stroke": INK,
        "size": 44,
        "opacity": 1,
    }
    found: list[Any] = []
    if any(series.has_paper for series in panel.series):
        points = alt.Chart().transform_filter("isValid(datum.paper)").mark_point(**diamond, aria=False)
        found.append(points.encode(**axes.at, y=axes.y("paper"), tooltip=axes.told["tooltip"]))
    if ends := extremes(panel):
        rule = alt.Chart(_data(ends)).transform_filter(SHOWN).mark_rule(strokeDash=BROKEN, aria=False)
        tip = [alt.Tooltip("series:N", title=told(chart)["series"]), alt.Tooltip("paper:Q", title="Paper's extreme")]
        found.append(rule.encode(y=axes.y("paper"), color=_colour(chart), tooltip=tip))
    if places := spreads(chart, panel):
        rule = alt.Chart(_data(places)).mark_rule(strokeDash=BROKEN, color=INK, aria=False)
        tip = [
            alt.Tooltip(f"{end}:Q", title=f"Paper's {word}") for end, word in (("low", "smallest"), ("high", "largest"))
        ]
        found.append(rule.encode(x=axes.x, y=axes.y("low"), y2="high:Q", tooltip=tip))
    return found
