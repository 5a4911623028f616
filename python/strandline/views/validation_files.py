"""The files of a validation: its table, its numbers, and three pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from strandline.validations import LOGGED_TWINS, TWINS_FAMILY, Timed
from strandline.views import files, plot_file
from strandline.views.chart import Chart, Kind, Panel, Series
from strandline.views.plot_size import Format, Style
from strandline.views.table import Table

TABLE, NUMBERS = "table.md", "validation.json"
POINTS, CURVES, TWINS = "points", "curves", "twins"
"""The pictures: ratios of cases without a size, times over sizes, and ratios of workloads and their twins."""
PICTURES = tuple(f"{name}.{each.value}" for name in (POINTS, CURVES, TWINS) for each in Format)
TWIN_SERIES = {TWINS_FAMILY: "without log, cycles", LOGGED_TWINS: "logged, ns"}
TITLE = "Microbenchmarks on a processor and on a simulated core"
TWINS_TITLE = "Workloads in C on a processor, and ours on a simulated core"


def replacing(folder: Path) -> AbstractContextManager[Path]:
    """As `files.replacing`, for a validation's files."""
    return files.replacing(folder, (TABLE, NUMBERS, *PICTURES), "a validation's")


def write(
    folder: Path,
    table: Table,
    remarks: Sequence[str],
    timed: Sequence[Timed],
    document: Mapping[str, Any],
    style: Style,
) -> None:
    """Writes them; a picture only if there is something to draw."""
    text = "\n\n".join((f"# {TITLE}", *remarks, table.markdown()))
    (folder / TABLE).write_text(text, encoding="utf-8")
    (folder / NUMBERS).write_text(f"{json.dumps(document, indent=2)}\n", encoding="utf-8")
    charts = {POINTS: points(timed, remarks), CURVES: curves(timed, remarks), TWINS: twins(timed, remarks)}
    for name, chart in charts.items():
        if chart is not None:
            plot_file.write(chart, folder, style, name)


def points(timed: Sequence[Timed], remarks: Sequence[str]) -> Chart | None:
    """Simulated to measured times of the cases that were measured and are in no other picture."""
    drawn = {*_curves(timed), *TWIN_SERIES}
    shown = [(each.case.name, each.ratio) for each in timed if each.case.family not in drawn]
    ratios = {name: ratio for name, ratio in shown if ratio is not None}
    if not ratios:
        return None
    series = _series("simulated", tuple(ratios.values()))
    panel = Panel(None, (series,), normalised=True)
    return _chart(Kind.BARS, remarks, "case", "simulated / measured", tuple(ratios), (panel,))


def twins(timed: Sequence[Timed], remarks: Sequence[str]) -> Chart | None:
    """Simulated to measured times of workloads: those that most families of twins have."""
    ratios = {family: _workloads(timed, family) for family in TWIN_SERIES}
    places = max((tuple(its) for its in ratios.values()), key=len)
    if not places:
        return None
    shown = {family: its for family, its in ratios.items() if tuple(its) == places}
    series = tuple(_series(TWIN_SERIES[family], tuple(its.values())) for family, its in shown.items())
    panel = Panel(None, series, normalised=True)
    chart = _chart(Kind.BARS, remarks, "workload", "simulated / measured", places, (panel,))
    return replace(chart, title=TWINS_TITLE)


def _workloads(timed: Sequence[Timed], family: str) -> dict[str, float]:
    """The ratio of each workload of a family that was measured."""
    its = [each for each in timed if each.case.family == family]
    return {each.case.name.removeprefix(f"{family}-"): each.ratio for each in its if each.ratio is not None}


def curves(timed: Sequence[Timed], remarks: Sequence[str]) -> Chart | None:
    """Times over the size, measured and simulated, a plot for each family with most sizes."""
    drawn = _curves(timed)
    if not drawn:
        return None
    sizes = tuple(str(each.case.size) for each in next(iter(drawn.values())))
    panels = [Panel(name, _both(its), y_title=its[0].case.unit) for name, its in drawn.items()]
    return _chart(Kind.LINES, remarks, "N", "time", sizes, tuple(panels))


def _curves(timed: Sequence[Timed]) -> dict[str, list[Timed]]:
    """The families with most sizes: plots of a picture share their places."""
    families = dict.fromkeys(each.case.family for each in timed if each.case.size is not None)
    every = {name: [each for each in timed if each.case.family == name] for name in families}
    most = max(map(len, every.values()), default=0)
    return {name: its for name, its in every.items() if len(its) == most > 1}


def _both(its: Sequence[Timed]) -> tuple[Series, ...]:
    measured = [each.measured for each in its if each.measured is not None]
    simulated = _series("simulated", tuple(each.simulated for each in its))
    return (_series("measured", tuple(measured)), simulated) if len(measured) == len(its) else (simulated,)


def _series(label: str, values: tuple[float, ...]) -> Series:
    nothing = (None,) * len(values)
    return Series(label, values, nothing, nothing)


def _chart(
    kind: Kind, remarks: Sequence[str], x_title: str, y_title: str, places: tuple[str, ...], panels: tuple[Panel, ...]
) -> Chart:
    return Chart(
        kind,
        TITLE,
        "; ".join(remarks[:-1]),
        x_title,
        y_title,
        False,
        places,
        panels,
        ("family", "time", ""),
        None,
        log_x=kind is Kind.LINES,
        # A ratio of 1/2 is as far off as one of 2.
        log_y=kind is Kind.BARS,
    )
