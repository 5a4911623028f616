"""What `strandline crash` and `strandline check` have in common: which crash states, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import click

from strandline import words
from strandline.api.crashes import Crashes
from strandline.api.recordings import CrashesOfRecording
from strandline.cli import output
from strandline.cli.options import AT_LEAST_ONE, FILE, parsed, refuse, several
from strandline.errors import InterruptError

DRAWN = "drawn in"
"""How the line that names the page begins."""

STATES = ("points", "max_failures", "replay")
"""The parameters of `states_options`."""

states_options = several(
    click.option(
        "--points",
        type=parsed(words.points),
        default="1000",
        show_default=True,
        metavar="N|all",
        help="Number of crash states to check.",
    ),
    click.option(
        "--max-failures", type=AT_LEAST_ONE, metavar="N", help="Stop after N failing crash states of a design."
    ),
    click.option("--replay", metavar="CASE", help="Check the crash state that a failure names."),
)


def html_option(cases: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """`--html` of a command that draws these cases."""
    return click.option("--html", type=FILE, metavar="FILE", help=f"Draw on a page {cases}.")


def refuse_number(ctx: click.Context) -> None:
    """Refuses a number of crash states beside the name of one."""
    if ctx.params["replay"]:
        why = "excludes --replay, which checks one crash state: leave one of them out"
        refuse(ctx, ("points", "max_failures"), why)


def end(
    ctx: click.Context, found: Crashes | CrashesOfRecording, passes: bool, draw: Callable[[Path], bool]
) -> NoReturn:
    """Draws and prints what was found, and ends the command; `draw` says whether there was anything to draw."""
    page, as_json = ctx.params["html"], ctx.params["as_json"]
    is_drawn = page is not None and draw(page)
    if found.results:
        output.give(found, as_json)
    if found.interrupted:
        raise InterruptError(found.interrupted)
    if page is not None and not as_json:
        output.say(f"{DRAWN} {page}" if is_drawn else "no crash state is wrong: nothing is drawn", style="dim")
    ctx.exit(0 if passes else 1)
