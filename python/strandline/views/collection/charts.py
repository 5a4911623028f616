"""Charts that a page draws, as Vega-Lite's specifications.

Colours are words of the page's style, so that a chart is dark or light with its page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from strandline.views import scale
from strandline.views.chart import Chart, Kind, Panel
from strandline.views.collection.chart_rows import Row, extremes, rows, spreads, told
from strandline.views.palette import BLACK, DOTTED, INK, Palette

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"

HEIGHT, NARROWEST = 240, 260
"""Pixels of a panel's axes. The page makes panels wider where there is room."""
CELL = 17
"""Pixels of a row of cells."""
LETTER, LINE = 6.0, 38
"""Pixels of a letter of a place's name, and letters of a line of a vertical title."""
TEXT, DIM, BACK, RULE = "var(--text)", "var(--dim)", "var(--back)", "var(--rule)"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ((1, 0), (5, 3), (2, 2), (6, 2, 1, 2))
SHOWN = "indexof(hidden, datum.series) < 0"
"""The filter of series that the reader has hidden."""
BROKEN = [5, 3]
WHOLE = {"nice": False, "padding": 12}
"""Of a scale that ends at its ticks."""

CONFIG: Mapping[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": TEXT,
        "labelFontSize": 11,
        "titleColor": TEXT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": RULE,
        "domainColor": DIM,
        "tickColor": DIM,
    },
    "axisX": {"grid": False},
    "title": {"color": TEXT, "fontSize": 12, "anchor": "start"},
    "legend": {"labelColor": TEXT, "titleColor": TEXT, "orient": "top"},
}

Part = dict[str, Any]
"""A part of a specification."""


def specification(chart: Chart) -> Part:
    """The chart for Vega-Lite: panels side by side, and a parameter `hidden` of the labels that are not shown."""
    shared = chart.shared_y or chart.kind is Kind.CDF
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "params": [{"name": "hidden", "value": []}],
        "columns": len(chart.panels),
        "concat": [_panel(chart, panel) for panel in chart.panels],
        "resolve": {"scale": {"y": "shared" if shared else "independent", "color": "shared", "strokeDash": "shared"}},
    }


def colours(chart: Chart) -> dict[str, str]:
    """The colour of each label, as a style says it: as in the picture, or readable on a dark page."""
    palette = Palette(chart)
    dark = palette.on_dark(TEXT)
    pairs = {label: (TEXT if light == BLACK else light, dark[label]) for label, light in palette.colours.items()}
    return {label: one if one == other else f"light-dark({one}, {other})" for label, (one, other) in pairs.items()}


def _panel(chart: Chart, panel: Panel) -> Part:
    drawing = _Drawing(chart, panel, rows(chart, panel))
    # What the keyboard tells of a value is what the pointer shows.
    words = " + '; ' + ".join(f"{json.dumps(title + ': ')} + datum.{key}" for key, title in told(chart).items())
    title = {"title": panel.title} if panel.title else {}
    return {
        **title,
        "width": _least(chart),
        "height": CELL * len(panel.series) if chart.kind is Kind.GRID else HEIGHT,
        "data": {"values": drawing.rows},
        "transform": [{"filter": SHOWN}, {"as": "words", "calculate": words}],
        "layer": [*_unit(drawing), *MAIN[chart.kind](drawing), *_paper(drawing)],
    }


def _least(chart: Chart) -> int:
    """Pixels of a panel in which the names of places do not overlap."""
    if chart.kind not in (Kind.BARS, Kind.GRID):
        return NARROWEST
    words = [max(map(len, place.split(" "))) for place in chart.places]
    return max(NARROWEST, int((LETTER * max(words) + 4) * len(words)))


def _name(field: str, **more: Any) -> Part:
    return {"field": field, "type": "nominal", **more}


def _number(field: str, **more: Any) -> Part:
    return {"field": field, "type": "quantitative", **more}


