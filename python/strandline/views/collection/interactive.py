"""A figure's chart as a part of a page: the place where it is drawn, its legend, and its specification."""

from __future__ import annotations

import json
from html import escape

from strandline.views.chart import BAND, EXTREMES, PAPER, Chart
from strandline.views.collection.charts import colours, specification

SIGNS = {PAPER: "◇", EXTREMES: "┄", BAND: "▒"}
"""The paper's marks in a legend."""


def figure(chart: Chart, title: str) -> str:
    """The chart with a legend whose buttons hide series, and a line that tells what the keyboard points at."""
    document = json.dumps(specification(chart), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    label = f"{escape(title)}. Arrow keys read the values"
    remarks = "".join(f'<p class="dim">{escape(remark)}</p>' for remark in chart.remarks)
    return (
        f'<div class="chart">\n{_legend(chart)}\n'
        f'<div class="view" tabindex="0" role="group" aria-label="{label}"></div>\n'
        f'<output class="dim"></output>{remarks}\n'
        f'<script type="application/json">{_harmless(document)}</script>\n</div>'
    )


def _harmless(document: str) -> str:
    """JSON that cannot end its element."""
    return document.replace("<", "\\u003c")


def _legend(chart: Chart) -> str:
    """A button a series, and what the paper's marks are; nothing where there is one series and no mark."""
    heading = escape(chart.legend or chart.headings[1] or "Series")
    buttons = [
        f'<button type="button" aria-pressed="true" value="{escape(label)}"><i style="background: {colour}"></i>'
        f"{escape(label)}</button>"
        for label, colour in colours(chart).items()
    ]
    entries = [_dim(heading), *buttons] if len(buttons) > 1 else []
    entries += [_dim(f"{SIGNS[mark]} {mark}") for mark in chart.marks_of_paper]
    return f'<div class="legend" role="group" aria-label="{heading}">{"".join(entries)}</div>' if entries else ""


def _dim(text: str) -> str:
    return f'<span class="dim">{text}</span>'
