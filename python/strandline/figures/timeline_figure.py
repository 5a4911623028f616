"""Figures of timelines: what a few runs do, cycle by cycle. `docs/figures.md` explains the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from strandline.views.table import Column, Table, tabulated
from strandline.views.timeline.names import MOST_ROWS
from strandline.views.timeline_chart import Panel, TimelineChart

MOST_BARS = 2_000
"""Of a picture."""


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


def chart(figure: TimelineFigure, shown: Sequence[Shown], remarks: Sequence[str] = ()) -> TimelineChart:
    """What the picture shows; `remarks` stand below it."""
    panels = tuple(_panel(figure, each) for each in shown)
    bars = sum(len(line) for panel in panels for row in panel.rows for line in row.lines)
    if bars > MOST_BARS:
        raise InputError(
            f"{figure.id}: a picture of {bars:,} bars cannot be read: give fewer --tasks, or draw a page by "
            "`strandline timeline`"
        )
    return TimelineChart(figure.title, f"After {figure.source}", panels, remarks=remarks)


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
    return tabulated(shown, COLUMNS)


COLUMNS: Mapping[Column, Callable[[Shown], str]] = {
    Column("run", numeric=False): lambda each: each.label,
    Column("workload", numeric=False): lambda each: each.timeline.record.text("workload"),
    Column("design", numeric=False): lambda each: each.timeline.record.text("design"),
    Column("cycles"): lambda each: whole(each.timeline.record.number("cycles")),
    Column("fence stalls"): lambda each: _stalls(each.timeline.record),
    Column("PM writes"): lambda each: whole(each.timeline.record.number("pm_writes")),
}


def _stalls(record: Record) -> str:
    stalls = record.number("fence_stall_cycles")
    return f"{whole(stalls)} ({percent(stalls, record.number('cycles') * record.number('cores'))})"


def markdown(figure: TimelineFigure, shown: Sequence[Shown]) -> str:
    """The figure as a document."""
    return f"# {figure.title}\n\n{figure.source}.\n\n{table(shown).markdown()}"
