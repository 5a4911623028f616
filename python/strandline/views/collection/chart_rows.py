"""A panel's values as rows, which an interactive chart draws and tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strandline.views.chart import PAPER, Chart, Kind, Panel, Series
from strandline.views.interval import PER_CENT
from strandline.views.numbers import number
from strandline.views.palette import of_cell
from strandline.views.scale import cut
from strandline.views.table import NOTHING

Row = Mapping[str, Any]


def told(chart: Chart) -> dict[str, str]:
    """What is shown of each value: the rows' keys of texts, and their titles."""
    cdf = chart.kind is Kind.CDF
    found = {
        "series": chart.headings[1] or "Series",
        "dash": chart.headings[2] if chart.dashes else "",
        "place": chart.y_title if cdf else chart.x_title,
        "text": chart.x_title if cdf else "Value",
        "theirs": "Paper" if PAPER in chart.marks_of_paper else "",
        "interval": f"{PER_CENT} % interval" if any(series.whiskers for series in chart.every) else "",
        "note": chart.note or "",
        "tasks": "Tasks" if any(series.tasks for series in chart.every) else "",
    }
    return {key: title for key, title in found.items() if title}


def rows(chart: Chart, panel: Panel) -> list[Row]:
    """A row a value, of all series of a panel; a row a point of a scatter plot."""
    if chart.kind is Kind.SCATTER:
        return [_point(series) for series in panel.series]
    top = cut(chart, chart.scaled_with(panel)) if chart.kind is Kind.BARS else None
    found = [
        _row(chart, series, index, top)
        for series in panel.series
        for index, value in enumerate(series.values)
        if value > 0 or not chart.log_y
    ]
    filled = chart.kind is Kind.GRID
    return [{**row, "fill": of_cell(chart, panel, row["value"])} for row in found] if filled else found


def _row(chart: Chart, series: Series, index: int, top: float | None) -> Row:
    value, theirs, note = series.values[index], series.paper[index], series.notes[index]
    interval = series.whiskers[index] if series.whiskers else None
    tasks = series.tasks[index] if series.tasks else None
    beyond = top is not None and value > top
    drawn = {
        "place": chart.places[index],
        "series": series.label,
        "value": value,
        "top": top if beyond else value,
        "above": " ".join(each for each in (note, f"↑ {number(value)}" if beyond else None) if each) or None,
        "paper": theirs,
        "bound": series.bound or None,
        "low": None if interval is None or beyond else _end(chart, interval[0], value),
        "high": None if interval is None or beyond else interval[1],
    }
    texts = {
        "dash": series.dash,
        "text": number(value),
        "theirs": NOTHING if theirs is None else number(theirs),
        "interval": NOTHING if interval is None else " to ".join(map(number, interval)),
        "note": note or NOTHING,
        "tasks": NOTHING if tasks is None else f"{tasks:,}",
    }
    needed = {key: text for key, text in texts.items() if key in told(chart)}
    return {key: each for key, each in drawn.items() if each is not None} | needed


def _point(series: Series) -> Row:
    right, up = series.values
    shown = {"place": number(right), "text": number(up), "note": series.notes[1] or NOTHING}
    marks = {"bound": series.bound, "front": any(series.notes)}
    kinds = {key: True for key, is_so in marks.items() if is_so}
    return {"series": series.label, "right": right, "value": up, **shown, **kinds}


def _end(chart: Chart, low: float, value: float) -> float:
    """The lower end of a whisker: at the axis at most, and at the value where a logarithmic axis has no such place."""
    return low if low > 0 else value if chart.log_y else 0.0


def extremes(panel: Panel) -> list[Row]:
    """The paper's smallest and largest values of a series, of which it does not say at which place."""
    return [{"series": series.label, "paper": value} for series in panel.series for value in series.bounds]


def spreads(chart: Chart, panel: Panel) -> list[Row]:
    """The paper's smallest and largest value of all series at a place."""
    return [
        {"place": spread.place, "low": min(spread.values), "high": max(spread.values)}
        for spread in panel.spreads
        if spread.place in chart.places
    ]
