"""The panels of a scatter plot: what a series costs to the right, what it gains upwards, and which no other beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strandline.figures.plot_spec import Scatter
from strandline.figures.spec import FigureSpec, Metric
from strandline.figures.values import Value
from strandline.views.chart import Panel, Series

FRONT = "front"
"""The note at a point of the front."""
NOTE = "the front, of which no other has as much for as little"
"""What the notes are."""

Point = tuple[float, float]


def panels(spec: FigureSpec, plot: Scatter, values: Sequence[Value]) -> tuple[Panel, ...]:
    """A panel for each metric to the right."""
    by_metric = {
        metric.key: {value.labels[plot.series]: value.value for value in values if value.metric == metric.key}
        for metric in spec.metrics
    }
    costs = (metric for metric in spec.metrics if metric.key != plot.y)
    upwards = next(metric for metric in spec.metrics if metric.key == plot.y)
    return tuple(_panel(spec, metric, upwards, by_metric) for metric in costs)


def _panel(spec: FigureSpec, metric: Metric, upwards: Metric, by_metric: Mapping[str, Mapping[str, float]]) -> Panel:
    gains = by_metric[upwards.key]
    points = {label: (cost, gains[label]) for label, cost in by_metric[metric.key].items() if label in gains}
    best = front({label: point for label, point in points.items() if not spec.is_bound(label)})
    return Panel(
        title=metric.title,
        series=tuple(
            Series(label, point, (None, None), (None, FRONT if label in best else None), bound=spec.is_bound(label))
            for label, point in points.items()
        ),
        normalised=upwards.normalised,
    )


def front(points: Mapping[str, Point]) -> list[str]:
    """The Pareto front: the points of which no other has as much for as little, from the cheapest."""
    best = [label for label, point in points.items() if not any(_beats(other, point) for other in points.values())]
    return sorted(best, key=lambda label: points[label])


def _beats(one: Point, other: Point) -> bool:
    return one[0] <= other[0] and one[1] >= other[1] and one != other
