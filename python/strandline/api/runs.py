"""Runs of one workload under several designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import admitted, named, remark
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.records import SPEEDUP, Record
from strandline.views import record_files, runs, why
from strandline.views.counts import counts
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Table

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
    reused: int
    """Runs that came from the store."""
    _engine: Engine

    @classmethod
    def of(cls, document: Mapping[str, Any], engine: Engine) -> Runs:
        """The runs of a `document`, which does not say how many of them came from the store."""
        return cls([Record(fields) for fields in document["records"]], document.get("left_out", ()), 0, engine)

    def page(self) -> Page:
        """The comparison, the costliest fences of a recording, what a design counts that no other does."""
        designs, keys = self._engine.listing("designs"), self._engine.listing("keys")
        more = (runs.stalls(self.records[0]), counts(self.records, designs, keys))
        tables = (runs.comparison(self.records), *self._why(), *filter(None, more))
        settings = Line(runs.circumstances(self.records), DIM)
        told = (*runs.ends(self.records, self._drift()), runs.drifting(self.records))
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

        return of_runs(self.records, quantity, self.records[0])

    def columns(self) -> Columns:
        """A row a record."""
        from strandline.views import columns

        return columns.of_records(self.records, self._engine.listing("keys"))

    def document(self) -> dict[str, Any]:
        """The records, and the designs left out."""
        return {"records": [record.fields for record in self.records], **named(self.left_out)}


def compare(session: Session, base: RunSpec, designs: Sequence[str], out: Path | None = None) -> Runs:
    """Runs `base` under each design, and writes the records to the file `out`, whole or not at all."""
    if out:
        record_files.check(out)
    specs, left_out = admitted(session.engine, base, designs)
    made = session.records(specs)
    records = [made[spec] for spec in specs]
    if out:
        record_files.write(out, records)
    return Runs(records, left_out, session.reused, session.engine)
