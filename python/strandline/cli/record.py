"""`strandline record`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.functions import Functions
from strandline.cli.helped import Helped
from strandline.cli.options import AT_LEAST_ONE, PATH, json_option, seed_option
from strandline.cli.progress import counter
from strandline.recorder import INCLUDE, KILLED, Recorded, RecordSpec, record, shortcomings, stem
from strandline.views import recordings


def show_include(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    """Prints the folder of the header, and ends the command."""
    if wanted and not ctx.resilient_parsing:
        click.echo(INCLUDE)
        ctx.exit()


@click.command(
    "record",
    context_settings={"ignore_unknown_options": False},
    cls=Helped,
    examples=(
        "record --pm /dev/shm/pool -- ./server --port 80",
        "record --pm-heap -o list.strand -- ./list 100",
    ),
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
@click.option("-o", "--out", type=PATH, help="The recording. [default: PROGRAM.strand]")
@click.option(
    "--pm",
    multiple=True,
    type=PATH,
    metavar="PATH",
    help="A file, or a folder of files, whose mappings are persistent memory (repeatable).",
)
@click.option(
    "--pm-range",
    "pm_ranges",
    multiple=True,
    metavar="START:END",
    help="A range of addresses that is persistent memory, as 0x...:0x....",
)
@click.option(
    "--pm-heap",
    "pm_heaps",
    multiple=True,
    is_flag=False,
    flag_value="",
    metavar="[FUNCTION]",
    help="What the program allocates (malloc, new, anonymous mmap) is persistent memory, at fixed addresses; with a "
    "FUNCTION, what its calls allocate (repeatable).",
)
@click.option(
    "--from",
    "begin",
    metavar="FUNCTION|start|marker",
    help="Start at this function, with the process, or at the program's marker. [default: main]",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="FUNCTION",
    help="Each call of this function is a task, as if markers were around it (repeatable).",
)
@click.option(
    "--fork",
    type=click.Choice(["parent", "child"]),
    help="Which process goes on being recorded if the program forks. [default: parent]",
)
@click.option("--max-instructions", type=AT_LEAST_ONE, metavar="N", help="End the recording after N instructions.")
@click.option(
    "--include",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_include,
    help="Print the folder of the header with markers, for `cc -I`, and exit.",
)
@json_option
@seed_option
@click.pass_obj
def record_(app: App, /, **given: Any) -> None:
    """Run PROGRAM with its arguments, and write a recording for `run` and `check`.

    Exits with 1 if the recording has no store to persistent memory, or if a --pm was never mapped. With --json, the
    program's own output goes to stderr. Put `--` before PROGRAM: strandline record --pm /dev/shm/pool -- ./server
    --port 80
    """
    allocators = _allocators(given["pm_heaps"])
    if not given["program"]:
        raise click.UsageError("give a PROGRAM to record after `--`")
    file = shutil.which(given["program"][0]) if given["tasks"] else None
    functions = Functions(app.engine.functions(file) if file else [])
    tasks = tuple(symbol for name in given["tasks"] for symbol in functions.symbols(name))
    spec = replace(_spec(given), allocators=allocators, tasks=tasks)
    with counter("recording", "instructions") as advance:
        recorded = record(spec, app.engine.collect, advance)
    lacking = shortcomings(spec, recorded)
    recorded = replace(recorded, warnings=[*functions.told(recorded.warnings, "--task"), *lacking])
    if given["as_json"]:
        output.print_json(asdict(recorded))
    else:
        _print(recorded)
    if lacking or (not recorded.complete and KILLED not in recorded.warnings):
        raise click.exceptions.Exit(1)


def _spec(given: Mapping[str, Any]) -> RecordSpec:
    return RecordSpec(
        program=given["program"],
        out=given["out"] or Path(stem(given["program"])),
        pm=given["pm"],
        pm_ranges=given["pm_ranges"],
        pm_heap=bool(given["pm_heaps"]),
        begin=given["begin"],
        max_instructions=given["max_instructions"],
        fork=given["fork"],
        quiet_stdout=given["as_json"],
    )


def _allocators(names: tuple[str, ...]) -> tuple[str, ...]:
    """The functions that `--pm-heap` names."""
    for name in names:
        if "/" in name:
            raise click.UsageError(f"--pm-heap {name}: no function has such a name; write `--` before PROGRAM")
    named = tuple(name for name in names if name)
    if named and len(named) < len(names):
        raise click.UsageError("--pm-heap: name the functions, or none for all that the program allocates")
    return named


def _print(recorded: Recorded) -> None:
    output.show(recordings.totals(recorded))
    output.say("")
    output.say(recordings.summary(recorded), style="dim")
    for warning in recorded.warnings:
        output.tell(f"warning: {warning}")
