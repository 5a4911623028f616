"""`strandline list`."""

from __future__ import annotations

import click

from strandline.api.listings import KINDS, Listing, Overview, listing, parameters
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import entry_of
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option, refuse, set_option
from strandline.pool import default_jobs


@click.command(
    "list",
    cls=Helped,
    examples=(
        "list",
        "list designs",
        "list workloads sps",
        "list figures cosplay",
        "list machines cosplay --toml > mine.toml",
    ),
)
@click.argument("kind", type=click.Choice(tuple(KINDS)), required=False, metavar="[KIND]")
@click.argument("name", required=False, shell_complete=entry_of)
@set_option
@click.option("--toml", "as_toml", is_flag=True, help="Print a machine's file to begin from, for -m FILE.toml.")
@ignored_seed_option
@json_option
@click.pass_obj
@click.pass_context
def list_(
    ctx: click.Context,
    app: App,
    kind: str | None,
    name: str | None,
    settings: tuple[str, ...],
    as_toml: bool,
    as_json: bool,
) -> None:
    """List workloads, designs, machines, runtimes, figures, claims, models and record keys, or one KIND of them.

    Without KIND, how many there are of each; --json then has all entries. `strandline list machines NAME` shows a
    machine's parameters with their units and sources. `strandline list workloads NAME` shows a workload's, `designs
    NAME` a design's, `runtimes NAME` the runtime's. `strandline list figures cosplay` shows a paper's figures, with the
    number of their runs and about the time that they take here.

    --toml prints a machine's parameters as a file in which each stands with its unit and source, as a comment: remove
    the # before those that you change. What --set gives is set.
    """
    session = app.session({"jobs": default_jobs()})
    if name is None or kind is None:
        refuse(ctx, ("settings", "as_toml"), "needs a machine: write `strandline list machines NAME`")
        found: Listing | Overview = listing(session, kind) if kind else Overview(session)
    else:
        found = parameters(session, kind, name, settings)
    if as_json:
        output.print_json(found.document())
    elif as_toml and isinstance(found, Listing):
        click.echo(found.toml(), nl=False)
    else:
        output.show(found.page())
