"""Output: tables and JSON go to stdout, progress to stderr if that is a terminal."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click
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
from rich.text import Text

from strandline.errors import InputError
from strandline.report.table import Table

ENDLESS = 100_000
"""Maximum number of characters of a line that never wraps."""


def console() -> Console:
    """The console on stdout. In a pipe, lines do not wrap."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


class OutputError(InputError):
    """Output cannot be written to its destination."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output cannot be written ({error.strerror}): send it to another file or pipe")


class Output(io.TextIOWrapper):
    """Standard output, with errors in the user's terms."""

    def write(self, text: str) -> int:
        """Writes, or raises an `OutputError`."""
        try:
            return super().write(text)
        except OSError as error:
            raise OutputError(error) from error

    def flush(self) -> None:
        """Writes the buffered output, or raises an `OutputError`."""
        try:
            super().flush()
        except OSError as error:
            raise OutputError(error) from error


def open_outputs() -> None:
    """Opens standard output; raises an `OutputError` if it is closed. A closed stderr is ignored."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OutputError(OSError(errno.EBADF, os.strerror(errno.EBADF)))
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding, errors, lines = sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering
        sys.stdout = Output(sys.stdout.detach(), encoding, errors, line_buffering=lines)


def show(table: Table) -> None:
    """Prints a table."""
    table.show(console())


def say(line: str, style: str = "") -> None:
    """Prints a line that only a terminal may wrap."""
    console().print(Text(line, style), soft_wrap=True)


def tell(sentence: str, style: str = "") -> None:
    """Prints a sentence; a terminal wraps it between words."""
    console().print(Text(sentence, style))


def print_json(document: dict[str, Any]) -> None:
    """Prints one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


@contextmanager
def counter(label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Counts events without a known end on a terminal; silent elsewhere."""
    bar = Progress(
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f} " + unit),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(label, total=None)
        yield lambda count: bar.advance(task, count)


class Advance(Protocol):
    """Called when runs have finished, from any thread."""

    def __call__(self, count: int = 1, /) -> None:
        """Counts them."""


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
        disable=not sys.stderr.isatty(),
    )
    bar.under_way = under_way
    with bar:
        task = bar.add_task(label, total=total, done=0)
        yield lambda count=1: bar.ended(task, count)
