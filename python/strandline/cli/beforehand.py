"""What runs cost, said before they are made: by `--dry-run`, and in a line of a terminal where they are many."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from strandline.api.forecast import forecast
from strandline.api.session import Session
from strandline.cli import output
from strandline.engine import RunSpec
from strandline.views.numbers import counted

MANY = 100
"""From so many runs on, their number is said unasked."""

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Run nothing: print the number of runs, and about what time and memory they take."
)


def only_told(ctx: click.Context, session: Session, specs: Iterable[RunSpec]) -> bool:
    """Whether the user wants no more than what the runs cost, which is printed; else it is said if they are many."""
    is_dry = ctx.params["dry_run"]
    if not is_dry and not sys.stderr.isatty():
        return False
    found = forecast(session, specs)
    if is_dry:
        output.give(found, ctx.params["as_json"])
    elif found.new >= MANY:
        runs = counted(found.new, "run")
        click.echo(f"strandline: {runs}, {found.time}; after Ctrl-C, the same command goes on", err=True)
    return bool(is_dry)
