"""Reads `experiments/<paper>/<figure>.toml`: `spec` defines the keys, the checks their consistency."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import asdict

from strandline.figures import check_plot, check_settings, toml_file
from strandline.figures.spec import (
    AnyFigure,
    FigureFile,
    FigureSpec,
    LitmusFigure,
    LitmusFile,
    LitmusRuns,
    TimelineFigure,
    TimelineFile,
)
from strandline.figures.toml_file import DocumentError, TomlFile, no_twice


def load(path: Path) -> AnyFigure:
    """Reads a figure; its id is `<paper>-<figure>`: the names of its folder and of its file."""
    file = toml_file.read(path)
    if "litmus" in file.document:
        return _of_litmus(file)
    return _of_timelines(file) if "timeline" in file.document else _of_runs(file)


def load_runs(path: Path) -> FigureSpec:
    """Reads a figure of timed runs."""
    return _of_runs(toml_file.read(path))


def _id(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def _of_runs(file: TomlFile) -> FigureSpec:
    spec = FigureSpec(**asdict(file.convert(FigureFile)), id=_id(file.path))
    try:
        _check_names(spec)
        check_settings.check(spec)
        check_plot.check(spec)
    except DocumentError as error:
        raise file.error(error) from error
    return spec


def _check_names(spec: FigureSpec) -> None:
    no_twice(("axes",), [axis.key for axis in spec.axes])
    no_twice(("metrics",), [metric.key for metric in spec.metrics])
    for number, axis in enumerate(spec.axes):
        no_twice(("axes", number, "points"), axis.labels)


def _of_litmus(file: TomlFile) -> LitmusFigure:
    figure = LitmusFigure(**asdict(file.convert(LitmusFile)), id=_id(file.path))
    try:
        _check_litmus(figure.litmus)
    except DocumentError as error:
        raise file.error(error) from error
    return figure


def _of_timelines(file: TomlFile) -> TimelineFigure:
    figure = TimelineFigure(**asdict(file.convert(TimelineFile)), id=_id(file.path))
    try:
        check_settings.check_timeline(figure)
        no_twice(("timeline", "runs"), [run.label for run in figure.timeline.runs])
    except DocumentError as error:
        raise file.error(error) from error
    return figure


def _check_litmus(litmus: LitmusRuns) -> None:
    no_twice(("litmus", "tests"), litmus.tests)
    no_twice(("litmus", "models"), litmus.models)
    no_twice(("litmus", "designs"), litmus.designs)
