"""From a figure's specification to its runs, and from their records to its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from strandline.engine import RunSpec
from strandline.experiments.spec import FigureSpec, Metric, run_settings
from strandline.record import Record, quantity

Labels = Mapping[str, str]
"""The label of a point on each axis, by the axis's key."""


@dataclass(frozen=True)
class Options:
    """What the command line may say about a figure's runs."""

    seed: int = 1
    tasks: int | None = None
    """In place of the figure's or the workload's own number."""


@dataclass(frozen=True)
class Planned:
    """One run of a figure and where it stands on the axes."""

    labels: Labels
    spec: RunSpec


@dataclass(frozen=True)
class Value:
    """One value of a figure: what a metric comes to at a place."""

    metric: str
    labels: Labels
    value: float


@dataclass(frozen=True)
class Cell:
    """A record and where it stands on the axes."""

    labels: Labels
    record: Record


@dataclass(frozen=True)
class FigureData:
    """A figure's records in the order of its axes, and what its metrics come to."""

    spec: FigureSpec
    cells: tuple[Cell, ...]

    @property
    def records(self) -> list[Record]:
        """The records, each filed under this figure."""
        return [cell.record.as_part_of(self.spec.id) for cell in self.cells]

    def where(self, keep: Callable[[Labels], bool]) -> FigureData:
        """The part of the figure at the places that `keep` accepts."""
        return FigureData(self.spec, tuple(cell for cell in self.cells if keep(cell.labels)))

    def values(self) -> list[Value]:
        """Every metric's values, the baselines left out."""
        return [value for metric in self.spec.metrics for value in self._values(metric)]

    def _values(self, metric: Metric) -> list[Value]:
        found = {_place(cell.labels): quantity(cell.record, metric.quantity) for cell in self.cells}
        if not metric.baseline:
            return [Value(metric.key, cell.labels, found[_place(cell.labels)]) for cell in self.cells]
        values = []
        for cell in self.cells:
            against = _place({**cell.labels, **metric.baseline})
            if against != _place(cell.labels):
                ratio = found[_place(cell.labels)] / found[against]
                values.append(Value(metric.key, cell.labels, 1 / ratio if metric.inverse else ratio))
        return values


def _place(labels: Labels) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def plan(spec: FigureSpec, options: Options) -> list[Planned]:
    """The figure's runs: the product of its axes, the last varying fastest."""
    points = product(*(axis.points for axis in spec.axes))
    keys = [axis.key for axis in spec.axes]
    return [
        Planned(
            labels=dict(zip(keys, (point.label for point in place), strict=True)),
            spec=_run(spec, [dict(point.settings) for point in place], options),
        )
        for place in points
    ]


def _run(spec: FigureSpec, settings: list[dict[str, Any]], options: Options) -> RunSpec:
    merged = dict(spec.fixed)
    for each in settings:
        merged.update(each)
    keys, overrides = run_settings(merged)
    if options.tasks is not None:
        keys["tasks"] = options.tasks
    return RunSpec(**keys, set=overrides, seed=options.seed)


def gather(spec: FigureSpec, planned: list[Planned], records: Mapping[RunSpec, Record]) -> FigureData:
    """The figure's data out of the records of all runs."""
    return FigureData(spec, tuple(Cell(each.labels, records[each.spec]) for each in planned))
