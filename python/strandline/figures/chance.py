"""What chance may have made of a measurement: it is taken again from figures whose runs are off by their errors.

Each run's cycles, and its latencies' median and 99th percentile, are drawn from the normal distribution of their
interval. So any measurement has an interval, whatever it computes, and a verdict is known to hang on chance or not. A
run's other counts stay as they are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

from strandline.figures.figure import Cell, FigureData
from strandline.records import Record

DRAWS = 200
"""Measurements that are drawn. More narrow neither the interval, which then is known to a tenth, nor a verdict."""

SURE = 0.025
"""The share of draws with another verdict up to which it is sure: no end of the 95 % interval crosses a bound."""

DEVIATIONS = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval, in standard deviations."""

ERRORS: Mapping[str, str] = {
    "cycles": "error_cycles",
    "task_latency_p50_cycles": "task_latency_p50_error_cycles",
    "task_latency_p99_cycles": "task_latency_p99_error_cycles",
}
"""The keys of a record that have an interval, with half its width."""


def draws(data: FigureData) -> Iterator[FigureData]:
    """The figure as it might have been measured, again and again; none if no run has an interval."""
    if not any(_errors(cell.record) for each in data.seeds for cell in each.cells):
        return
    for seed in range(DRAWS):
        yield _drawn(data, random.Random(seed))  # noqa: S311 - no secret


def _drawn(data: FigureData, chance: random.Random) -> FigureData:
    first, *others = (_figure(each, chance) for each in data.seeds)
    return replace(first, others=tuple(others))


def _figure(data: FigureData, chance: random.Random) -> FigureData:
    """One seed's figure. A run that several cells have is off by the same error in all."""
    drawn: dict[int, Record] = {}
    for cell in data.cells:
        if id(cell.record) not in drawn:
            drawn[id(cell.record)] = _run(cell.record, chance)
    cells = tuple(_cell(cell, drawn) for cell in data.cells)
    return FigureData(data.spec, cells)


def _cell(cell: Cell, drawn: Mapping[int, Record]) -> Cell:
    return replace(cell, record=drawn[id(cell.record)])


def _run(record: Record, chance: random.Random) -> Record:
    off = {key: record.number(key) + chance.gauss(0, half / DEVIATIONS) for key, half in _errors(record).items()}
    # Nothing takes no time, however uncertain it is.
    return Record({**record.fields, **{key: max(value, 1.0) for key, value in off.items()}})


def _errors(record: Record) -> dict[str, float]:
    found = {key: record.fields.get(error) for key, error in ERRORS.items()}
    return {key: half for key, half in found.items() if half}


def half_widths(value: Any, drawn: Sequence[Any]) -> Any:
    """Half the width of the 95 % interval of each number of a measurement, in its shape.

    `None` of what is no number, or does not depend on time.
    """
    if isinstance(value, Mapping):
        return {key: half_widths(item, _items(drawn, key)) for key, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    off = sorted(abs(each - value) for each in drawn if isinstance(each, int | float))
    return (off[int((len(off) - 1) * (1 - 2 * SURE))] or None) if off else None


def _items(drawn: Sequence[Any], key: Any) -> list[Any]:
    """What draws have under a key, which not all need to have."""
    return [each[key] for each in drawn if key in each]
