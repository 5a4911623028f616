"""One run's result: a flat record, and the quantities that tables and figures derive from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from strandline.errors import InputError


@dataclass(frozen=True)
class Record:
    """The flat record of one run. Keys carry their unit in their name where they are not counts."""

    fields: Mapping[str, Any]

    def text(self, key: str) -> str:
        """The value of `key` as text, `-` where the run has none."""
        value = self.fields.get(key)
        return "-" if value is None else str(value)

    def number(self, key: str) -> float:
        """The value of `key` as a number; an `InputError` where the run has none."""
        value = self.fields.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"the run of {self.text('workload')} under {self.text('design')} has no number `{key}`")
        return value

    def count(self, key: str) -> int:
        """The value of `key` as a whole number; an `InputError` where the run has none."""
        return int(self.number(key))

    @property
    def clock_ghz(self) -> float:
        """The clock of the simulated cores in GHz."""
        clock = self.fields.get("params", {}).get("clock_ghz")
        if not isinstance(clock, int | float):
            raise InputError("the record has no `params.clock_ghz`: rebuild the native module with `make setup`")
        return float(clock)

    def as_part_of(self, figure: str) -> Record:
        """The same run, filed under a figure."""
        return Record({**self.fields, "figure": figure})


def _per(numerator: str, denominator: str, scale: float = 1.0) -> Callable[[Record], float]:
    return lambda record: scale * record.number(numerator) / record.number(denominator)


#: Quantities that are not themselves keys of a record.
DERIVED: Mapping[str, Callable[[Record], float]] = {
    "cycles_per_task": _per("cycles", "tasks"),
    "instructions_per_task": _per("instructions", "tasks"),
    "flushes_per_kiloinstruction": _per("flushes", "instructions", 1000),
    "fences_per_kiloinstruction": _per("fences", "instructions", 1000),
    # All cores' flushes: eight cores that each flush once in 1000 cycles come to 8.
    "flushes_per_kilocycle": _per("flushes", "cycles", 1000),
    "flushes_per_kilocycle_of_a_core": lambda record: (
        1000 * record.number("flushes") / (record.number("cycles") * record.number("cores"))
    ),
    # What persist ordering costs the pipeline: directly, and by what it keeps in the store queue or in a design's own
    # buffer. A store queue that is full for another reason counts too, since the record does not tell it apart.
    "persist_stall_cycles": lambda record: record.number("fence_stall_cycles") + record.number("buffer_stall_cycles"),
    "million_tasks_per_second": lambda record: (
        1000 * record.clock_ghz * record.number("tasks") / record.number("cycles")
    ),
}


def quantity(record: Record, name: str) -> float:
    """A derived quantity, or the record's own number of that name."""
    derive = DERIVED.get(name)
    return record.number(name) if derive is None else derive(record)


#: Per cent of the tasks, of which a record says how long the slowest takes.
QUANTILES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)

#: Quantities of which a record holds the distribution: the key of a quantile, of two digits.
DISTRIBUTIONS: Mapping[str, str] = {"task_latency_cycles": "task_latency_p{:02}_cycles"}


def quantile(record: Record, name: str, percent: int) -> float:
    """A quantile of a distribution; an `InputError` where the record has none of that name."""
    if name not in DISTRIBUTIONS:
        raise InputError(f"`{name}` is no distribution of a record: use {' or '.join(DISTRIBUTIONS)}")
    return record.number(DISTRIBUTIONS[name].format(percent))
