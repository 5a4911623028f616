"""`strandline crash`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from strandline.cli import crash_recording, output
from strandline.cli.admitted import admitted, demand_memory, named
from strandline.cli.app import App
from strandline.cli.options import AT_LEAST_ONE, demand, points, refuse, run_options_of
from strandline.cli.progress import progress
from strandline.engine import CrashResult, CrashSpec
from strandline.errors import InterruptError
from strandline.report import crashes
from strandline.sweep import until_interrupted

FOLDER = click.Path(path_type=Path, file_okay=False)

ONLY_WORKLOADS = ("machine", "runtime", "threads", "tasks", "window", "coroutines", "bmo", "settings")
ONLY_RECORDINGS = ("dump", "verify", "time_limit", "scratch")


def finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuses what compares with nothing."""
    if math.isnan(value):
        raise click.BadParameter(f"`{value}` is not a time: give seconds", ctx, param)
    return value


@click.command()
@run_options_of(workload_required=True)
@click.option(
    "--points", type=points, default="1000", show_default=True, metavar="N|all", help="Number of crash states to check."
)
@click.option("--max-failures", type=AT_LEAST_ONE, metavar="N", help="Stop after N failing crash states of a design.")
@click.option("--replay", metavar="CASE", help="Check the crash state that a failure names.")
@click.option("--dump", type=FOLDER, metavar="DIR", help="Write a recording's crash states to files in a folder.")
@click.option(
    "--verify", metavar="CMD", help="Check each crash state of a recording by a shell command; {} is the pool."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, 86_400, min_open=True),
    callback=finite,
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of --verify for one state.",
)
@click.option(
    "--scratch", type=FOLDER, metavar="DIR", help="Folder for --verify's temporary files. [default: in memory]"
)
@click.pass_obj
@click.pass_context
def crash(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Cut the power in WORKLOAD (or a recording), recover, and check the result.

    A state is right if the design's model allows it and recovery restores the structure with every operation that was
    acknowledged as durable. Exits with 1 if a state is wrong, and prints the smallest failing case. Ctrl-C ends the
    test and prints the results so far.

    A crash state of a recording (a file of `strandline record`) is the pool's files after the crash. Under designs such
    as x86 and eadr, the states are all that the model allows. Under other designs, they are those that simulated runs
    reach. A state is right if the model allows it and your own checker accepts it (exit status 0): --verify 'pmempool
    check {}'.
    """
    if given["replay"]:
        why = "excludes --replay, which checks one crash state: leave one of them out"
        refuse(ctx, ("points", "max_failures"), why)
    if app.engine.is_recording(given["workload"]):
        refuse(ctx, ONLY_WORKLOADS, "does not apply to a recording: leave it out")
        ctx.exit(0 if crash_recording.examine(app, given) else 1)
    refuse(ctx, ONLY_RECORDINGS, "applies only to recordings, the files of `strandline record`: leave it out")
    demand(ctx, "designs")
    engine = app.engine
    runs, left_out = admitted(engine, given, recovers=False)
    specs = [CrashSpec(run, given["points"], given["replay"], given["max_failures"]) for run in runs]
    demand_memory(map(engine.crash_memory, specs), given["jobs"])
    stop = engine.stop()
    with progress("crashing", len(specs)) as done:
        work = partial(engine.crash, stop=stop)
        results, interrupted = until_interrupted(work, specs, given["jobs"], done, stop.set)
    if results:
        _print_json(results, left_out, interrupted) if given["as_json"] else _print(results, left_out)
    if interrupted:
        raise InterruptError(crashes.interrupted(len(results), len(specs)))
    ctx.exit(1 if any(result.failures for result in results) else 0)


def _print(results: Sequence[CrashResult], left_out: Sequence[str]) -> None:
    output.show(crashes.verdicts(results))
    if left_out:
        output.say(f"left out: {'; '.join(left_out)}", style="dim")
    for result in results:
        if result.failures:
            output.say("")
            for line in crashes.explain(result):
                output.say(line)


def _print_json(results: Sequence[CrashResult], left_out: Sequence[str], interrupted: bool) -> None:
    failures = [
        {"workload": result.workload, "design": result.design, **asdict(failure)}
        for result in results
        for failure in result.failures
    ]
    output.print_json(
        {
            "interrupted": interrupted,
            "failures": failures,
            "results": [_summary(result) for result in results],
            "records": [result.record.fields for result in results],
            **named(left_out),
        }
    )


def _summary(result: CrashResult) -> dict[str, Any]:
    keys = ("workload", "design", "points", "durable_events", "runs", "complete")
    return {**{key: getattr(result, key) for key in keys}, "recovers": crashes.recovers(result)}
