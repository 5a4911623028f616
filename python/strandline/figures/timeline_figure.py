"""Figures of timelines: what a few runs do, cycle by cycle. `docs/figures.md` explains the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.figures.figure import Options, run_of
from strandline.figures.spec import TimelineFigure
from strandline.figures.timeline_rows import ROWS
from strandline.pool import Done, parallel
from strandline.records import Record
from strandline.timelines import Part, Timeline
from strandline.views.numbers import percent, whole
from strandline.views.table import Column, Table
from strandline.views.timeline.names import MOST_ROWS
from strandline.views.timeline_chart import Panel, TimelineChart

MOST_BARS = 2_000
"""Of a picture."""

COLUMNS = (
    Column("run", numeric=False),
    Column("workload", numeric=False),
    Column("design", numeric=False),
    Column("cycles"),
    Column("fence stalls"),
    Column("PM writes"),
)


@dataclass(frozen=True)
class Shown:
    """A run of the figure."""

    label: str
    note: str | None
    timeline: Timeline

    @property
    def title(self) -> str:
        """The title of its panel."""
        return self.label if self.note is None else f"{self.label}: {self.note}"


def specs(figure: TimelineFigure, options: Options) -> list[RunSpec]:
    """The figure's runs."""
    if options.seeds > 1:
        raise InputError(f"--seeds: {figure.id} shows one run of each design, not means: leave it out")
    whole = replace(options, precision=0.0)
    return [run_of({**figure.fixed, **run.settings}, whole) for run in figure.timeline.runs]


def run(engine: Engine, figure: TimelineFigure, options: Options, jobs: int, done: Done) -> list[Shown]:
    """The figure's runs with their timelines; runs with timelines are not kept in the store."""
    part = Part(most_rows=MOST_ROWS // len(figure.timeline.runs))
    timelines = parallel(partial(engine.timeline, part=part), specs(figure, options), jobs, done)
    return [Shown(run.label, run.note, timeline) for run, timeline in zip(figure.timeline.runs, timelines, strict=True)]


def chart(figure: TimelineFigure, shown: Sequence[Shown]) -> TimelineChart:
    """What the picture shows."""
    panels = tuple(_panel(figure, each) for each in shown)
    bars = sum(len(line) for panel in panels for row in panel.rows for line in row.lines)
    if bars > MOST_BARS:
        raise InputError(
            f"{figure.id}: a picture of {bars:,} bars cannot be read: give fewer --tasks, or draw a page by "
            "`strandline timeline`"
        )
    return TimelineChart(figure.title, f"After {figure.source}", panels)


def _panel(figure: TimelineFigure, shown: Shown) -> Panel:
    timeline = shown.timeline
    rows = ROWS[figure.timeline.rows](timeline)
    ends = [bar.end for row in rows for line in row.lines for bar in line]
    # A run's last writes are durable behind its end.
    end = max(timeline.to_cycle, *ends) if ends else max(timeline.to_cycle, 1)
    return Panel(shown.title, timeline.record.text("workload"), rows, end)


def records(figure: TimelineFigure, shown: Sequence[Shown]) -> list[Record]:
    """The record of each run, filed under this figure."""
    return [each.timeline.record.as_part_of(figure.id) for each in shown]


def table(shown: Sequence[Shown]) -> Table:
    """A row a run."""
    return Table(COLUMNS, tuple(_row(each.label, each.timeline.record) for each in shown))


def _row(label: str, record: Record) -> tuple[str, ...]:
    cycles, stalls = record.number("cycles"), record.number("fence_stall_cycles")
    share = percent(stalls, cycles * record.number("cores"))
    numbers = (whole(cycles), f"{whole(stalls)} ({share})", whole(record.number("pm_writes")))
    return (label, record.text("workload"), record.text("design"), *numbers)


def markdown(figure: TimelineFigure, shown: Sequence[Shown]) -> str:
    """The figure as a document."""
    return f"# {figure.title}\n\n{figure.source}.\n\n{table(shown).markdown()}"
