"""Many runs at once. Parallelism is across runs, so results do not depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from strandline.engine import Engine, RunSpec
from strandline.record import Record

Item = TypeVar("Item")
Result = TypeVar("Result")

Done = Callable[[], None]
"""Called once for each run that is done, from any thread."""


def default_jobs() -> int:
    """As many runs at once as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(work: Callable[[Item], Result], items: Sequence[Item], jobs: int, done: Done) -> list[Result]:
    """Results in the order of `items`; the first error is raised at once, whatever is still under way."""
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        futures = [pool.submit(work, item) for item in items]
        for future in futures:
            future.add_done_callback(lambda finished: None if finished.cancelled() else done())
        finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
        return [future.result() for future in futures if future in finished]
    finally:
        # Waiting here would hold up an error or Ctrl-C until the longest run is over.
        pool.shutdown(wait=False, cancel_futures=True)


def unique(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The specifications without repetitions, in the order of their first appearance."""
    return list(dict.fromkeys(specs))


def run_all(engine: Engine, specs: Sequence[RunSpec], jobs: int, done: Done) -> dict[RunSpec, Record]:
    """Runs every specification once, however often it appears."""
    once = unique(specs)
    return dict(zip(once, parallel(engine.run, once, jobs, done), strict=True))
