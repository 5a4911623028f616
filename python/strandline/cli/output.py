"""Pages, sentences and JSON on stdout, and warnings on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console

from strandline.report.page import ENDLESS, Line, Page
from strandline.report.table import Table


def console() -> Console:
    """The console on stdout. In a pipe, lines do not wrap."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def show(part: Page | Table) -> None:
    """Prints a page or a table."""
    part.show(console())


def say(line: str, style: str = "") -> None:
    """Prints a line that only a terminal may wrap."""
    Line(line, style).show(console())


def tell(sentence: str, style: str = "") -> None:
    """Prints a sentence; a terminal wraps it between words."""
    Line(sentence, style, folds=True).show(console())


def warn(sentence: str) -> None:
    """Prints a warning on stderr."""
    click.echo(f"strandline: warning: {sentence}", err=True)


def print_json(document: dict[str, Any]) -> None:
    """Prints one JSON document."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))