@dataclass(frozen=True)
class _Drawing:
    """How the layers of a panel place their rows."""

    chart: Chart
    panel: Panel
    rows: list[Row]

    def have(self, key: str) -> bool:
        """Whether some row has it: a layer without any would be an axis without an extent."""
        return any(key in row for row in self.rows)

    @property
    def labels(self) -> list[str]:
        """The names of the series."""
        return [series.label for series in self.panel.series]

    @property
    def x(self) -> Part:
        """The x axis: a quantity, or places, which are numbers or names of a word on each line."""
        chart, title = self.chart, self.chart.x_title
        if chart.kind is Kind.CDF:
            return _number("value", title=title, scale={"zero": True})
        if chart.kind is Kind.SCATTER:
            powers = scale.costs(self.panel)
            axis: Part = {"values": [0.0, *powers], "labelExpr": "format(datum.value, '~s')"}
            return _number("right", title=title, scale={"type": "symlog", "constant": powers[0], **WHOLE}, axis=axis)
        if chart.kind is Kind.LINES and chart.numbers is not None:
            kind: Part = {"type": "log", "base": 2} if chart.log_x else {"zero": False}
            axis = {"values": chart.numbers, "labelOverlap": True, "labelFlush": False}
            return _number("place", title=title, scale={**kind, **WHOLE}, axis=axis)
        axis = {"labelAngle": 0, "labelExpr": "split(datum.label, ' ')", "labelOverlap": False, "ticks": False}
        return _name("place", title=title, sort=list(chart.places), axis=axis)

    @property
    def at(self) -> Part:
        """The place of a row along x. Bars stand side by side."""
        apart = self.chart.kind is Kind.BARS and not self.chart.stacked
        beside = {"xOffset": _name("series", sort=self.labels)} if apart else {}
        return {"x": self.x, **beside}

    def y(self, field: str) -> Part:
        """The y axis, for what stands in a field of the rows."""
        if self.chart.kind is Kind.GRID:
            bounds = json.dumps([series.label for series in self.panel.series if series.bound])
            italic = f"indexof({bounds}, datum.value) < 0 ? 'normal' : 'italic'"
            return _name("series", title=None, sort=self.labels, axis={"labelFontStyle": {"expr": italic}})
        title = wrap(self.chart.title_of(self.panel), LINE) or [""]
        if self.chart.kind is Kind.CDF:
            return _number("place", title=title, scale={"domain": [0, 100]})
        if not self.chart.log_y:
            return _number(field, title=title, scale={"zero": True})
        powers = scale.powers(self.chart, self.panel)
        return _number(field, title=title, scale={"type": "log", "domainMin": powers[0]}, axis={"values": powers})

    @property
    def told(self) -> Part:
        """What the pointer and the keyboard tell of a value."""
        tips = [_name(key, title=title) for key, title in told(self.chart).items()]
        return {"tooltip": tips, "description": _name("words")}

    @property
    def colour(self) -> Part:
        """The colour of a row's series."""
        return _of_series(colours(self.chart))


def _of_series(looks: Mapping[str, Any]) -> Part:
    """What each series looks like; the page's own legend tells it."""
    return _name("series", scale={"domain": [*looks], "range": [*looks.values()]}, legend=None)


def _layer(mark: str, encoding: Part, needs: str | None = None, /, **look: Any) -> Part:
    """Marks at the rows that have what they need."""
    found = {"mark": {"type": mark, **look}, "encoding": encoding}
    return {**found, "transform": [{"filter": f"isValid(datum.{needs})"}]} if needs else found


def _unit(drawing: _Drawing) -> list[Part]:
    """The line at 1 of normalised values."""
    if not drawing.chart.has_unit(drawing.panel):
        return []
    rule = _layer("rule", {"y": drawing.y("value")}, color=TEXT, aria=False)
    return [{**rule, "data": {"values": [{"value": 1}]}}]


def _bars(drawing: _Drawing) -> list[Part]:
    """Bars, and above them what does not fit or is noted."""
    at = {**drawing.at, "y": drawing.y("top")}
    chart, panel = drawing.chart, drawing.panel
    begin = 1.0 if panel.normalised else scale.powers(chart, panel)[0]
    base = {"y2": {"datum": begin}} if chart.log_y else {}
    bars = _layer("bar", {**at, **base, "color": drawing.colour, **drawing.told}, cursor="pointer")
    words = {**at, "text": _name("above")}
    above = _layer("text", words, "above", dy=-7, color=TEXT, fontSize=9, aria=False)
    return [bars, *_whiskers(drawing), *([above] if drawing.have("above") else [])]


def _whiskers(drawing: _Drawing) -> list[Part]:
    if drawing.chart.kind is Kind.CDF or not drawing.have("low"):
        return []
    ends = {"y": drawing.y("low"), "y2": {"field": "high"}}
    return [_layer("rule", {**drawing.at, **ends}, "low", color=TEXT, aria=False)]


