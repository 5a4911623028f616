"""A figure as data: which runs, which quantity of them, and how it is drawn. `CONTRIBUTING.md` explains the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.errors import InputError
from strandline.experiments.document import Section, read
from strandline.report.chart import Kind

RUN_KEYS = ("workload", "design", "machine", "runtime", "threads", "tasks", "window", "bmo")
OVERRIDES = ("machine.", "design.", "workload.")
METRICS = "metric"
"""In `plot`, stands for the metrics where an axis is expected: one series each."""

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """A place on an axis: what it is called and what it sets."""

    label: str
    settings: Settings


@dataclass(frozen=True)
class Axis:
    """Something that is varied. The runs of a figure are the product of its axes."""

    key: str
    title: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Metric:
    """A quantity of a run, divided by that of a baseline where there is one."""

    key: str
    title: str
    quantity: str
    baseline: Mapping[str, str]
    """Axis and label of the baseline; it is compared with the runs that differ from it there alone."""
    inverse: bool
    """Whether it is baseline over run (a speedup) rather than run over baseline (a slowdown)."""
    paper: str | None
    """The claim whose `values` hold what the paper reports, by label of the x axis and this metric's key."""


@dataclass(frozen=True)
class Plot:
    """How the figure is drawn."""

    kind: Kind
    x: str
    series: str
    y_title: str


@dataclass(frozen=True)
class FigureSpec:
    """A paper's figure or table."""

    id: str
    paper: str
    title: str
    source: str
    claims: tuple[str, ...]
    fixed: Settings
    axes: tuple[Axis, ...]
    metrics: tuple[Metric, ...]
    plot: Plot

    def axis(self, key: str) -> Axis:
        """The axis of that key."""
        return next(axis for axis in self.axes if axis.key == key)


def load(path: Path) -> FigureSpec:
    """Reads `experiments/<paper>/<figure>.toml`; its id is `<paper>-<figure>`."""
    top = read(path).only(("title", "source", "claims", "fixed", "axes", "metrics", "plot"))
    axes = tuple(_axis(section) for section in top.sections("axes"))
    if not axes:
        raise top.document.error("axes", "missing: add at least one [[axes]]")
    fixed = top.section("fixed")
    metrics = tuple(_metric(section, axes) for section in top.sections("metrics"))
    return FigureSpec(
        id=f"{path.parent.name}-{path.stem}",
        paper=path.parent.name,
        title=top.take("title", str),
        source=top.take("source", str),
        claims=tuple(top.take("claims", list, [])),
        fixed=_settings(fixed),
        axes=axes,
        metrics=metrics,
        plot=_plot(top.section("plot"), axes, metrics),
    )


def _settings(section: Section) -> Settings:
    for key in section.keys:
        if key not in RUN_KEYS and not key.startswith(OVERRIDES):
            mend = f"use one of {', '.join(RUN_KEYS)}, or a quoted one with `{'`, `'.join(OVERRIDES)}`"
            raise section.document.error(key, f"unknown setting: {mend}")
    return section.keys


def _axis(section: Section) -> Axis:
    section.only(("key", "title", "points"))
    key = section.take("key", str)
    points = tuple(_point(section, key, value) for value in section.take("points", list))
    labels = [point.label for point in points]
    if not points or len(set(labels)) < len(labels):
        raise section.document.error("points", f"axis {key} needs at least one point, each with a label of its own")
    return Axis(key, section.take("title", str), points)


def _point(axis: Section, key: str, value: Any) -> Point:
    if not isinstance(value, dict):
        return Point(str(value), _settings(Section(axis.document, {key: value})))
    section = Section(axis.document, value).only(("label", "settings"))
    return Point(section.take("label", str), _settings(section.section("settings")))


def _metric(section: Section, axes: tuple[Axis, ...]) -> Metric:
    section.only(("key", "title", "quantity", "baseline", "inverse", "paper"))
    baseline = section.take("baseline", dict, {})
    for key, label in baseline.items():
        known = [point.label for axis in axes if axis.key == key for point in axis.points]
        if label not in known:
            raise section.document.error("baseline", f"no axis `{key}` has a point `{label}`: add it or name another")
    return Metric(
        key=section.take("key", str),
        title=section.take("title", str),
        quantity=section.take("quantity", str),
        baseline=baseline,
        inverse=section.take("inverse", bool, False),
        paper=section.take("paper", str, "") or None,
    )


def _plot(section: Section, axes: tuple[Axis, ...], metrics: tuple[Metric, ...]) -> Plot:
    section.only(("kind", "x", "series", "y_title"))
    kind = section.take("kind", str)
    if kind not in [each.value for each in Kind]:
        raise section.document.error("kind", f"unknown kind `{kind}`: use {' or '.join(each.value for each in Kind)}")
    plot = Plot(Kind(kind), section.take("x", str), section.take("series", str), section.take("y_title", str))
    keys = [axis.key for axis in axes]
    if plot.x not in keys:
        raise section.document.error("x", f"no axis `{plot.x}`: use one of {', '.join(keys)}")
    if plot.series not in (*keys, METRICS) or plot.series == plot.x:
        raise section.document.error("series", f"`{plot.series}` is no other axis: use `{METRICS}` or an axis's key")
    _every_axis_shown(section, plot, axes, metrics)
    return plot


def _every_axis_shown(section: Section, plot: Plot, axes: tuple[Axis, ...], metrics: tuple[Metric, ...]) -> None:
    """What is neither along x nor a series must come to one value, or lines would lie on each other unseen."""
    if not metrics or (plot.series != METRICS and len(metrics) > 1):
        raise section.document.error("series", f"needs one metric, or several and series = '{METRICS}'")
    for axis in axes:
        for metric in metrics:
            left = len(axis.points) - (axis.key in metric.baseline)
            if axis.key not in (plot.x, plot.series) and left > 1:
                raise section.document.error("series", f"axis `{axis.key}` is not drawn but has {left} points")


def run_settings(settings: Settings) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings that are keys of a run, and the rest as overrides `key=value`."""
    keys = {key: value for key, value in settings.items() if key in RUN_KEYS}
    overrides = tuple(f"{key}={_word(value)}" for key, value in settings.items() if key not in RUN_KEYS)
    if "workload" not in keys or "design" not in keys:
        raise InputError("a figure's runs need a workload and a design: name both in [fixed] or an axis")
    return keys, overrides


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
