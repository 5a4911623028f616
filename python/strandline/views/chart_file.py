"""The file of a figure's chart: what the picture shows, for pages that draw it themselves."""

from __future__ import annotations

from pathlib import Path

import msgspec

from strandline import outside
from strandline.errors import InputError
from strandline.views.chart import Chart, Series
from strandline.views.files import CHART


def write(chart: Chart, folder: Path) -> None:
    """Writes `chart.json`."""
    (folder / CHART).write_bytes(msgspec.json.encode(chart) + b"\n")


def read(file: Path) -> Chart:
    """The chart of a file; an `InputError` if it holds none."""
    try:
        chart = msgspec.json.decode(outside.bytes_of(file), type=Chart)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{file}: no chart of a figure ({error}): run the figure again") from error
    for panel in chart.panels:
        for series in panel.series:
            if not _fits(series, len(chart.places)):
                raise InputError(f"{file}: `{series.label}` has not one value a place: run the figure again")
    return chart


def _fits(series: Series, places: int) -> bool:
    """Whether there is a value for each place."""
    always = (series.values, series.paper, series.notes)
    sometimes = (series.whiskers, series.tasks)
    return all(len(each) == places for each in always) and all(len(each) in (0, places) for each in sometimes)
