"""Reads `experiments/<paper>/<figure>.toml`: `spec` defines the keys, the checks their consistency."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs
from msgspec.structs import asdict

from strandline.figures import check_plot, check_settings, inputs, toml_file
from strandline.figures.spec import (
    AnyFigure,
    Axis,
    FigureFile,
    FigureSpec,
    LitmusFigure,
    LitmusFile,
    TimelineFigure,
    TimelineFile,
)
from strandline.figures.toml_file import TomlFile, no_twice, require

FILE = "file"
"""In place of the keys of an axis, the file that has them."""


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
    file = _with_axes(file)
    spec = FigureSpec(**asdict(file.convert(FigureFile)), id=_id(file.path))
    with file.checked():
        spec = spec if spec.inputs is None else _with_inputs(spec, spec.inputs, file.path.parent)
        _check_names(spec)
        check_settings.check(spec)
        check_plot.check(spec)
    return spec


def _with_inputs(spec: FigureSpec, paper: str, folder: Path) -> FigureSpec:
    """The figure with what the inputs of a paper, of the user's or of ours, give to its workloads."""
    ours = Path(__file__).resolve().parents[1] / "experiments"
    found = next(filter(None, (inputs.load(root / paper) for root in (folder.parent, ours))), None)
    require(
        found is not None,
        ("inputs",),
        f"no paper `{paper}` has an {inputs.FILE}: `strandline inputs` lists those that have",
    )
    return spec if found is None else structs.replace(spec, given=found.given(), off=found.factors())


def _with_axes(file: TomlFile) -> TomlFile:
    """The figure with each axis that is a file of its own, which several figures share."""
    axes = file.document.get("axes")
    if not isinstance(axes, list):
        return file
    with file.checked():
        found = [_axis(file.path, number, axis) for number, axis in enumerate(axes)]
    return replace(file, document={**file.document, "axes": found})


def _axis(figure: Path, number: int, axis: Any) -> Any:
    if not isinstance(axis, dict) or FILE not in axis:
        return axis
    name = axis[FILE]
    require(isinstance(name, str) and len(axis) == 1, ("axes", number, FILE), "stands alone, as text: an axis' file")
    shared = toml_file.read(figure.parent / name)
    shared.convert(Axis)
    return shared.document


def _check_names(spec: FigureSpec) -> None:
    no_twice(("axes",), [axis.key for axis in spec.axes])
    no_twice(("metrics",), [metric.key for metric in spec.metrics])
    for number, axis in enumerate(spec.axes):
        no_twice(("axes", number, "points"), axis.labels)


def _of_litmus(file: TomlFile) -> LitmusFigure:
    figure = LitmusFigure(**asdict(file.convert(LitmusFile)), id=_id(file.path))
    with file.checked():
        for key in ("tests", "models", "designs"):
            no_twice(("litmus", key), getattr(figure.litmus, key))
    return figure


def _of_timelines(file: TomlFile) -> TimelineFigure:
    figure = TimelineFigure(**asdict(file.convert(TimelineFile)), id=_id(file.path))
    with file.checked():
        check_settings.check_timeline(figure)
        no_twice(("timeline", "runs"), [run.label for run in figure.timeline.runs])
    return figure
