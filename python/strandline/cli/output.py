"""Pages, sentences and JSON on stdout, and warnings on stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from strandline.views.columns import Columns
from strandline.views.page import Line, Page, width
from strandline.views.record_files import csv_of
from strandline.views.table import Table

if TYPE_CHECKING:
    from strandline.api.result import Result


def console() -> Console:
    """The console on stdout, as wide in a pipe as in a narrow terminal unless COLUMNS says otherwise."""
    return Console(file=sys.stdout, width=width(), highlight=False, emoji=False)


def show(part: Page | Table) -> None:
    """Prints a page or a table."""
    part.show(console())


def say(line: str, style: str = "") -> None:
    """Prints a line, which wraps between words if it has a style."""
    Line(line, style).show(console())


def tell(sentence: str, style: str = "") -> None:
    """Prints a sentence, which wraps between words."""
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
