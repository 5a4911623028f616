"""A chart by itself: for what draws a specification of Vega-Lite, such as a notebook, and as a page."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from strandline.errors import InputError
from strandline.views import template
from strandline.views.chart import Chart
from strandline.views.collection import interactive, vega
from strandline.views.collection.charts import BACK, DIM, RULE, TEXT
from strandline.views.collection.charts import specification as of_page
from strandline.views.collection.page import PACKAGE

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""The version that notebooks draw."""
COLOURS = {TEXT: "#1c2128", DIM: "#5b6470", BACK: "#ffffff", RULE: "#d5dae1"}
"""The light colours of a page's style, which a notebook has not."""
TWO = re.compile(r"light-dark\((?P<light>[^,]+), [^)]+\)")
COLUMNS = 2
"""Panels side by side."""
NO_PAGE = "a page that draws a chart needs more: run `pip install 'strandline[charts]'`"


def specification(chart: Chart) -> dict[str, Any]:
    """The chart for Vega-Lite, light and with legends and words of its own."""
    found = of_page(chart)
    heading = chart.legend or chart.headings[1] or None
    config = {**found["config"], "background": COLOURS[BACK]}
    title = {"text": chart.title, "subtitle": [chart.source, *chart.remarks], "anchor": "start"}
    own = {"$schema": SCHEMA, "config": config, "title": title, "columns": min(COLUMNS, len(chart.panels))}
    filled: dict[str, Any] = _filled({**found, **own}, heading, len(chart.labels) > 1)
    return filled


def _filled(part: Any, heading: str | None, has_legend: bool) -> Any:
    """A part of a specification with colours for words, and a legend of the series."""
    if isinstance(part, dict):
        found = {key: _filled(each, heading, has_legend) for key, each in part.items()}
        is_series = found.get("field") == "series" and "legend" in found and found["legend"] is None
        return {**found, "title": heading, "legend": {}} if is_series and has_legend else found
    if isinstance(part, list):
        return [_filled(each, heading, has_legend) for each in part]
    return TWO.sub(r"\g<light>", COLOURS.get(part, part)) if isinstance(part, str) else part


def page(chart: Chart) -> str:
    """The chart as a page, which needs no network; an `InputError` without the extra that draws it."""
    if not vega.available():
        raise InputError(NO_PAGE)
    parts = {
        "PROGRAMS": f"<script>{vega.programs()}</script>",
        "HEAD": f'<p class="dim">{escape(chart.source)}</p>',
        "ENTRIES": f"<section>{interactive.figure(chart, chart.title)}</section>",
    }
    return template.page(PACKAGE, chart.title, parts, ("chart.js", "page.js"))
