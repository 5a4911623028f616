"""Where output goes: tables and JSON to stdout, progress to stderr when that is a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from strandline.report.table import Table

ENDLESS = 100_000
"""Characters in a line that never wraps."""


def console() -> Console:
    """The console on stdout. In a pipe nobody wraps lines, so neither do we."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def show(table: Table) -> None:
    """Prints a table."""
    table.show(console())


def say(line: str, style: str = "") -> None:
    """Prints a line that the terminal may wrap but nobody else does."""
    console().print(Text(line, style), soft_wrap=True)


def tell(sentence: str, style: str = "") -> None:
    """Prints a sentence, which a terminal shows wrapped between words."""
    console().print(Text(sentence, style))


def print_json(document: dict[str, Any]) -> None:
    """Prints one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


@contextmanager
def counter(label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Counts what has no known end on a terminal; silent elsewhere."""
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
    """Called when runs are done, from any thread."""

    def __call__(self, count: int = 1, /) -> None:
        """Counts them."""


@contextmanager
def progress(label: str, total: int) -> Iterator[Advance]:
    """Counts runs done on a terminal; silent elsewhere. The bar is gone when the block ends."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(label, total=total)
        yield lambda count=1: bar.advance(task, count)
