"""What a check runs with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from strandline.engine import CyclesSpec, Engine
from strandline.errors import InputError, StuckError
from strandline.pool import parallel

Advance = Callable[[], None]
"""Called when a piece of work has finished, from any thread."""


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
