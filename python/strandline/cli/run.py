"""`strandline run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from strandline.cli import output, progress
from strandline.cli.admitted import admitted, demand_memory, named
from strandline.cli.app import App
from strandline.cli.options import demand, fresh_option, from_option, out_file_option, refuse, run_options_of
from strandline.cli.repeat import repeat
from strandline.engine import Engine, RunSpec
from strandline.journal import Journal, keeping
from strandline.record import Record
from strandline.report import record_files, runs
from strandline.report.counts import counts
from strandline.sweep import pace_of, run_all

WITH_FROM = ("record", "jobs", "as_json")
"""The options that `--from` permits; the records have all others."""


@click.command()
@run_options_of(workload_required=False)
@out_file_option
@fresh_option
@from_option
@click.pass_obj
@click.pass_context
def run(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Run WORKLOAD under several designs and compare them.

    WORKLOAD is a name (`strandline list workloads`) or a recording's path. The first design is the baseline of the
    speedup column. `-d all` runs all designs that the machine and the workload support. The column `recovers` shows
    whether crash states recover; for a recording, use `strandline crash`. For a recording, a second table shows the
    source lines whose fences stall the first design. Another table shows what a design counts that no other does.

    --out writes the records when all runs have finished. Finished runs of an interrupted call are not repeated.

    --from repeats the runs of a file's records with the same parameters, and exits with 1 if a result differs.
    """
    if given["record"]:
        refuse(ctx, set(given) - set(WITH_FROM), "excludes --from, whose records define the runs: leave it out")
        ctx.exit(0 if repeat(app, given["record"], given["jobs"], given["as_json"]) else 1)
    demand(ctx, "workload", "designs")
    engine = app.engine
    specs, left_out = admitted(engine, given, recovers=True)
    demand_memory(map(engine.memory, specs), given["jobs"])
    records = _records(engine, specs, given)
    if given["as_json"]:
        output.print_json({"records": [record.fields for record in records], **named(left_out)})
        return
    output.show(runs.comparison(records))
    output.say("")
    for more in (runs.stalls(records[0]), counts(records, engine.listing("designs"), engine.listing("keys"))):
        if more:
            output.show(more)
            output.say("")
    output.say(runs.circumstances(records), style="dim")
    if left_out:
        output.say(f"left out: {'; '.join(left_out)}", style="dim")
    if given["out"]:
        output.say(f"written to {given['out']}", style="dim")


def _records(engine: Engine, specs: Sequence[RunSpec], given: dict[str, Any]) -> list[Record]:
    if given["out"] is None:
        return _run(engine, specs, given["jobs"], None)
    record_files.check(given["out"])
    with keeping(given["out"], given["fresh"]) as journal:
        records = _run(engine, specs, given["jobs"], journal)
        record_files.write(given["out"], records)
    return records


def _run(engine: Engine, specs: Sequence[RunSpec], jobs: int, journal: Journal | None) -> list[Record]:
    pace = pace_of(engine, specs, jobs)
    with progress.runs(pace):
        return list(run_all(engine, pace, journal).values())
