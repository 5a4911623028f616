"""What the runs of a call share: simulator, experiments, run store, number of workers, display of progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from strandline.engine import Engine, RunSpec
from strandline.pace import Pace
from strandline.pool import pace_of, run_all
from strandline.records import Record
from strandline.room import available, demand_room
from strandline.run_store import Store
from strandline.views.numbers import counted

if TYPE_CHECKING:
    from strandline.figures.experiments import Experiments


NAMED = 8
"""The most designs that a line names."""


class Advance(Protocol):
    """Called when work has finished, from any thread."""

    def __call__(self, count: int = 1, /) -> None:
        """Counts it."""


class Display(Protocol):
    """Shows how far work is."""

    def runs(self, pace: Pace) -> AbstractContextManager[None]:
        """In the block, shows the pace of runs."""

    def progress(self, label: str, total: int) -> AbstractContextManager[Advance]:
        """In the block, counts up to `total`."""


class Quiet:
    """Shows nothing."""

    def runs(self, pace: Pace) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nothing."""
        return nullcontext()

    def progress(self, label: str, total: int) -> AbstractContextManager[Advance]:  # noqa: ARG002
        """Nothing."""
        return nullcontext(lambda _count=1: None)


Maker = Callable[[Engine, Pace, Store | None], Mapping[RunSpec, Record]]
"""Makes the runs of a pace that are not in the store, and keeps them there."""


@dataclass(frozen=True)
class Session:
    """What a call runs with."""

    engine: Engine
    load_experiments: Callable[[], Experiments]
    jobs: int
    store: Store | None = None
    display: Display = field(default_factory=Quiet)
    make: Maker = run_all
    is_here: bool = True
    """Whether the runs take the memory of this machine."""

    @property
    def experiments(self) -> Experiments:
        """The figures and claims."""
        return self.load_experiments()

    @property
    def reused(self) -> int:
        """The number of runs that came from the store."""
        return self.store.found if self.store else 0

    def records(self, specs: Iterable[RunSpec]) -> Mapping[RunSpec, Record]:
        """The records of runs, each made once or taken from the store.

        An `InputError` before anything runs if one is impossible, or if they exceed the memory.
        """
        pace = pace_of(self.engine, specs, self.jobs)
        needs = map(self.engine.memory, pace.lengths)
        demand_room(needs, self.jobs, available() if self.is_here else None)
        try:
            with self.display.runs(pace):
                return self.make(self.engine, pace, self.store)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_left(pace)) from None


def _left(pace: Pace) -> str:
    """The runs that an interrupt has left undone, in words."""
    left = pace.unfinished
    designs = list(dict.fromkeys(spec.design for spec in left))
    under = ", ".join(designs) if len(designs) <= NAMED else f"{len(designs)} designs"
    return f"not finished: {len(left):,} of {counted(len(pace.lengths), 'run')}, under {under}"
