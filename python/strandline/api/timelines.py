"""Timelines: what runs of a workload, a recording or a litmus test did, by time."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from strandline.api.admitted import ALL, NONE, admitted, named, remark
from strandline.api.by_default import baseline, runs_by_default
from strandline.api.litmus_sources import SUFFIX, sources
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.litmus_tests import LitmusSpec
from strandline.pool import parallel
from strandline.records import Record
from strandline.room import available, demand_room
from strandline.timelines import Part, Timeline
from strandline.views import columns, files, runs, why, windows
from strandline.views.columns import Columns
from strandline.views.page import DIM, Line, Page
from strandline.views.promises import Promises
from strandline.views.table import Column, Table
from strandline.views.timeline.names import MOST_ROWS, PAGE, TRACE, folder_of
from strandline.words import Windows

TASKS = 100
"""The tasks of a run without a number of them: as many as one looks at."""

WHOSE = "a timeline's"
"""Whose files a folder may hold."""

HEIGHT = 640
"""Pixels of the page in a notebook."""

COLUMNS = (Column("design", numeric=False), Column("cycles"))


@dataclass(frozen=True, repr=False)
class Timelines(Result):
    """What each design did, with the records of the runs. It shows itself as a page in a notebook."""

    timelines: Sequence[Timeline]
    left_out: Sequence[str]
    """Designs of `all` that cannot run here, and why."""
    by_default: Mapping[str, Record]
    """As those of `strandline run`."""
    baseline: Record
    is_litmus: bool
    """Whether the program is a litmus test, whose records have counts only."""
    _engine: Engine

    @property
    def records(self) -> list[Record]:
        """The records, one a design."""
        return [timeline.record for timeline in self.timelines]

    def page(self) -> Page:
        """The comparison of the runs, or the cycles of a litmus test; where the timelines end early."""
        if self.is_litmus:
            ran = tuple((each.design, f"{each.end - each.start:,}") for each in self.timelines)
            return Page((Table(COLUMNS, ran),))
        promises = Promises.of(self._engine.listing)
        parts: list[Table | Line] = [runs.comparison(self.records, self.baseline, promises), Line()]
        parts.extend((*why.lines(self.records, self._engine.listing("classes")), Line()))
        parts.append(Line(runs.circumstances(self.records, self.baseline), DIM))
        if told := windows.line(self.records, self.by_default):
            parts.append(Line(told, DIM))
        if any(timeline.is_shortened for timeline in self.timelines):
            shown_to = min(timeline.to_cycle for timeline in self.timelines)
            parts.append(
                Line(
                    f"shown up to cycle {shown_to:,}, so that the page stays small: for another part, choose --from "
                    "and --to, or fewer --tasks",
                    folds=True,
                )
            )
        return Page((*parts, *remark(self.left_out)))

    def columns(self) -> Columns:
        """A row a design, with the keys of its record."""
        return columns.of_records(self.records, self._engine.listing("keys"))

    def document(self) -> dict[str, Any]:
        """The part that is shown of each design, and the records."""
        keys = ("design", "from_cycle", "to_cycle", "is_shortened")
        shown = [{key: getattr(timeline, key) for key in keys} for timeline in self.timelines]
        changed = windows.keys(self.records, self.by_default, self.baseline)
        records = [record.fields for record in self.records]
        return {"timelines": shown, **named(self.left_out), **changed, "records": records}

    def _repr_html_(self) -> str:
        page = html.escape(self.html())
        return f'<iframe srcdoc="{page}" title="timeline" width="100%" height="{HEIGHT}" frameborder="0"></iframe>'

    def html(self) -> str:
        """The page, which needs no network and no other file."""
        from strandline.views.timeline import page

        designs = ", ".join(timeline.design for timeline in self.timelines)
        return page.page(self.timelines, f"{self.timelines[0].record.text('workload')}: {designs}")

    def write(self, out: Path | str) -> None:
        """Replaces the folder by one with the page and the trace, `timeline.html` and `timeline.pftrace`."""
        with files.replacing(Path(out), (PAGE, TRACE), WHOSE) as staging:
            self.write_to(staging)

    def write_to(self, folder: Path) -> None:
        """Writes the page and the trace into a folder."""
        from strandline.views.timeline import perfetto

        (folder / PAGE).write_text(self.html(), encoding="utf-8")
        with (folder / TRACE).open("wb") as file:
            perfetto.write(file, self.timelines)

    def write_kanata(self, file: Path | str) -> None:
        """Writes the instructions of the only design as a log for the viewer Konata.

        An `InputError` if there are none, also without the argument `kanata` of `timeline`.
        """
        from strandline.views.timeline import kanata

        _refuse_several(self.timelines)
        if not self.timelines[0].instructions:
            raise InputError(f"--kanata {file}: no instruction was dispatched in that part: choose another")
        files.write_whole(Path(file), kanata.log(self.timelines[0]))


@dataclass(frozen=True)
class Target:
    """Where the results go."""

    out: Path | None = None
    """The folder of page and trace; `None` writes none."""
    kanata: Path | None = None
    """The file of the log of instructions."""


def is_litmus(engine: Engine, workload: str) -> bool:
    """Whether the workload's name is that of a litmus test."""
    return workload.endswith(SUFFIX) or workload in engine.litmus_shelf()


