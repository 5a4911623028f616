"""`strandline run`."""

from __future__ import annotations

from typing import Any

import click

from strandline import words
from strandline.api.repeats import repeat
from strandline.api.runs import compare, planned
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.beforehand import dry_run_option, only_told
from strandline.cli.complete import names_of
from strandline.cli.helped import Helped
from strandline.cli.options import (
    base_run,
    demand,
    from_option,
    kept_options,
    out_file_option,
    parsed,
    precision_option,
    refuse,
    run_options_of,
)

FENCES = ("auto", "recorded", "flush")
"""The words of `recording.fences`."""

WITH_FROM = ("record", "jobs", "as_json")
"""The options that `--from` permits; the records have all others."""


@click.command(
    cls=Helped,
    examples=(
        "run sps -d x86,eadr,unordered --tasks 2000",
        "run sps,pc,tatp -d all --tasks 500 --counters all",
        "run sps -d x86 --bmo 700 --set machine.core.rob_entries=128",
        "run list.strand -d x86,asap-ep --out list.csv",
    ),
)
@run_options_of(workload_required=False)
@click.option(
    "--fences",
    type=click.Choice(FENCES),
    help="How a recording's fences are read: mfence as sfence and clflush as clwb (flush), as recorded, or as flushes "
    "where that is sound. [default: auto]",
)
@click.option("--why", is_flag=True, help="Show where the cycles of each design went, too.")
@click.option(
    "--counters",
    type=parsed(words.counters),
    metavar="KEY,...|all",
    shell_complete=names_of("keys", "all"),
    help="Show keys of the record (`strandline list keys`) by design; all: what only some designs count.",
)
@precision_option("off")
@out_file_option
@kept_options
@dry_run_option
@from_option
@click.pass_obj
@click.pass_context
def run(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Run WORKLOAD under several designs and compare them.

    WORKLOAD is a name (`strandline list workloads`), several with commas between them, a pattern of names in quotes, as
    'nstore-*', or a recording's path. The first design is the baseline of the speedup column. `-d all` runs all designs
    that the machine and the workload support. The column `recovers` shows whether crash states recover; for a
    recording, use `strandline check`. For a recording, a second table shows the source lines whose fences stall the
    first design.

    --out writes the records when all runs have finished. Runs in the run store are not repeated.

    --from repeats the runs of a file's records with the same parameters, and exits with 1 if a result differs.
    """
    if given["record"]:
        refuse(ctx, set(given) - set(WITH_FROM), "excludes --from, whose records define the runs: leave it out")
        found = repeat(app.session({"jobs": given["jobs"]}), given["record"])
        output.give(found, given["as_json"])
        ctx.exit(0 if found.same else 1)
    demand(ctx, "workload", "designs")
    if given["fences"]:
        given["settings"] = words.each_once((*given["settings"], f"recording.fences={given['fences']}"))
    session = app.session(given)
    with interruptible(session):
        base = base_run(given, recovers=True)
        plans = planned(session.engine, base, given["designs"], given["window"])[0]
        if only_told(ctx, session, [spec for each in plans for spec in each.every]):
            return
        result = compare(session, base, given["designs"], given["out"], given["window"], given["counters"] or ())
    output.give(result, given["as_json"], given["out"])
    if result.incomplete:
        ctx.exit(1)
