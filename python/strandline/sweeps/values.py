"""From the records of a sweep to the values of its points."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
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
_Place = tuple[tuple[str, Setting], ...]


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
            base = by_settings.get(_base(sweep, point.settings, by_settings))
            shown = {name: _value(name, point, base, records) for name in sweep.shown}
            found.append(PointValues(point.settings, len(point.runs), shown))
    return found


SHARING = ("window", "coroutines")
"""Settings that designs have defaults of their own for."""


def _base(sweep: Sweep, settings: Mapping[str, Setting], places: Container[_Place]) -> _Place:
    """Where a speedup's baseline is: by default in what the sweep leaves open, if there is such a point, or alike."""
    alike = {**settings, **sweep.file.baseline}
    usual = {key: value for key, value in alike.items() if key not in SHARING or key in sweep.file.baseline}
    return _place(usual if _place(usual) in places else alike)


def remark(sweep: Sweep, found: Sequence[PointValues]) -> str | None:
    """The line on baselines whose tasks share a thread as those of their points do, if there are any."""
    if SPEEDUP not in sweep.shown:
        return None
    places = {_place(each.settings) for each in found}
    keys = {key for each in found for key, _ in _base(sweep, each.settings, places)} | set(sweep.file.fixed)
    if shared := [key for key in SHARING if key in keys and key not in sweep.file.baseline]:
        return (
            f"the baseline has the {' and '.join(shared)} of each point, not its design's own: give it a point without"
        )
    return None


def _place(settings: Mapping[str, Setting]) -> _Place:
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
