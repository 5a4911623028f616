"""Sweeps: many runs of the user's choice, and their means over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.pictures import InteractiveChart, picture
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError, from_file
from strandline.records import Record
from strandline.sweeps import values
from strandline.sweeps.chart import chart
from strandline.sweeps.plan import WHOLE, Part, Point, plan
from strandline.sweeps.spec import Sweep
from strandline.views import columns, record_files
from strandline.views.chart import Chart
from strandline.views.columns import Columns
from strandline.views.numbers import counted
from strandline.views.page import BOLD, DIM, Line, Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SweepResult(Result):
    """The points of a sweep with their values, and the record of each run."""

    sweep: Sweep
    points: Sequence[values.PointValues]
    records: Sequence[Record]
    """Records begin with the point's settings that a record has not under the same key."""
    part: Part
    reused: int
    """Runs that came from the store."""
    _engine: Engine

    def page(self) -> Page:
        """A row a point."""
        title = (Line(self.sweep.file.title, BOLD), Line()) if self.sweep.file.title else ()
        runs = counted(len(self.records), "run")
        most = max((point.runs for point in self.points), default=0)
        said = [f"{counted(len(self.points), 'point')}, {runs}"]
        said += [f"mean over {most:,} seeds ± 95 % confidence"] if most > 1 else []
        said += [f"part {self.part.number} of {self.part.of}"] if self.part != WHOLE else []
        said += filter(None, [values.remark(self.sweep, self.points)])
        table = values.table(self.sweep, self.points)
        return Page((*title, table, Line(), Line(", ".join(said), DIM), *reused(self.reused)))

    def plot(self, quantity: str | None = None, *, width: str = "text", title: bool = True) -> Figure:
        """Its quantities along the setting with the most numbers, as matplotlib's figure; or one of those it shows."""
        return picture(self._chart(quantity), width, title)

    def chart(self, quantity: str | None = None) -> InteractiveChart:
        """The same for a notebook to draw, which needs no extra."""
        return InteractiveChart(self._chart(quantity))

    def _chart(self, quantity: str | None) -> Chart:
        return chart(self.sweep, self.points, self.sweep.shown if quantity is None else (quantity,))

    def columns(self) -> Columns:
        """A row a run."""
        return columns.of_records(self.records, self._engine.listing("keys"))

    def document(self) -> dict[str, Any]:
        """The points and the records."""
        return {
            "points": [point.keys() for point in self.points],
            "records": [record.fields for record in self.records],
        }


def run_sweep(
    session: Session, sweep: Sweep, first_seed: int = 1, part: Part = WHOLE, out: Path | None = None
) -> SweepResult:
    """Makes the runs of a sweep, or of a part of it, and writes their records to the file `out`."""
    if out:
        record_files.check(out)
    points = plan(sweep, first_seed, part)
    specs = runs_of(points)
    if not specs:
        raise InputError(f"{sweep.source}: part {part.number}/{part.of} has no run: give fewer parts")
    with from_file(sweep.source):
        for spec in specs:
            session.engine.memory(spec)
    made = session.records(specs)
    records = [_labelled(point, made[spec]) for point in points for spec in point.runs.values()]
    if out:
        record_files.write(out, records)
    found = values.values(sweep, points, made)
    return SweepResult(sweep, found, records, part, session.reused, session.engine)


def runs_of(points: Sequence[Point]) -> list[RunSpec]:
    """The runs of a sweep's points, each for its seed."""
    return [spec for point in points for spec in point.runs.values()]


def _labelled(point: Point, record: Record) -> Record:
    return Record({**point.settings, **record.fields})
