"""Pages, sentences and JSON on stdout, and warnings on stderr."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from strandline.views.columns import Columns
from strandline.views.page import ENDLESS, Line, Page
from strandline.views.record_files import csv_of
from strandline.views.table import Table

if TYPE_CHECKING:
    from strandline.api.result import Result

NARROW = 80
"""Characters of a line of `strandline list` in a pipe."""


def console() -> Console:
    """The console on stdout. In a pipe, lines do not wrap."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def show(part: Page | Table) -> None:
    """Prints a page or a table."""
    part.show(console())


def show_narrow(part: Page | Table) -> None:
    """Prints tables of sentences: as wide as a terminal, and in a pipe 80 columns, or as many as COLUMNS says."""
    width = None if sys.stdout.isatty() else shutil.get_terminal_size((NARROW, 0)).columns
    part.show(Console(file=sys.stdout, width=width, highlight=False, emoji=False))


def say(line: str, style: str = "") -> None:
    """Prints a line that only a terminal may wrap."""
    Line(line, style).show(console())


def tell(sentence: str, style: str = "") -> None:
    """Prints a sentence; a terminal wraps it between words."""
    Line(sentence, style, folds=True).show(console())


def warn(sentence: str) -> None:
    """Prints a warning on stderr."""
    print(f"strandline: warning: {sentence}", file=sys.stderr)


def give(found: Result, as_json: bool, out: Path | None = None) -> None:
    """Prints a result and where it was written, or with `--json` its document alone."""
    if as_json:
        print_json(found.document())
        return
    show(found.page())
    if out:
        say(f"written to {out}", style="dim")


def print_json(document: dict[str, Any]) -> None:
    """Prints one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def print_csv(columns: Columns) -> None:
    """Prints rows as CSV."""
    click.echo(csv_of(columns.by_row()), nl=False)
