"""`strandline timeline`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from strandline.api.admitted import ALL, admitted, named
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.options import AT_LEAST_ONE, AT_LEAST_ZERO, base_run, demand, refuse, run_options_of
from strandline.cli.progress import progress
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.pool import parallel
from strandline.room import available, demand_room
from strandline.timelines import Part, Timeline
from strandline.views import files, runs
from strandline.views.timeline.names import MOST_ROWS, PAGE, TRACE, folder_of

TASKS = 100
"""The tasks of a run without --tasks: as many as one looks at."""

SUFFIX = ".litmus"
"""The end of a litmus test's file."""

WHOSE = "a timeline's"
"""Whose files a folder may hold."""

ONLY_RUNS = ("runtime", "threads", "tasks", "window", "coroutines", "bmo", "first", "last", "first_tasks", "kanata")
"""Parameters that a litmus test does not have."""


@click.command()
@run_options_of(workload_required=True)
@click.option("--from", "first", type=AT_LEAST_ZERO, metavar="CYCLE", help="Begin at this cycle of the timed region.")
@click.option("--to", "last", type=AT_LEAST_ZERO, metavar="CYCLE", help="End at this cycle of the timed region.")
@click.option("--first-tasks", type=AT_LEAST_ONE, metavar="N", help="End when N tasks have ended.")
@click.option(
    "--kanata",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the instructions of one design as a Kanata log, for the viewer Konata.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the result. [default: out/timeline-WORKLOAD]",
)
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
    if given["workload"].endswith(SUFFIX) or given["workload"] in app.engine.litmus_shelf():
        refuse(ctx, ONLY_RUNS, "does not apply to a litmus test: leave it out")
        _show_litmus(app.engine, given)
    else:
        _show_runs(app.engine, given)


def _show_runs(engine: Engine, given: dict[str, Any]) -> None:
    if given["tasks"] is None and not engine.is_recording(given["workload"]):
        given["tasks"] = TASKS
    specs, left_out = admitted(engine, base_run(given, recovers=False), given["designs"])
    if given["kanata"] is not None and len(specs) > 1:
        raise click.UsageError("--kanata is the log of one design: name one by -d")
    folder = given["out"] or Path("out") / folder_of(specs[0].workload)
    demand_room(map(engine.memory, specs), given["jobs"], available())
    with files.replacing(folder, (PAGE, TRACE), WHOSE) as staging:
        timelines = _drawn(engine, specs, given)
        _write(timelines, staging)
        if given["kanata"] is not None:
            _write_kanata(timelines[0], given["kanata"])
    if not given["as_json"]:
        _tell(timelines, left_out)
    _say_written(timelines, folder, given, named(left_out))


def _show_litmus(engine: Engine, given: dict[str, Any]) -> None:
    """One run of a litmus test under each design, on the machine that the seed decides."""
    from strandline.api.litmus_sources import sources
    from strandline.litmus_tests import LitmusSpec

    (source,) = sources(engine, [given["workload"]])
    if others := [key for key in given["settings"] if not key.startswith("design.")]:
        raise click.UsageError(f"--set {others[0]}: a litmus test takes design.KEY=VALUE only")
    chosen: tuple[str, ...] = tuple(engine.names("designs")) if given["designs"] == ALL else given["designs"]
    spec = LitmusSpec(
        source=source,
        models=None,
        designs=chosen,
        set=tuple(key.removeprefix("design.") for key in given["settings"]),
        machines=(given["machine"],) if given["machine"] else None,
        seed=given["seed"],
    )
    folder = given["out"] or Path("out") / folder_of(source.stem)
    with files.replacing(folder, (PAGE, TRACE), WHOSE) as staging:
        timelines = [engine.litmus_timeline(spec, design) for design in chosen]
        _write(timelines, staging)
    _say_written(timelines, folder, given, {})


def _drawn(engine: Engine, specs: Sequence[RunSpec], given: dict[str, Any]) -> list[Timeline]:
    part = Part(
        from_cycle=given["first"] or 0,
        to_cycle=given["last"],
        first_tasks=given["first_tasks"],
        most_rows=MOST_ROWS // len(specs),
        instructions=given["kanata"] is not None,
    )
    with progress("runs", len(specs)) as advance:
        timelines = parallel(partial(engine.timeline, part=part), specs, given["jobs"], advance)
    if not any(timeline.is_shortened for timeline in timelines):
        return timelines
    # All designs end at one cycle, so that they can be compared: the runs are made again, and are the same.
    last = min(timeline.to_cycle for timeline in timelines)
    with progress("runs again", len(specs)) as advance:
        part = replace(part, to_cycle=last, first_tasks=None)
        again = parallel(partial(engine.timeline, part=part), specs, given["jobs"], advance)
    return [replace(timeline, is_shortened=True) for timeline in again]


def _write(timelines: Sequence[Timeline], folder: Path) -> None:
    from strandline.views.timeline import page, perfetto

    title = f"{timelines[0].record.text('workload')}: {', '.join(timeline.design for timeline in timelines)}"
    (folder / PAGE).write_text(page.page(timelines, title), encoding="utf-8")
    with (folder / TRACE).open("wb") as file:
        perfetto.write(file, timelines)


def _write_kanata(timeline: Timeline, path: Path) -> None:
    from strandline.views.timeline import kanata

    if not timeline.instructions:
        raise InputError(f"--kanata {path}: no instruction was dispatched in that part: choose another")
    files.write_whole(path, kanata.log(timeline))


def _tell(timelines: Sequence[Timeline], left_out: Sequence[str]) -> None:
    records = [timeline.record for timeline in timelines]
    output.show(runs.comparison(records))
    output.say("")
    output.say(runs.circumstances(records), style="dim")
    if any(timeline.is_shortened for timeline in timelines):
        shown_to = min(timeline.to_cycle for timeline in timelines)
        output.tell(
            f"shown up to cycle {shown_to:,}, so that the page stays small: for another part, choose --from and --to, "
            "or fewer --tasks"
        )
    if left_out:
        output.say(f"left out: {'; '.join(left_out)}", style="dim")


def _say_written(timelines: Sequence[Timeline], folder: Path, given: dict[str, Any], left_out: dict[str, Any]) -> None:
    if not given["as_json"]:
        also = "" if given["kanata"] is None else f"; {given['kanata']}"
        output.say(f"written to {folder}: {PAGE}, {TRACE}{also}", style="dim")
        return
    shown = [
        {
            "design": timeline.design,
            "from_cycle": given["first"] or 0,
            "to_cycle": timeline.to_cycle,
            "is_shortened": timeline.is_shortened,
        }
        for timeline in timelines
    ]
    records = [timeline.record.fields for timeline in timelines]
    output.print_json({"out": str(folder), "files": [PAGE, TRACE], "timelines": shown, **left_out, "records": records})
