"""From the records of a sweep to the values of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.engine import RunSpec
from strandline.errors import InputError
from strandline.figures.spec import Setting
from strandline.records import SPEEDUP, STORAGE_OF, Record, comparable, quantity
from strandline.sweeps.plan import Point
from strandline.sweeps.spec import Sweep
from strandline.views.interval import Interval, interval
from strandline.views.numbers import significant
from strandline.views.table import NOTHING, Column, Table
from strandline.words import word

Records = Mapping[RunSpec, Record]


@dataclass(frozen=True)
class PointValues:
    """A point's settings, its number of runs, and each shown quantity; `None` if no run has it."""

    settings: Mapping[str, Setting]
    runs: int
    values: Mapping[str, Interval | None]

    def keys(self) -> dict[str, Any]:
        """The point as JSON shows it."""
        values = {
            name: None if value is None else {"mean": value.mean, "low": value.low, "high": value.high}
            for name, value in self.values.items()
        }
        return {"settings": dict(self.settings), "runs": self.runs, "values": values}


def values(sweep: Sweep, points: Sequence[Point], records: Records) -> list[PointValues]:
    """The values of every point that has a run."""
    by_settings = {_place(point.settings): point for point in points}
    found = []
    for point in points:
        if point.runs:
            base = by_settings.get(_place({**point.settings, **sweep.file.baseline}))
            shown = {name: _value(name, point, base, records) for name in sweep.shown}
            found.append(PointValues(point.settings, len(point.runs), shown))
    return found


def _place(settings: Mapping[str, Setting]) -> tuple[tuple[str, Setting], ...]:
    return tuple(sorted(settings.items()))


def _value(name: str, point: Point, base: Point | None, records: Records) -> Interval | None:
    """The mean over the seeds; of a speedup, over those that both points have."""
    found = []
    for seed, spec in point.runs.items():
        mine = records[spec]
        if name != SPEEDUP:
            found.append(_quantity(mine, name))
        elif base is not None and seed in base.runs:
            found.append(_speedup(mine, records[base.runs[seed]]))
    numbers = [value for value in found if value is not None]
    return interval(numbers) if numbers else None


def _quantity(record: Record, name: str) -> float | None:
    """The quantity, if the design counts it and the run has what it is a share of."""
    try:
        return quantity(record, name)
    except (InputError, ZeroDivisionError):
        return None


def _speedup(mine: Record, base: Record) -> float | None:
    mine_takes = comparable(mine, "cycles")
    return comparable(base, "cycles") / mine_takes if mine_takes else None


TITLES = {"million_tasks_per_second": "M tasks/s"}
SHARES = ("fence_stall_share", "blocked_share")
"""Quantities that are shown in per cent."""


def table(sweep: Sweep, found: Sequence[PointValues]) -> Table:
    """A row a point: its settings, then mean ± half of the interval."""
    varied = sweep.varied or ["workload"]
    columns = [Column(key, numeric=_numeric(key, found), folds=False) for key in varied]
    columns += [Column(title(name)) for name in sweep.shown]
    rows = [
        (
            *(_setting(each.settings.get(key, sweep.file.fixed.get(key))) for key in varied),
            *(_cell(name, each.values[name]) for name in sweep.shown),
        )
        for each in found
    ]
    return Table(tuple(columns), tuple(rows), keys=len(varied))


def _numeric(key: str, found: Sequence[PointValues]) -> bool:
    return all(isinstance(each.settings.get(key, 0), int | float) for each in found)


def title(name: str) -> str:
    """What a quantity is called."""
    return TITLES.get(name, name.removeprefix(STORAGE_OF).replace("_", " "))


def _setting(value: Any) -> str:
    return NOTHING if value is None else word(value)


def _cell(name: str, value: Interval | None) -> str:
    if value is None:
        return NOTHING
    scale, unit = (100, "%") if name in SHARES else (1, "")
    half = "" if value.half is None else f" ± {significant(scale * value.half, 2)}"
    return f"{significant(scale * value.mean)}{half}{unit}"
