"""Where the cycles of runs went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import named, remark
from strandline.api.result import reused
from strandline.api.runs import Runs, compare
from strandline.api.session import Session
from strandline.engine import RunSpec
from strandline.records import spent
from strandline.views import runs, why
from strandline.views.page import DIM, Line, Page

if TYPE_CHECKING:
    from strandline.views.columns import Columns


@dataclass(frozen=True, repr=False)
class Why(Runs):
    """Where the cycles of each design went, by class."""

    def page(self) -> Page:
        """A line a design, a table of all classes, and what they are."""
        classes = self._engine.listing("classes")
        return Page(
            (
                *why.lines(self.records, classes),
                Line(),
                why.table(self.records, classes),
                Line(),
                *why.legend(self.records, classes),
                Line(runs.circumstances(self.records), DIM),
                *remark(self.left_out),
                *reused(self.reused),
            )
        )

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


def where(session: Session, base: RunSpec, designs: Sequence[str], out: Path | None = None) -> Why:
    """Runs `base` under each design with its cycles classified."""
    found = compare(session, replace(base, why=True), designs, out)
    return Why(found.records, found.left_out, found.reused, session.engine)
