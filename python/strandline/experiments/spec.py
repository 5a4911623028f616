"""A figure as data: which runs, which quantity of them, and how it is drawn. `CONTRIBUTING.md` explains the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strandline.report.chart import Kind

RUN_KEYS = ("workload", "design", "machine", "runtime", "threads", "tasks", "window", "coroutines", "bmo")
WHOLE = ("threads", "tasks", "window", "bmo")
"""Those that are whole numbers; the others are text, and `window` may be `auto` too."""
OVERRIDES = ("machine.", "design.", "workload.")
METRICS = "metric"
"""In `plot`, stands for the metrics where an axis is expected: one series, or one panel, each."""
QUANTILE = "quantile"
"""The axis along which a distribution is drawn; its places are per cent."""
MEAN = "geomean"
"""The place of the geometric mean on the x axis."""

Settings = Mapping[str, Any]
Labels = Mapping[str, str]
"""The label of a point on each axis, by the axis's key."""


@dataclass(frozen=True)
class Point:
    """A place on an axis: what it is called and what it sets."""

    label: str
    settings: Settings
    without: tuple[str, ...] = ()
    """Keys that runs at this point do not have, whatever other axes set."""
    finder: str | None = None
    """The point that searches the best value for runs at this point: itself, or another of the axis."""


@dataclass(frozen=True)
class Axis:
    """Something that is varied. The runs of a figure are the product of its axes."""

    key: str
    title: str
    points: tuple[Point, ...]

    def point(self, label: str) -> Point:
        """The point of that label."""
        return next(point for point in self.points if point.label == label)


@dataclass(frozen=True)
class Search:
    """A key of which each run takes the best value: all are run, and the one with the least of a quantity counts."""

    key: str
    title: str
    values: tuple[Any, ...]
    least: str
    """The quantity. Of equals the value that is listed first is the best."""


@dataclass(frozen=True)
class Metric:
    """A quantity of a run, divided by that of a baseline where there is one."""

    key: str
    title: str
    quantity: str
    only: Labels
    """The points at which the metric is taken, by axis; elsewhere it is taken everywhere."""
    baseline: Labels
    """Axis and label of the baseline; it is compared with the runs that differ from it there alone."""
    baseline_shown: bool
    """Whether the baseline is shown too, as 1."""
    inverse: bool
    """Whether it is baseline over run (a speedup) rather than run over baseline (a slowdown)."""
    paper: str | None
    """The claim whose `values` hold what the paper has: by label of the x axis, or by that and this metric's key."""

    def takes(self, labels: Labels) -> bool:
        """Whether the metric is taken at a place."""
        return all(labels[key] == label for key, label in self.only.items())


@dataclass(frozen=True)
class Plot:
    """How the figure is drawn."""

    kind: Kind
    x: str
    """An axis, or `QUANTILE`."""
    x_title: str
    series: str
    """An axis, or `METRICS`: one colour each."""
    y_title: str
    panels: str | None
    """An axis, or `METRICS`: one small plot each, side by side."""
    dashes: str | None
    """An axis that tells lines of one colour apart by how they are broken."""
    mean: bool
    """Whether the geometric mean over the x axis stands at its right end."""
    log_x: bool
    """Whether equal steps along x are equal ratios."""

    @property
    def shown(self) -> tuple[str, ...]:
        """What tells the values apart."""
        return tuple(key for key in (self.panels, self.series, self.dashes, self.x) if key is not None)


@dataclass(frozen=True)
class FigureSpec:
    """A paper's figure or table."""

    id: str
    paper: str
    title: str
    source: str
    claims: tuple[str, ...]
    fixed: Settings
    search: Search | None
    axes: tuple[Axis, ...]
    metrics: tuple[Metric, ...]
    plot: Plot

    def axis(self, key: str) -> Axis:
        """The axis of that key."""
        return next(axis for axis in self.axes if axis.key == key)

    def labels(self, key: str) -> list[str]:
        """The labels of an axis' points."""
        return [point.label for point in self.axis(key).points]

    def finder(self, labels: Labels) -> Labels | None:
        """The place whose best value of the searched key the run at `labels` takes; `None` where none is searched.

        Where no point of an axis says so, every run searches its own.
        """
        if self.search is None:
            return None
        for axis in self.axes:
            if any(point.finder for point in axis.points):
                finder = axis.point(labels[axis.key]).finder
                return None if finder is None else {**labels, axis.key: finder}
        return labels
