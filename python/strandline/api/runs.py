"""Runs of one workload under several designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import NONE, admitted, named, remark
from strandline.api.by_default import baseline, runs_by_default
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.records import SPEEDUP, Record
from strandline.views import record_files, runs, why, windows
from strandline.views.counts import counts
from strandline.views.page import DIM, Line, Page
from strandline.views.promises import Promises
from strandline.views.table import Table
from strandline.words import Windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.api.pictures import InteractiveChart
    from strandline.views.chart import Chart
    from strandline.views.columns import Columns


@dataclass(frozen=True, repr=False)
class Runs(Result):
    """The records of `strandline run`, one a design; the first is the baseline of the speedup column."""

    records: Sequence[Record]
    left_out: Sequence[str]
    """Designs of `all` that cannot run here, and why."""
    by_default: Mapping[str, Record]
    """By design, its run without `window` and `coroutines`, if they change it."""
    baseline: Record
    """The run that speedups are over: the first design, by default unless it was given a window of its own."""
    reused: int
    """Runs that came from the store."""
    _engine: Engine

    @classmethod
    def of(cls, document: Mapping[str, Any], engine: Engine) -> Runs:
        """The runs of a `document`, which does not say how many of them came from the store."""
        records, usual = ([Record(each) for each in document.get(key, ())] for key in ("records", "by_default"))
        baseline = next((each for each in usual if each.fields == document.get("baseline")), records[0])
        by_default = {each.text("design"): each for each in usual}
        return cls(records, document.get("left_out", ()), by_default, baseline, 0, engine)

    def page(self) -> Page:
        """The comparison, the costliest fences of a recording, what a design counts that no other does."""
        designs, keys = self._engine.listing("designs"), self._engine.listing("keys")
        promises = Promises.of(self._engine.listing)
        more = (runs.stalls(self.records[0]), counts(self.records, designs, keys))
        tables = (runs.comparison(self.records, self.baseline, promises), *self._why(), *filter(None, more))
        settings = Line(runs.circumstances(self.records, self.baseline), DIM)
        told = (
            windows.line(self.records, self.by_default),
            promises.remark(record.text("design") for record in self.records),
            *runs.ends(self.records, self._drift()),
            runs.drifting(self.records),
        )
        remarks = (*(Line(line, DIM) for line in told if line), *remark(self.left_out))
        parts = (part for table in tables for part in (table, Line()))
        return Page((*parts, settings, *remarks, *reused(self.reused)))

    def _why(self) -> tuple[Table, ...]:
        """Where the cycles went, if that was asked."""
        if any("why" not in record.fields.get("params", {}) for record in self.records):
            return ()
        return (why.table(self.records, self._engine.listing("classes")),)

    def _drift(self) -> str | None:
        """Why the workload is not stationary."""
        name = self.records[0].text("workload")
        found = (each.get("drift") for each in self._engine.listing("workloads") if each["name"] == name)
        return next(found, None)

    def plot(self, quantity: str = SPEEDUP, *, width: str = "text", title: bool = True) -> Figure:
        """A bar a design, as matplotlib's figure: of its speedup, a key of the record or a quantity of a sweep."""
        from strandline.api.pictures import picture

        return picture(self._chart(quantity), width, title)

    def chart(self, quantity: str = SPEEDUP) -> InteractiveChart:
        """The same for a notebook to draw, which needs no extra."""
        from strandline.api.pictures import InteractiveChart

        return InteractiveChart(self._chart(quantity))

    def _chart(self, quantity: str) -> Chart:
        # Few results become pictures.
        from strandline.views.run_chart import of_runs

        return of_runs(self.records, quantity, self.baseline, Promises.of(self._engine.listing))

    def columns(self) -> Columns:
        """A row a record."""
        from strandline.views import columns

        return columns.of_records(self.records, self._engine.listing("keys"))

    def document(self) -> dict[str, Any]:
        """The records, what a window did to each design, and the designs left out."""
        changed = windows.keys(self.records, self.by_default, self.baseline)
        return {"records": [record.fields for record in self.records], **changed, **named(self.left_out)}


def compare(
    session: Session, base: RunSpec, designs: Sequence[str], out: Path | None = None, own: Windows = NONE
) -> Runs:
    """Runs `base` under each design, and writes the records to the file `out`, whole or not at all.

    Designs whose tasks share a thread otherwise than by default, also by windows of their `own`, run by default, too.
    """
    if out:
        record_files.check(out)
    specs, left_out = admitted(session.engine, base, designs, own)
    usual = runs_by_default(session.engine, specs)
    made = session.records([*specs, *usual.values()])
    records, by_default = [made[spec] for spec in specs], {name: made[spec] for name, spec in usual.items()}
    if out:
        record_files.write(out, records)
    over = baseline(records[0], by_default, own)
    return Runs(records, left_out, by_default, over, session.reused, session.engine)
