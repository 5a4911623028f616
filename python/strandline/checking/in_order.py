"""Parallel tasks whose results are taken in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from enum import Enum
from typing import Generic, TypeVar

from strandline.interrupts import INTERRUPT_SECONDS

Result = TypeVar("Result")

AHEAD = 2
"""Tasks that are begun ahead, for each parallel one."""


class Early(Enum):
    """Why not all states were checked."""

    INTERRUPTED = "interrupted"
    FAILURES = "enough failures"
    HANGS = "the checker hangs"


class InOrder(Generic[Result]):
    """Runs tasks in parallel, until `take` has had enough.

    A result counts only when all earlier ones are there, so what is found does not depend on which task is faster.
    """

    def __init__(self, jobs: int, take: Callable[[Result], Early | None], stop: Callable[[], None]) -> None:
        """`stop` ends the running tasks."""
        self._jobs, self._take, self._stop = jobs, take, stop
        self._under_way: deque[Future[Result]] = deque()
        self._early: Early | None = None

    def run(self, tasks: Iterator[Callable[[], Result]], done: Callable[[], None]) -> Early | None:
        """Why the last results are missing, if they are."""
        pool = ThreadPoolExecutor(max_workers=self._jobs)
        try:
            while self._early is None and (task := next(tasks, None)):
                future = pool.submit(task)
                future.add_done_callback(lambda future: None if future.cancelled() else done())
                self._under_way.append(future)
                if len(self._running()) >= self._jobs * AHEAD:
                    self._wait()
            while self._early is None and self._under_way:
                self._wait()
        except KeyboardInterrupt:
            self._interrupted()
        finally:
            # After an early end, nothing may write into the scratch directory before it is deleted.
            self._stop()
            pool.shutdown(wait=True, cancel_futures=True)
        return self._early

    def _running(self) -> set[Future[Result]]:
        return {future for future in self._under_way if not future.done()}

    def _wait(self) -> None:
        """Waits until one is finished. An interrupt directly before a wait without a limit would be seen after it."""
        running = self._running()
        while running and not wait(running, timeout=INTERRUPT_SECONDS, return_when=FIRST_COMPLETED).done:
            pass
        self._take_finished()

    def _take_finished(self) -> None:
        """Takes the results that are there, up to the first that is not."""
        while self._early is None and self._under_way and self._under_way[0].done():
            self._early = self._take(self._under_way.popleft().result())

    def _interrupted(self) -> None:
        """Takes all results that are there."""
        self._take_finished()
        if self._early is None:
            for future in [future for future in self._under_way if future.done()]:
                self._take(future.result())
        self._early = Early.INTERRUPTED
