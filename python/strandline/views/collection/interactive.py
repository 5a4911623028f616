"""A figure's chart as a part of a page: the place where it is drawn, its legend, and its specification."""

from __future__ import annotations

import json
from html import escape

from strandline.views.chart import EXTREMES, PAPER, Chart, Kind


def figure(chart: Chart, title: str) -> str:
    """The chart with a legend whose buttons hide series, and a line that tells what the keyboard points at."""
    from strandline.views.collection.charts import specification  # It imports Altair and matplotlib.

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
    from strandline.views.collection.charts import colours

    heading = escape(chart.legend or chart.headings[1] or "Series")
    buttons = [
        f'<button type="button" aria-pressed="true" value="{escape(label)}"><i style="background: {colour}"></i>'
        f"{escape(label)}</button>"
        for label, colour in colours(chart).items()
    ]
    entries = [_dim(heading), *buttons] if len(buttons) > 1 else []
    entries += [_dim(mark) for mark in _marks(chart)]
    return f'<div class="legend" role="group" aria-label="{heading}">{"".join(entries)}</div>' if entries else ""


def _marks(chart: Chart) -> list[str]:
    every = [series for panel in chart.panels for series in panel.series]
    extremes = any(series.bounds for series in every) or any(panel.spreads for panel in chart.panels)
    drawn = chart.kind is not Kind.CDF
    marks = {f"◇ {PAPER}": any(series.has_paper for series in every), f"┄ {EXTREMES}": extremes}
    return [mark for mark, is_there in marks.items() if is_there and drawn]


def _dim(text: str) -> str:
    return f'<span class="dim">{text}</span>'
