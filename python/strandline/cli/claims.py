"""`strandline claims`."""

from __future__ import annotations

from typing import Any

import click

from strandline.api import claims as api
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.beforehand import dry_run_option, only_told
from strandline.cli.complete import name_of
from strandline.cli.helped import Helped
from strandline.cli.options import (
    kept_options,
    last_options,
    precision_option,
    tasks_option,
)
from strandline.figures.figure import Options


@click.command(
    cls=Helped,
    examples=(
        "claims cosplay-fig1-adr",
        "claims cosplay 'asap-fig7-*' --tasks 500",
        "claims --dry-run",
    ),
)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=name_of("claims"))
@tasks_option
@precision_option("1%")
@kept_options
@dry_run_option
@last_options
@click.pass_obj
@click.pass_context
def claims(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Compare the papers' claims with measurements.

    ID is a name from `strandline list claims`, a pattern of such names in quotes, as 'asap-fig7-*', or a paper, as
    cosplay, for all of its claims. Runs what the claims need; without ID, all claims. A claim is not measurable if
    strandline lacks one of its designs or workloads. Runs in the run store are not repeated. A claim is undecided if
    its interval crosses the bound, so that longer runs must decide. Exits with 1 if a measured claim does not hold,
    else with 0.
    """
    session = app.session(given)
    with interruptible(session):
        options = Options(given["seed"], given["tasks"], precision=given["precision"])
        if only_told(ctx, session, api.runs_before(session, given["ids"], options)):
            return
        found = api.claims(session, given["ids"], options)
    output.give(found, given["as_json"])
    ctx.exit(0 if found.hold else 1)
