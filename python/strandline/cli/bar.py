"""Bars and counters on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from strandline.cli.progress import Advance


@contextmanager
def counter(label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Counts events without a known end on a terminal; silent elsewhere."""
    bar = Progress(
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f} " + unit),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task(label, total=None)
        yield lambda count: bar.advance(task, count)


class Moving(Progress):
    """A bar that includes the progress of unfinished runs; it reads that whenever it is drawn."""

    under_way: Callable[[], float]

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar as it is now."""
        for task in self.tasks:
            self.update(task.id, completed=task.fields["done"] + self.under_way())
        return super().get_renderables()

    def ended(self, task: TaskID, count: int) -> None:
        """Counts what has ended."""
        with self._lock:
            self.update(task, done=self._tasks[task].fields["done"] + count)


@contextmanager
def progress(label: str, total: int, under_way: Callable[[], float] = lambda: 0.0) -> Iterator[Advance]:
    """Counts finished runs on a terminal; silent elsewhere. The bar disappears when the block ends.

    `under_way` returns the completed part of unfinished runs, in runs.
    """
    bar = Moving(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[done]}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("to go"),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    bar.under_way = under_way
    with bar:
        task = bar.add_task(label, total=total, done=0)
        yield lambda count=1: bar.ended(task, count)
