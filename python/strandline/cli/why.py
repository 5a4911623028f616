"""`strandline why`."""

from __future__ import annotations

from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.helped import Helped
from strandline.cli.options import FILE, base_run, demand, kept_options, out_file_option, run_options_of


@click.command(
    cls=Helped,
    examples=(
        "why sps -d x86,strandweaver,unordered --tasks 2000",
        "why tpcc -m asap -d asap-rp --runtime sfr --threads 4 --tasks 400",
    ),
)
@run_options_of(workload_required=True)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw a bar a design: an .svg, .png or .pdf file.")
@out_file_option
@kept_options
@click.pass_obj
@click.pass_context
def why(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Say where the cycles of WORKLOAD went under each design.

    Each cycle of each core is in one class, the same classes for all designs, so that they add up: a cycle in which
    instructions are dispatched, or one in which they wait, by what they wait for. WORKLOAD is a name or a recording's
    path. The runs are those of `strandline run`, which shows the same table with --why.
    """
    from strandline.api.pictures import style_of
    from strandline.api.why import where

    demand(ctx, "designs")
    if given["plot"]:
        # Before the runs.
        style_of(given["plot"])
    session = app.session(given)
    with interruptible(session):
        base = base_run(given, recovers=False)
        result = where(session, base, given["designs"], given["out"], given["window"])
    if given["plot"]:
        result.write_plot(given["plot"])
    output.give(result, given["as_json"], given["out"])
    if given["plot"] and not given["as_json"]:
        output.say(f"drawn in {given['plot']}", style="dim")
