"""Random litmus programs, whose crash states the designs' models judge."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from strandline.api.result import Result
from strandline.api.session import Session
from strandline.errors import InputError
from strandline.litmus_tests import RandomResult, RandomSpec, RandomViolation
from strandline.pool import parallel
from strandline.views import columns
from strandline.views import random_programs as view
from strandline.views.columns import Columns
from strandline.views.numbers import seconds
from strandline.views.page import Line, Page
from strandline.views.table import Alarm, Good
from strandline.words import LARGEST

AT_ONCE = 100
"""Programs between two steps of the progress bar. The result does not depend on this number."""


@dataclass(frozen=True, repr=False)
class RandomPrograms(Result):
    """What random programs showed of each design."""

    result: RandomResult
    programs: int
    settings: Sequence[str]
    """`KEY=VALUE` of the designs' parameters."""
    host_seconds: float

    @property
    def failures(self) -> Sequence[RandomViolation]:
        """The violations of the designs' models, the smallest program first."""
        return self.result.violations

    def page(self) -> Page:
        """A row a design, the smallest failing program, and the totals."""
        failing = view.explain(self.failures[0], self.settings) if self.failures else ()
        explained = (Line(), *map(Line, failing)) if failing else ()
        style = (Alarm if self.failures else Good).style
        total = Line(f"{view.tally(self.result, self.programs)}, {seconds(self.host_seconds)}", style)
        return Page((view.summary(self.result), *explained, Line(), total))

    def columns(self) -> Columns:
        """A row a design."""
        return columns.of_rows([asdict(count) for count in self.result.designs])

    def document(self) -> dict[str, Any]:
        """The violations with the command that repeats each, and the counts of the designs."""
        return {
            "failures": [{**asdict(each), "replay": view.replay(each, self.settings)} for each in self.failures],
            "designs": [asdict(count) for count in self.result.designs],
            "programs": self.programs,
            "host_seconds": self.host_seconds,
        }


def random_programs(
    session: Session, programs: int, designs: tuple[str, ...], settings: tuple[str, ...], first_seed: int
) -> RandomPrograms:
    """Runs random programs, whose seeds count from `first_seed`, under each design."""
    if programs - 1 > LARGEST - first_seed:
        raise InputError(
            f"--random {programs} --seed {first_seed}: the last seed is beyond {LARGEST}: choose a smaller one"
        )
    begin = time.monotonic()
    with session.display.progress("programs", programs) as done:

        def work(spec: RandomSpec) -> RandomResult:
            result = session.engine.random(spec)
            done(spec.programs)
            return result

        specs = list(_parts(designs, first_seed, programs, settings, session.jobs))
        parts = parallel(work, specs, session.jobs, lambda: None)
    return RandomPrograms(view.together(designs, parts), programs, settings, time.monotonic() - begin)


def _parts(
    designs: tuple[str, ...], first: int, programs: int, settings: tuple[str, ...], jobs: int
) -> Iterator[RandomSpec]:
    """Parts are small, so that no core is idle for long at the end."""
    size = min(AT_ONCE, -(-programs // (4 * jobs)))
    for begin in range(0, programs, size):
        yield RandomSpec(designs, first + begin, min(size, programs - begin), settings)
