"""`strandline timeline`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from strandline.api import timelines as api
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.helped import Helped
from strandline.cli.options import (
    AT_LEAST_ONE,
    AT_LEAST_ZERO,
    FILE,
    OF_PROGRAMS,
    PATH,
    base_run,
    demand,
    refuse,
    run_options_of,
)
from strandline.timelines import Part
from strandline.views.timeline.names import PAGE, TRACE

ONLY_RUNS = (*OF_PROGRAMS, "first", "last", "first_tasks", "kanata")
"""Parameters that a litmus test does not have."""


@click.command(
    cls=Helped,
    examples=(
        "timeline sps -d x86,hops-rp --tasks 20",
        "timeline sps -d x86 --from 10000 --to 20000 --out out/later",
        "timeline papers/dpo-1 -d asap-ep",
    ),
)
@run_options_of(workload_required=True)
@click.option("--from", "first", type=AT_LEAST_ZERO, metavar="CYCLE", help="Begin at this cycle of the timed region.")
@click.option("--to", "last", type=AT_LEAST_ZERO, metavar="CYCLE", help="End at this cycle of the timed region.")
@click.option("--first-tasks", type=AT_LEAST_ONE, metavar="N", help="End when N tasks have ended.")
@click.option(
    "--kanata",
    type=FILE,
    metavar="FILE",
    help="Write the instructions of one design as a Kanata log, for the viewer Konata.",
)
@click.option("--out", type=PATH, metavar="DIR", help="Folder of the result. [default: out/timeline-WORKLOAD]")
@click.pass_obj
@click.pass_context
def timeline(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Show what happens between store and media: a page, and a trace for Perfetto.

    Runs WORKLOAD (or a recording) under each design as `strandline run` does, 100 tasks unless --tasks says otherwise.
    WORKLOAD may also be a .litmus file or a built-in litmus test, whose machine and delays --seed decides.
    The page (timeline.html) has the designs one below the other on one axis of time: tasks, stalls by cause, each store
    and flush up to the media, and who waited for whom. It needs no network. The trace (timeline.pftrace) opens at
    ui.perfetto.dev; a nanosecond of it is a cycle.
    """
    demand(ctx, "designs")
    if given["first_tasks"] is not None:
        refuse(ctx, ("last",), "excludes --first-tasks: leave one of them out")
    test = api.is_litmus(app.engine, given["workload"])
    if test:
        refuse(ctx, ONLY_RUNS, "does not apply to a litmus test: leave it out")
    folder = given["out"] or api.default_folder(given["workload"])
    found = _of_litmus(app, given, folder) if test else _of_runs(app, given, folder)
    if given["as_json"]:
        output.print_json({"out": str(folder), "files": [PAGE, TRACE], **found.document()})
        return
    output.show(found.page())
    also = "" if given["kanata"] is None else f"; {given['kanata']}"
    output.say(f"written to {folder}: {PAGE}, {TRACE}{also}", style="dim")


def _of_runs(app: App, given: dict[str, Any], folder: Path) -> api.Timelines:
    part = Part(
        from_cycle=given["first"] or 0,
        to_cycle=given["last"],
        first_tasks=given["first_tasks"],
        instructions=given["kanata"] is not None,
    )
    base, target = base_run(given, recovers=False), api.Target(folder, given["kanata"])
    return api.of_runs(app.session(given), base, given["designs"], part, target, given["window"])


def _of_litmus(app: App, given: dict[str, Any], folder: Path) -> api.Timelines:
    return api.of_litmus(
        app.engine, given["workload"], given["designs"], given["machine"], given["settings"], given["seed"], folder
    )
