"""Where the cycles of runs went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import NONE, named, remark
from strandline.api.result import Result, reused
from strandline.api.runs import compare, of_workloads
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.records import Record, spent
from strandline.views import runs, why
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Table
from strandline.words import Windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.api.pictures import InteractiveChart
    from strandline.views.chart import Chart
    from strandline.views.columns import Columns


@dataclass(frozen=True, repr=False)
class Why(Result):
    """Where the cycles of each design went, by class."""

    records: Sequence[Record]
    """One a design."""
    left_out: Sequence[str]
    """Designs of `all` that cannot run here, and why."""
    reused: int
    """Runs that came from the store."""
    _engine: Engine

    def page(self) -> Page:
        """For each workload a line a design, and a table of all classes; what the classes are."""
        classes, parts = self._engine.listing("classes"), list[Table | Line]()
        for records in of_workloads(self.records).values():
            parts += [*why.lines(records, classes), Line(), why.table(records, classes), Line()]
            parts += [Line(runs.circumstances(records, records[0]), DIM), Line()]
        return Page((*parts, *why.legend(self.records, classes), *remark(self.left_out), *reused(self.reused)))

    def plot(self, *, width: str = "text", title: bool = True) -> Figure:
        """A bar a design, of the cycles of a task by class, as matplotlib's figure."""
        from strandline.api.pictures import picture

        return picture(self._chart(), width, title)

    def chart(self) -> InteractiveChart:
        """The same for a notebook to draw, which needs no extra."""
        from strandline.api.pictures import InteractiveChart

        return InteractiveChart(self._chart())

    def write_plot(self, file: Path | str) -> None:
        """Writes the bars as a picture, in the format of the file's ending: .svg, .png or .pdf."""
        from strandline.api.pictures import write

        write(self._chart(), Path(file))

    def _chart(self) -> Chart:
        from strandline.views.run_chart import of_why

        return of_why(self.records, self._engine.listing("classes"))

    def columns(self) -> Columns:
        """A row a design and class."""
        from strandline.views import columns

        return columns.of_rows(self._rows())

    def document(self) -> dict[str, Any]:
        """The cycles by design and class, and the records."""
        rows = [{**row, "orders": bool(row["orders"])} for row in self._rows()]
        return {"why": rows, "records": [record.fields for record in self.records], **named(self.left_out)}

    def _rows(self) -> Sequence[dict[str, Any]]:
        classes = self._engine.listing("classes")
        return [
            {
                "workload": record.text("workload"),
                "design": record.text("design"),
                "class": each["name"],
                "orders": each["orders"],
                "cycles": cycles[each["name"]],
                "share": cycles[each["name"]] / max(sum(cycles.values()), 1),
            }
            for record in self.records
            for cycles in (spent(record),)
            for each in classes
        ]


def where(session: Session, base: RunSpec, designs: Sequence[str], out: Path | None = None, own: Windows = NONE) -> Why:
    """Runs `base` under each design with its cycles classified."""
    found = compare(session, replace(base, why=True), designs, out, own)
    return Why(found.records, found.left_out, found.reused, session.engine)