def default_folder(workload: str) -> Path:
    """The folder of a workload's timelines that has no other."""
    return Path("out") / folder_of(workload)


def of_runs(
    session: Session, base: RunSpec, designs: Sequence[str], part: Part, target: Target, own: Windows = NONE
) -> Timelines:
    """Runs `base` under each design, 100 tasks unless it says otherwise, and writes the files whole or not at all."""
    engine = session.engine
    if base.tasks is None and not engine.is_recording(base.workload):
        base = replace(base, tasks=TASKS)
    specs, left_out = admitted(engine, replace(base, why=True), designs, own)
    if part.instructions:
        _refuse_several(specs)
    demand_room(map(engine.memory, specs), session.jobs, available())
    part = replace(part, most_rows=MOST_ROWS // len(specs))

    def make() -> Timelines:
        usual = runs_by_default(engine, specs)
        made = session.records(usual.values()) if usual else {}
        by_default = {name: made[spec] for name, spec in usual.items()}
        drawn = _drawn(session, specs, part)
        over = baseline(drawn[0].record, by_default, own)
        return Timelines(drawn, left_out, by_default, over, False, engine)

    return _made(make, target)


def of_litmus(
    engine: Engine,
    test: str,
    designs: Sequence[str],
    machine: str | None,
    settings: Sequence[str],
    seed: int,
    out: Path | None,
) -> Timelines:
    """One run of a litmus test under each design, on the machine and with the delays that the seed decides."""
    (source,) = sources(engine, [test])
    if others := [key for key in settings if not key.startswith("design.")]:
        raise InputError(f"--set {others[0]}: a litmus test takes design.KEY=VALUE only")
    chosen = tuple(engine.names("designs")) if tuple(designs) == ALL else tuple(designs)
    spec = LitmusSpec(
        source=source,
        models=None,
        designs=chosen,
        set=tuple(key.removeprefix("design.") for key in settings),
        machines=(machine,) if machine else None,
        seed=seed,
    )

    def make() -> Timelines:
        drawn = [engine.litmus_timeline(spec, design) for design in chosen]
        return Timelines(drawn, (), {}, drawn[0].record, True, engine)

    return _made(make, Target(out))


def _drawn(session: Session, specs: Sequence[RunSpec], part: Part) -> list[Timeline]:
    draw = session.engine.timeline
    with session.display.progress("runs", len(specs)) as advance:
        timelines = parallel(partial(draw, part=part), specs, session.jobs, advance)
    if not any(timeline.is_shortened for timeline in timelines):
        return timelines
    # All designs end at one cycle, so that they can be compared: the runs are made again, and are the same.
    last = min(timeline.to_cycle for timeline in timelines)
    part = replace(part, to_cycle=last, first_tasks=None)
    with session.display.progress("runs again", len(specs)) as advance:
        again = parallel(partial(draw, part=part), specs, session.jobs, advance)
    return [replace(timeline, is_shortened=True) for timeline in again]


def _made(make: Callable[[], Timelines], target: Target) -> Timelines:
    """Makes timelines, and writes them where they go: a folder that cannot be written is an error before they run."""
    with nullcontext() if target.out is None else files.replacing(target.out, (PAGE, TRACE), WHOSE) as staging:
        found = make()
        if staging is not None:
            found.write_to(staging)
        if target.kanata is not None:
            found.write_kanata(target.kanata)
        return found


def _refuse_several(designs: Sequence[object]) -> None:
    if len(designs) > 1:
        raise InputError("--kanata is the log of one design: name one by -d")
