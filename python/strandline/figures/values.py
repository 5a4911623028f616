"""From a figure's cells to the values of its metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, geometric_mean, median_low
from typing import Any

from strandline.errors import InputError
from strandline.figures import chance
from strandline.figures.figure import Cell, FigureData, place
from strandline.figures.plot_spec import METRICS, QUANTILE, Lines, Scatter
from strandline.figures.spec import Labels, Metric
from strandline.records import QUANTILES, comparable, quantile, quantity
from strandline.views.chart import MEAN, Kind
from strandline.views.interval import interval


@dataclass(frozen=True)
class Value:
    """One value of a figure: a metric at a point."""

    metric: str
    labels: Labels
    """For a distribution, the quantile in per cent is under `QUANTILE`."""
    value: float
    best: Any = None
    """The best value of the searched key; `None` without a search."""
    baseline_best: Any = None
    """Likewise of the baseline."""
    strict: Any = None
    """The value of the searched key with the least quantity."""
    interval: tuple[float, float] | None = None
    """The confidence interval: of a mean over seeds, or of the runs if the figure shows theirs."""
    tasks: int | None = None
    """The tasks of the run; `None` for a mean over places."""

    def label(self, axis: str) -> str:
        """Its label on an axis; its metric in place of `METRICS`."""
        return self.metric if axis == METRICS else self.labels[axis]

    def keys(self, searched: str | None) -> dict[str, Any]:
        """The value as JSON shows it; `searched` is the searched key."""
        bests = {f"best_{searched}": self.best, f"baseline_best_{searched}": self.baseline_best}
        bests[f"strict_best_{searched}"] = self.strict
        found = {key: value for key, value in bests.items() if value is not None}
        ends = {} if self.interval is None else dict(zip(("low", "high"), self.interval, strict=True))
        return {"metric": self.metric, **self.labels, **found, "value": self.value, **ends}


def values(data: FigureData) -> list[Value]:
    """The values of every metric, without hidden baselines; means over seeds if there are several."""
    return _over_seeds([_of_seed(each) for each in data.seeds])


def _over_seeds(found: Sequence[Sequence[Value]]) -> list[Value]:
    return [group[0] if len(group) == 1 else _combined(group) for group in zip(*found, strict=True)]


def _combined(group: Sequence[Value]) -> Value:
    """The mean over seeds with its confidence interval, and the median of the best values."""
    measured = [value.value for value in group]
    return replace(
        group[0],
        value=fmean(measured),
        interval=interval(measured).ends,
        best=_median([value.best for value in group]),
        baseline_best=_median([value.baseline_best for value in group]),
        strict=_median([value.strict for value in group]),
    )


def _median(bests: Sequence[Any]) -> Any:
    return median_low(bests) if all(isinstance(best, int) for best in bests) else bests[0]


def _of_seed(data: FigureData) -> list[Value]:
    take = _distribution if data.spec.plot.kind is Kind.CDF else _numbers
    return [value for metric in data.spec.metrics for value in take(metric, data.cells)]


def _distribution(metric: Metric, cells: Iterable[Cell]) -> list[Value]:
    return [
        Value(
            metric.key,
            {**cell.labels, QUANTILE: str(each)},
            quantile(cell.record, metric.quantity, each),
            cell.best,
            strict=cell.strict,
            tasks=_tasks(cell),
        )
        for cell in cells
        if metric.takes(cell.labels)
        for each in QUANTILES
    ]


def _numbers(metric: Metric, cells: Iterable[Cell]) -> list[Value]:
    found = {place(cell.labels): cell for cell in cells}
    return [value for cell in found.values() if (value := _number(metric, cell, found)) is not None]


def _number(metric: Metric, cell: Cell, cells: Mapping[tuple[tuple[str, str], ...], Cell]) -> Value | None:
    if not metric.takes(cell.labels):
        return None
    if not metric.baseline:
        mine = quantity(cell.record, metric.quantity)
        return Value(metric.key, cell.labels, mine, cell.best, strict=cell.strict, tasks=_tasks(cell))
    baseline = cells[place({**cell.labels, **metric.baseline})]
    if baseline is cell and not metric.baseline_shown:
        return None
    mine = comparable(cell.record, metric.quantity)
    theirs = comparable(baseline.record, metric.baseline_quantity or metric.quantity)
    above, below = (theirs, mine) if metric.inverse else (mine, theirs)
    if below == 0:
        raise InputError(f"metric {metric.key}: {metric.quantity} of {_name(cell)} is divided by 0: choose another")
    return Value(metric.key, cell.labels, above / below, cell.best, baseline.best, cell.strict, tasks=_tasks(cell))


def _tasks(cell: Cell) -> int | None:
    found = cell.record.fields.get("tasks")
    return found if isinstance(found, int) else None


def _name(cell: Cell) -> str:
    return ", ".join(cell.labels.values())


def with_means(data: FigureData) -> list[Value]:
    """What the plot shows: all values, with means at the right end of the x axis if it has them, or means alone."""
    found = _over_seeds([_with_means_of_seed(each) for each in data.seeds])
    return _with_intervals(found, data) if data.intervals else found


def _with_intervals(found: Sequence[Value], data: FigureData) -> list[Value]:
    """The values with the intervals of their runs; none of values that do not depend on time."""
    drawn = zip(*(with_means(each) for each in chance.draws(data)), strict=True)
    return [_within(value, group) for value, group in zip(found, drawn, strict=False)] or list(found)


def _within(value: Value, drawn: Iterable[Value]) -> Value:
    half = chance.half_widths(value.value, [each.value for each in drawn])
    return value if half is None else replace(value, interval=(value.value - half, value.value + half))


def _with_means_of_seed(data: FigureData) -> list[Value]:
    found, plot = _of_seed(data), data.spec.plot
    if plot.over is not None:
        return _over_axis(found, plot, plot.over)
    return found + means(found, plot.x) if plot.mean else found


def _over_axis(found: Sequence[Value], plot: Lines | Scatter, axis: str) -> list[Value]:
    """One value for all points of an axis: the mean, or the largest of what a scatter plot has to the right."""
    if not isinstance(plot, Scatter):
        return means(found, axis)
    upwards = means((value for value in found if value.metric == plot.y), axis)
    costs = [value for value in found if value.metric != plot.y]
    return upwards + [_merged(group, plot.over, max(each.value for each in group)) for group in _groups(costs, axis)]


def means(found: Iterable[Value], axis: str) -> list[Value]:
    """The geometric means of the values that differ only on an axis."""
    return [_merged(group, axis, _mean(group)) for group in _groups(found, axis)]


def _groups(found: Iterable[Value], axis: str) -> list[list[Value]]:
    """The values that differ only on an axis."""
    groups: dict[tuple[Any, ...], list[Value]] = {}
    for value in found:
        rest = {**value.labels, axis: MEAN}
        groups.setdefault((value.metric, place(rest)), []).append(value)
    return list(groups.values())


def _merged(group: Sequence[Value], axis: str, value: float) -> Value:
    return Value(group[0].metric, {**group[0].labels, axis: MEAN}, value)


def _mean(group: list[Value]) -> float:
    if any(value.value <= 0 for value in group):
        raise InputError(f"metric {group[0].metric}: values of 0 have no geometric mean: leave mean out of [plot]")
    return geometric_mean([value.value for value in group])


def table(found: Iterable[Value], outer: str, inner: str) -> dict[str, dict[str, Value]]:
    """The values by their labels on two axes, one of which may be `METRICS`."""
    rows: dict[str, dict[str, Value]] = {}
    for value in found:
        rows.setdefault(value.label(outer), {})[value.label(inner)] = value
    return rows


def numbers(found: Iterable[Value], outer: str, inner: str) -> dict[str, dict[str, float]]:
    """The numbers of such a table."""
    rows = table(found, outer, inner).items()
    return {label: {other: value.value for other, value in row.items()} for label, row in rows}


def means_by(found: Iterable[Value], axis: str) -> dict[str, float]:
    """The geometric mean of the values at each label of an axis."""
    rows: dict[str, list[float]] = {}
    for value in found:
        rows.setdefault(value.label(axis), []).append(value.value)
    return {label: geometric_mean(each) for label, each in rows.items()}
