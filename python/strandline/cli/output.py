"""Tables, sentences and JSON on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from strandline.report.table import Table

ENDLESS = 100_000
"""Maximum number of characters of a line that never wraps."""


def console() -> Console:
    """The console on stdout. In a pipe, lines do not wrap."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


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
