"""Parallel runs. Each run is sequential, so results do not depend on their number."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from strandline.engine import Engine, Length, NativeStarts, RunSpec
from strandline.errors import StoppedError
from strandline.interrupts import INTERRUPT_SECONDS, interrupts_noted
from strandline.pace import Pace
from strandline.records import Record
from strandline.run_store import Store

Item = TypeVar("Item")
Result = TypeVar("Result")

Done = Callable[[], None]
"""Called once for each finished run, from any thread."""


def default_jobs() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(work: Callable[[Item], Result], items: Sequence[Item], jobs: int, done: Done) -> list[Result]:
    """Results in the order of `items`; raises the first error at once, while other runs continue."""
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        futures = [pool.submit(work, item) for item in items]
        for future in futures:
            future.add_done_callback(lambda finished: None if finished.cancelled() else done())
        _wait(futures)
        return [future.result() for future in futures if future.done()]
    finally:
        # Waiting here would delay an error or Ctrl-C until the longest run has finished.
        pool.shutdown(wait=False, cancel_futures=True)


STOP_SECONDS = 0.6
"""Longest wait for work that is told to stop."""


def until_interrupted(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, done: Done, stop: Callable[[], None]
) -> tuple[list[Result], list[Item] | None]:
    """As `parallel`; and if it was interrupted, the items that were not finished then, else `None`.

    An interrupt lets `stop` end unfinished work. The results of that count, if any come in time.
    """
    pool = ThreadPoolExecutor(max_workers=jobs)
    with interrupts_noted() as interrupts:
        try:
            futures = [pool.submit(work, item) for item in items]
            for future in futures:
                future.add_done_callback(lambda finished: None if finished.cancelled() else done())
            _wait(futures, interrupts)
            cut = None
            if interrupts:
                cut = [item for item, future in zip(items, futures, strict=True) if not future.done()]
                stop()
                _wait([future for future in futures if not future.cancel()], seconds=STOP_SECONDS)
            ended = [future for future in futures if future.done() and not future.cancelled()]
            results = [future.result() for future in ended if not isinstance(future.exception(), StoppedError)]
            return results, cut
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _wait(futures: Sequence[Future[Result]], interrupts: Sequence[int] = (), seconds: float = math.inf) -> None:
    """Waits until all are finished, one has failed, an interrupt is noted or the time is over."""
    ended, lock, left = threading.Event(), threading.Lock(), len(futures)
    until = time.monotonic() + seconds

    def note(future: Future[Result]) -> None:
        nonlocal left
        with lock:
            left -= 1
        if not left or (not future.cancelled() and future.exception()):
            ended.set()

    for future in futures:
        future.add_done_callback(note)
    # The time of `concurrent.futures.wait` grows with the number of futures, and 10,000 short runs wait for it.
    while left and not interrupts and time.monotonic() < until and not ended.wait(INTERRUPT_SECONDS):
        pass


def unique(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The specifications without repetitions, in the order of their first appearance."""
    return list(dict.fromkeys(specs))


def pace_of(engine: Engine, specs: Iterable[RunSpec], jobs: int) -> Pace:
    """The pace of some runs, none of which has started."""
    return Pace({spec: engine.length(spec) for spec in unique(specs)}, jobs)


def run_all(engine: Engine, pace: Pace, store: Store | None = None) -> dict[RunSpec, Record]:
    """Makes the runs of a pace, the longest first, so that none of them is alone at the end.

    Those that fill memory alike follow one another, and of these those of one steady start, so that few starts are
    kept. Those in the store are not made again.
    """
    specs = list(pace.lengths)
    starts = engine.starts(specs)
    longest_first = _longest_first(pace, starts.groups())
    work = partial(_run, engine, pace, store, starts)
    records = dict(zip(longest_first, parallel(work, longest_first, pace.jobs, _nothing), strict=True))
    return {spec: records[spec] for spec in specs}


def _longest_first(pace: Pace, groups: Sequence[tuple[int, int]]) -> list[RunSpec]:
    """The runs of a pace by the longest of their group, by that of their group in it, and within that."""
    longest = dict[tuple[int, ...], int]()
    for group, length in zip(groups, pace.lengths.values(), strict=True):
        for each in (group[:1], group):
            longest[each] = max(length.work, longest.get(each, 0))

    def key(of_run: tuple[tuple[RunSpec, Length], tuple[int, int]]) -> tuple[int, ...]:
        (_, length), group = of_run
        return (-longest[group[:1]], group[0], -longest[group], group[1], -length.work)

    ordered = sorted(zip(pace.lengths.items(), groups, strict=True), key=key)
    return [spec for (spec, _), _ in ordered]


def _nothing() -> None:
    """The pace counts."""


def _run(engine: Engine, pace: Pace, store: Store | None, starts: NativeStarts, spec: RunSpec) -> Record:
    name = store.name(engine.origin(spec)) if store else ""
    kept = store.find(name) if store else None
    if kept is not None:
        starts.forgo(spec)
        pace.reuse(spec)
        return engine.claimed(kept)
    progress = engine.progress()
    with pace.run(spec, progress):
        record = engine.run(spec, progress, starts)
    if store:
        store.add(name, record)
    return record