def _lines(drawing: _Drawing) -> list[Part]:
    """Lines with a point at each value, which tells it."""
    chart, at = drawing.chart, {"x": drawing.x, "y": drawing.y("value")}
    dash = _dashes(chart) if chart.dashes else {"value": DASHES[0]}
    order = {"order": _number("place")} if chart.kind is Kind.CDF else {}
    stroke = {"strokeDash": {**dash, "condition": {"test": "datum.bound", "value": DASHES[DOTTED]}}}
    lines = _layer("line", {**at, "color": drawing.colour, "detail": _name("series"), **stroke, **order}, aria=False)
    shape = _of_series({label: SHAPES[number] for label, number in Palette(chart).shapes.items()})
    points = {**at, "color": drawing.colour, "shape": shape, **drawing.told}
    return [lines, *_whiskers(drawing), _layer("point", points, filled=True, size=36, opacity=1, cursor="pointer")]


def _dashes(chart: Chart) -> Part:
    found = {dash: DASHES[number % len(DASHES)] for number, dash in enumerate(chart.dashes)}
    legend = {"title": chart.headings[2], "symbolStrokeColor": TEXT, "symbolType": "stroke"}
    return _name("dash", scale={"domain": [*found], "range": [*found.values()]}, legend=legend)


def _cells(drawing: _Drawing) -> list[Part]:
    """A cell a value, with its number."""
    at = {**drawing.at, "y": drawing.y("value")}
    cells = _layer("rect", {**at, "color": _name("fill", scale=None), **drawing.told}, cursor="pointer")
    return [cells, _layer("text", {**at, "text": _name("text")}, fontSize=9, color=INK, aria=False)]


def _points(drawing: _Drawing) -> list[Part]:
    """A point a series, with its name, hollow for a bound; a line along the front."""
    at = {**drawing.at, "y": drawing.y("value")}
    order = {"order": _number("right")}
    front = _layer("line", {**at, **order}, "front", interpolate="step-after", color=DIM, aria=False)
    fill = {**drawing.colour, "condition": {"test": "datum.bound", "value": BACK}}
    look = {"stroke": drawing.colour, "fill": fill, **drawing.told}
    dots = _layer("point", {**at, **look}, size=36, strokeWidth=1.2, opacity=1, cursor="pointer")
    font = {
        "fontStyle": {"expr": "datum.bound ? 'italic' : 'normal'"},
        "fontWeight": {"expr": "datum.front ? 'bold' : 'normal'"},
    }
    words = {**at, "color": drawing.colour, "text": _name("series")}
    return [front, dots, _layer("text", words, dx=7, align="left", fontSize=9, aria=False, **font)]


MAIN: Mapping[Kind, Callable[[_Drawing], list[Part]]] = {
    Kind.BARS: _bars,
    Kind.LINES: _lines,
    Kind.CDF: _lines,
    Kind.GRID: _cells,
    Kind.SCATTER: _points,
}


def _paper(drawing: _Drawing) -> list[Part]:
    """The paper's values: diamonds, and broken lines at extremes whose place or series it does not name."""
    chart, panel = drawing.chart, drawing.panel
    if chart.kind is Kind.CDF:
        return []
    found = []
    if panel.band is not None:
        low, high = panel.band
        band = _layer(
            "rect", {"x": {**drawing.x, "field": "low"}, "x2": {"field": "high"}}, color=DIM, opacity=0.2, aria=False
        )
        found.append({**band, "data": {"values": [{"low": low, "high": high}]}})
    if any(series.has_paper for series in panel.series):
        diamond = {"shape": "diamond", "filled": True, "fill": BACK, "stroke": TEXT, "size": 44, "opacity": 1}
        at = {**drawing.at, "y": drawing.y("paper"), "tooltip": drawing.told["tooltip"]}
        found.append(_layer("point", at, "paper", aria=False, **diamond))
    if ends := extremes(panel):
        tips = [_name("series", title=told(chart)["series"]), _tip("paper", "extreme")]
        rule = {"y": drawing.y("paper"), "color": drawing.colour, "tooltip": tips}
        found.append({**_broken(ends, rule), "transform": [{"filter": SHOWN}]})
    if places := spreads(chart, panel):
        ends_of = {"y": drawing.y("low"), "y2": {"field": "high"}}
        tips = [_tip("low", "smallest"), _tip("high", "largest")]
        found.append(_broken(places, {"x": drawing.x, **ends_of, "tooltip": tips}, color=TEXT))
    return found


def _broken(its: list[Row], encoding: Part, **look: Any) -> Part:
    """Broken lines at rows of their own."""
    return {**_layer("rule", encoding, strokeDash=BROKEN, aria=False, **look), "data": {"values": its}}


def _tip(field: str, word: str) -> Part:
    return _number(field, title=f"Paper's {word}")
