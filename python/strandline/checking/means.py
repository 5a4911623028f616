"""What a check runs with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from strandline.engine import CyclesSpec, Engine
from strandline.errors import InputError, StuckError
from strandline.pool import parallel


class Advance(Protocol):
    """Called when pieces of work have finished, from any thread."""

    def __call__(self, count: int = 1, /) -> None:
        """Counts them."""


@dataclass(frozen=True)
class Means:
    """The simulator, the number of commands in parallel, and the display of progress."""

    engine: Engine
    jobs: int
    progress: Callable[[str, int], AbstractContextManager[Advance]]
    """In its block, counts up to a total under a label."""

    def cycles(self, replays: Sequence[CyclesSpec]) -> list[int | None] | None:
        """The cycles of each replay; `None` if no machine replays the recording."""
        try:
            with self.progress("replays", len(replays)) as done:
                return parallel(self.engine.recording_cycles, replays, self.jobs, done)
        except (InputError, StuckError):
            return None
