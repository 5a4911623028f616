"""Reads `experiments/<paper>/<figure>.toml`. Errors are one line: file, line, key, problem, mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from strandline.experiments import litmus_figure, plot_section, search_section, setting
from strandline.experiments.document import Section, read
from strandline.experiments.litmus_figure import LitmusFigure
from strandline.experiments.spec import Axis, FigureSpec, Metric, Point


def load(path: Path) -> FigureSpec | LitmusFigure:
    """Reads a figure; its id is `<paper>-<figure>`."""
    top = read(path)
    return litmus_figure.read(top, path) if "litmus" in top.keys else _of_runs(top, path)


def load_runs(path: Path) -> FigureSpec:
    """Reads a figure of timed runs."""
    return _of_runs(read(path), path)


def _of_runs(top: Section, path: Path) -> FigureSpec:
    top.only(("title", "source", "claims", "fixed", "search", "axes", "metrics", "plot"))
    fixed = setting.read_all(top.section("fixed"))
    sections = top.sections("axes")
    axes = tuple(_axis(section) for section in sections)
    if not axes:
        raise top.error("axes", "missing: add at least one [[axes]]")
    search = search_section.read(top, fixed, tuple(zip(sections, axes, strict=True)))
    metrics = tuple(_metric(section, axes) for section in top.sections("metrics"))
    return FigureSpec(
        id=f"{path.parent.name}-{path.stem}",
        paper=path.parent.name,
        title=top.take("title", str),
        source=top.take("source", str),
        claims=tuple(top.take("claims", list, [])),
        fixed=fixed,
        search=search,
        axes=axes,
        metrics=metrics,
        plot=plot_section.read(top.section("plot"), axes, metrics),
    )


def _axis(section: Section) -> Axis:
    section.only(("key", "title", "points"))
    key = section.take("key", str)
    points = tuple(_point(section, key, value) for value in section.take("points", list))
    labels = [point.label for point in points]
    if not points or len(set(labels)) < len(labels):
        raise section.error("points", f"axis {key} needs at least one point, each with a label of its own")
    return Axis(key, section.take("title", str), points)


def _point(axis: Section, key: str, value: Any) -> Point:
    if not isinstance(value, dict):
        return Point(str(value), setting.read_all(axis.within({key: value})))
    section = axis.within(value).only(("label", "settings", "without", "search"))
    label = section.take("label", str)
    return Point(
        label=label,
        settings=setting.read_all(section.within(section.take("settings", dict, {}))),
        without=tuple(setting.check_key(section, str(each)) for each in section.take("without", list, [])),
        finder=_finder(section, label),
    )


def _finder(point: Section, label: str) -> str | None:
    """Which point's best value this one takes: `true` stands for its own."""
    given = point.keys.get("search")
    if given is True:
        return label
    if given is None or isinstance(given, str):
        return given
    raise point.error("search", f"expected true or the label of another point, found `{given}`")


def _metric(section: Section, axes: tuple[Axis, ...]) -> Metric:
    section.only(("key", "title", "quantity", "only", "baseline", "baseline_shown", "inverse", "paper"))
    return Metric(
        key=section.take("key", str),
        title=section.take("title", str),
        quantity=section.take("quantity", str),
        only=_place(section, "only", axes),
        baseline=_place(section, "baseline", axes),
        baseline_shown=section.take("baseline_shown", bool, False),
        inverse=section.take("inverse", bool, False),
        paper=section.take("paper", str, "") or None,
    )


def _place(section: Section, key: str, axes: tuple[Axis, ...]) -> dict[str, str]:
    """Labels of points, by axis."""
    place: dict[str, str] = section.take(key, dict, {})
    for axis_key, label in place.items():
        if label not in [point.label for axis in axes if axis.key == axis_key for point in axis.points]:
            raise section.error(key, f"no axis `{axis_key}` has a point `{label}`: add it or name another")
    return place
