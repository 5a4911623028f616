"""`strandline list`."""

from __future__ import annotations

import click

from strandline.api.listings import KINDS, listing, parameters
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import entry_of
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option, set_option


@click.command(
    "list",
    cls=Helped,
    examples=(
        "list",
        "list designs",
        "list workloads sps",
        "list machines cosplay --set machine.core.rob_entries=128",
    ),
)
@click.argument("kind", type=click.Choice(KINDS), required=False, metavar="[KIND]")
@click.argument("name", required=False, shell_complete=entry_of)
@set_option
@ignored_seed_option
@json_option
@click.pass_obj
def list_(app: App, kind: str | None, name: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """List workloads, designs, machines, runtimes, figures, claims, models and record keys, or one KIND of them.

    `strandline list machines NAME` shows a machine's parameters with their units and sources.
    `strandline list workloads NAME` shows a workload's, `designs NAME` a design's, `runtimes NAME` the runtime's.
    """
    session = app.session({"jobs": 1})
    if kind is not None and name is not None:
        shown = [parameters(session, kind, name, settings)]
    else:
        shown = [listing(session, each) for each in ([kind] if kind else KINDS)]
    if as_json:
        output.print_json({key: value for each in shown for key, value in each.document().items()})
        return
    for number, each in enumerate(shown):
        if len(shown) > 1:
            output.say(f"{chr(10) if number else ''}{each.kind.upper()}", style="bold")
        output.show_narrow(each.page())
