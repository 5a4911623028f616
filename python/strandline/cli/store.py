"""`strandline store`."""

from __future__ import annotations

import click

from strandline import pruning
from strandline.api.stores import kept, pruned
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option, parsed, refuse, store_option

PRUNE = "prune"


@click.command(
    cls=Helped,
    examples=(
        "store",
        "store prune --older 30d",
    ),
)
@click.argument("action", type=click.Choice([PRUNE]), required=False, metavar="[prune]")
@click.option("--keep", type=parsed(pruning.size), metavar="SIZE", help="Delete the oldest runs beyond this size: 5GB.")
@click.option("--older", type=parsed(pruning.age), metavar="AGE", help="Delete runs not used for this time: 30d.")
@store_option
@ignored_seed_option
@json_option
@click.pass_obj
@click.pass_context
def store(
    ctx: click.Context,
    app: App,
    /,
    action: str | None,
    keep: int | None,
    older: int | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Show what the run store holds, or prune it.

    `strandline store prune` deletes the runs of other builds of strandline, which this one does not find, and those
    used least recently beyond the limit. With --keep or --older, these take the limit's place.

    Commands that add runs keep to the limit by themselves, once a day and whenever they have added a tenth of it. Runs
    of other builds go first. The limit is 5 GB; $STRANDLINE_STORE_LIMIT sets another size such as 20GB, or `off`. A run
    that is gone is made again, so that a command under way loses nothing.
    """
    if action is None:
        refuse(ctx, ("keep", "older"), "says what to delete: write `strandline store prune`")
    found = pruned(app.engine, store, keep, older) if action == PRUNE else kept(app.engine, store)
    output.give(found, as_json)
