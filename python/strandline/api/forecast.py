"""What runs cost, before they are made: how many they are, and an estimate of their time, memory and disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from strandline import run_store
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.pool import unique
from strandline.room import available, size
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.numbers import counted, duration
from strandline.views.page import Line, Page

SECONDS_OF_WORK = 1e-7
"""The time of a unit of `sim::Length`: 17 to 100 ns in full runs of sps, tpcc, hashmap, cceh, queue and avl-tree."""


@dataclass(frozen=True, repr=False)
class Forecast(Result):
    """Runs that are not made yet."""

    runs: int
    kept: int
    """Of these, how many the run store has."""
    seconds: float
    """Of the others, on `jobs` cores. Runs with a precision end earlier."""
    jobs: int
    memory: int
    """Bytes of the largest runs that are made at once."""
    room: int | None
    """Bytes that are available; `None` if unknown."""
    disk: int
    """Bytes that the run store grows by."""
    ends_early: bool
    """Whether some runs have a precision."""

    @property
    def new(self) -> int:
        """The runs to make."""
        return self.runs - self.kept

    @property
    def time(self) -> str:
        """The time in words."""
        return f"about {duration(self.seconds)} on {counted(self.jobs, 'idle core')}"

    def page(self) -> Page:
        """A line each."""
        kept = f", of which the run store has {self.kept:,}" if self.kept else ""
        early = ", or less: a run ends once it is as precise as asked" if self.ends_early else ""
        room = "" if self.room is None else f" of {size(self.room)} available"
        rows = {
            "runs": f"{self.runs:,}{kept}",
            "time": f"{self.time}{early}",
            "memory": f"{size(self.memory)}{room}",
            "disk": f"{size(self.disk)} in the run store",
        }
        return Page(tuple(Line(f"{key:<9}{text}", folds=True) for key, text in rows.items()))

    def columns(self) -> Columns:
        """A row."""
        return columns.of_rows([self.document()])

    def document(self) -> dict[str, Any]:
        """The numbers."""
        return {
            "runs": self.runs,
            "kept": self.kept,
            "seconds": round(self.seconds, 1),
            "jobs": self.jobs,
            "memory_bytes": self.memory,
            "available_bytes": self.room,
            "disk_bytes": self.disk,
        }


def forecast(session: Session, specs: Iterable[RunSpec]) -> Forecast:
    """What these runs cost; an `InputError` if one of them is impossible."""
    engine, store, every = session.engine, session.store, unique(specs)
    needs = sorted((engine.memory(spec).total for spec in every), reverse=True)
    new = [spec for spec in every if store is None or not store.has(store.name(engine.origin(spec)))]
    return Forecast(
        runs=len(every),
        kept=len(every) - len(new),
        seconds=seconds(engine, new, session.jobs),
        jobs=session.jobs,
        memory=sum(needs[: session.jobs]),
        room=available(),
        disk=len(new) * run_store.BYTES_OF_RUN if store else 0,
        ends_early=any(spec.precision for spec in new),
    )


def seconds(engine: Engine, specs: Iterable[RunSpec], jobs: int) -> float:
    """The time of runs, in which no run is made by two cores."""
    each = [engine.length(spec).work * SECONDS_OF_WORK for spec in specs]
    return max([sum(each) / jobs, *each])
