"""`strandline crash`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from strandline import words
from strandline.api import crashes as api
from strandline.api import recordings
from strandline.api.crashes import Crashes
from strandline.cli import crash_page, output
from strandline.cli.app import App
from strandline.cli.options import AT_LEAST_ONE, OF_PROGRAMS, base_run, demand, parsed, refuse, run_options_of
from strandline.errors import InterruptError
from strandline.views.audit import FAIL_ON

FOLDER = click.Path(path_type=Path, file_okay=False)

ONLY_WORKLOADS = ("machine", *OF_PROGRAMS, "settings")
OF_RECORDINGS = tuple(field.name for field in fields(recordings.Request) if field.name != "recording")
ONLY_RECORDINGS = tuple(name for name in OF_RECORDINGS if name not in ("points", "seed", "replay", "max_failures"))


def finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuses what compares with nothing."""
    if math.isnan(value):
        raise click.BadParameter(f"`{value}` is not a time: give seconds", ctx, param)
    return value


@click.command()
@run_options_of(workload_required=True)
@click.option(
    "--points",
    type=parsed(words.points),
    default="1000",
    show_default=True,
    metavar="N|all",
    help="Number of crash states to check.",
)
@click.option("--max-failures", type=AT_LEAST_ONE, metavar="N", help="Stop after N failing crash states of a design.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the failing cases of each design on a page: the smallest, or for a recording one of each kind.",
)
@click.option("--replay", metavar="CASE", help="Check the crash state that a failure names.")
@click.option("--dump", type=FOLDER, metavar="DIR", help="Write a recording's crash states to files in a folder.")
@click.option(
    "--verify", metavar="CMD", help="Check each crash state of a recording by a shell command; {} is the pool."
)
@click.option(
    "--recover",
    metavar="CMD",
    help="Recover each crash state of a recording by a program before --verify, and crash its recovery in turn.",
)
@click.option(
    "--depth",
    type=AT_LEAST_ONE,
    metavar="N",
    help="How often a recovery is interrupted before one ends. [default: 1]",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, 86_400, min_open=True),
    callback=finite,
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of --verify for one state, and of --recover.",
)
@click.option(
    "--scratch", type=FOLDER, metavar="DIR", help="Folder for --verify's temporary files. [default: in memory]"
)
@click.option(
    "--orders",
    type=AT_LEAST_ONE,
    metavar="N",
    help="Orders of a recording's threads to explore; 1 is the recorded one alone. [default: up to 8]",
)
@click.option(
    "--weaken",
    is_flag=True,
    help="Find flushes and fences of a recording that can go or be weaker without a new failing state.",
)
@click.option(
    "--fail-on",
    type=click.Choice(tuple(FAIL_ON)),
    help="Exit with 1 for these findings of a recording's audit. "
    "[default: correctness; none with --verify, --dump or --replay]",
)
@click.option(
    "--suppress",
    multiple=True,
    metavar="FILE|NAME",
    help="Accept the findings that a file lists, or a shipped one: libpmemobj, malloc, pthread (repeatable).",
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
    check {}'. The checker's STRANDLINE_TASKS_DONE has the number of tasks that each thread had ended (1,0,2).

    With --recover, the recovery of each right state is recorded, and its own crash states are recovered and checked:
    --recover './recover {}'. Recovery must be idempotent: after a crash during recovery it runs again from the start.

    Every recording is audited, too: for stores that are never flushed, flushes that are never fenced, and flushes and
    fences without an effect, with the cycles that these cost. Without --verify, --dump and --replay, the audit is a
    gate: findings of correctness exit with 1, unless --suppress accepts them. --weaken finds flushes and fences that
    can go.
    """
    if given["replay"]:
        why = "excludes --replay, which checks one crash state: leave one of them out"
        refuse(ctx, ("points", "max_failures"), why)
    session = app.session(given)
    if app.engine.is_recording(given["workload"]):
        refuse(ctx, ONLY_WORKLOADS, "does not apply to a recording: leave it out")
        request = recordings.Request(given["workload"], **{name: given[name] for name in OF_RECORDINGS})
        judged = recordings.crash(session, request, given["designs"] or ())
        _end(ctx, judged, partial(crash_page.write_recording, judged), judged.passes)
    refuse(ctx, ONLY_RECORDINGS, "applies only to recordings, the files of `strandline record`: leave it out")
    demand(ctx, "designs")
    base = base_run(given, recovers=False)
    found = api.crash(session, base, given["designs"], given["points"], given["replay"], given["max_failures"])
    _end(ctx, found, partial(crash_page.write, app.engine, found.results))


def _end(
    ctx: click.Context,
    found: Crashes | recordings.CrashesOfRecording,
    draw: Callable[[Path], bool],
    passes: bool = True,
) -> NoReturn:
    """Draws and prints what was found, and ends the command."""
    page, as_json = ctx.params["html"], ctx.params["as_json"]
    is_drawn = page is not None and draw(page)
    if found.results:
        output.give(found, as_json)
    if found.interrupted:
        raise InterruptError(found.interrupted)
    if page is not None and not as_json:
        output.say(f"drawn in {page}" if is_drawn else "no crash state is wrong: nothing is drawn", style="dim")
    ctx.exit(0 if found.recovers and passes else 1)
