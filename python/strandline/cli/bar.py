"""Bars and counters on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from strandline.pace import Pace
from strandline.views.numbers import short

if TYPE_CHECKING:
    from strandline.api.session import Advance

UNKNOWN = "-:--:--"
"""A time that nothing tells yet."""


@contextmanager
def counter(label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Counts events without a known end."""
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


@contextmanager
def progress(label: str, total: int) -> Iterator[Advance]:
    """Counts up to `total`. The bar disappears when the block ends."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("to go"),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bar:
        task = bar.add_task(label, total=total)
        yield lambda count=1: bar.advance(task, count)


class _Runs(Progress):
    """A bar of runs: the share of their time that is over, runs and tasks done, the time to go.

    It reads their pace whenever it is drawn.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            TaskProgressColumn(),
            TextColumn("{task.fields[runs]}"),
            TextColumn("{task.fields[tasks]}"),
            TimeElapsedColumn(),
            TextColumn("to go {task.fields[left]}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self.add_task("", total=1.0, runs="", tasks="", left="")

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar as it is now."""
        now, pace = self._pace.standing(), self._pace
        for task in self.tasks:
            self.update(
                task.id,
                completed=now.share,
                # A run fills its memory before its first task.
                description="running" if now.tasks else "setting up",
                runs=f"{now.runs}/{len(pace.lengths)} runs",
                tasks=f"{short(now.tasks)}/{short(pace.tasks)} tasks",
                left=UNKNOWN if now.seconds_left is None else time(now.seconds_left),
            )
        return super().get_renderables()


@contextmanager
def runs(pace: Pace) -> Iterator[None]:
    """Shows the pace of runs."""
    with _Runs(pace):
        yield


def time(seconds: float) -> str:
    """A duration: 0:01:07."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
