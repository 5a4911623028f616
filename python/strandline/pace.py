"""How far many runs are, and how long the rest will take. No result depends on it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from strandline.engine import Length, NativeProgress, RunSpec

CERTAIN = 0.05
"""From this share on, a run's own pace tells its end better than that of other runs."""


@dataclass(frozen=True)
class Standing:
    """How far the runs are at a moment."""

    runs: int
    """Runs that have ended."""
    tasks: float
    """Tasks that have ended, those of unfinished runs included."""
    share: float
    """The share of the expected time, from 0 to 1."""
    seconds_left: float | None
    """The expected time until the last run ends; `None` until a task has ended."""


@dataclass
class _Running:
    progress: NativeProgress
    began: float


@dataclass
class _Measured:
    """The time of some work."""

    seconds: float = 0.0
    work: float = 0.0

    def add(self, seconds: float, work: float) -> None:
        self.seconds += seconds
        self.work += work


@dataclass
class Pace:
    """The progress of many runs, `jobs` at a time. It is thread-safe.

    The estimated work of a run compares with that of runs of the same workload. So the time of a unit of work is
    measured for each workload; until a task of a workload has ended, that of all others counts.
    """

    lengths: Mapping[RunSpec, Length]
    jobs: int
    clock: Callable[[], float] = time.monotonic
    _running: dict[RunSpec, _Running] = field(default_factory=dict)
    _ended: set[RunSpec] = field(default_factory=set)
    _measured: defaultdict[str, _Measured] = field(default_factory=lambda: defaultdict(_Measured))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def tasks(self) -> int:
        """The tasks of all runs."""
        return sum(length.tasks for length in self.lengths.values())

    @contextmanager
    def run(self, spec: RunSpec, progress: NativeProgress) -> Iterator[None]:
        """In the block, the run is made. One that fails has not ended."""
        running = _Running(progress, self.clock())
        with self._lock:
            self._running[spec] = running
        try:
            yield
            self.finish(spec, self.clock() - running.began)
        finally:
            with self._lock:
                self._running.pop(spec, None)

    def reuse(self, spec: RunSpec) -> None:
        """Counts a run that an earlier call made."""
        with self._lock:
            self._ended.add(spec)

    def finish(self, spec: RunSpec, seconds: float) -> None:
        """Counts a run that was made, here or elsewhere, and its time."""
        with self._lock:
            self._running.pop(spec, None)
            self._ended.add(spec)
            self._measured[spec.workload].add(seconds, self.lengths[spec].work)

    @property
    def unfinished(self) -> list[RunSpec]:
        """The runs that have not ended."""
        with self._lock:
            return [spec for spec in self.lengths if spec not in self._ended]

    def standing(self) -> Standing:
        """How far the runs are now."""
        now = self.clock()
        with self._lock:
            running = {spec: (each.progress.share(), now - each.began) for spec, each in self._running.items()}
            ended, measured = set(self._ended), {name: _Measured(**vars(each)) for name, each in self._measured.items()}
        for spec, (share, seconds) in running.items():
            if share > 0:
                measured.setdefault(spec.workload, _Measured()).add(seconds, share * self.lengths[spec].work)
        rates = _Rates(measured)
        left = {spec: self._left(spec, running.get(spec), rates) for spec in self.lengths if spec not in ended}
        tasks = sum(self.lengths[spec].tasks for spec in ended)
        tasks_under_way = sum(share * self.lengths[spec].tasks for spec, (share, _) in running.items())
        spent = sum(rates.of(spec.workload) * self.lengths[spec].work for spec in ended)
        spent += sum(rates.of(spec.workload) * self.lengths[spec].work * share for spec, (share, _) in running.items())
        rest = sum(left.values())
        return Standing(
            len(ended),
            tasks + tasks_under_way,
            spent / (spent + rest) if spent + rest else 0.0,
            max([rest / self.jobs, *left.values()], default=0.0) if rates.known else None,
        )

    def _left(self, spec: RunSpec, running: tuple[float, float] | None, rates: _Rates) -> float:
        share, seconds = running or (0.0, 0.0)
        if share > CERTAIN:
            return seconds * (1 - share) / share
        return rates.of(spec.workload) * self.lengths[spec].work * (1 - share)


class _Rates:
    """Seconds for a unit of work, by workload."""

    def __init__(self, measured: Mapping[str, _Measured]) -> None:
        self._of = {name: each.seconds / each.work for name, each in measured.items() if each.work}
        work = sum(each.work for each in measured.values())
        self.known = work > 0
        self._mean = sum(each.seconds for each in measured.values()) / work if work else 1.0

    def of(self, workload: str) -> float:
        return self._of.get(workload, self._mean)
