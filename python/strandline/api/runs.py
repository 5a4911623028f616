"""Runs of one workload under several designs."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import ALL, admitted, named, remark
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.records import SPEEDUP, Record
from strandline.views import record_files, runs, why
from strandline.views.counts import counts, of_designs
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Table
from strandline.words import matching, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.api.pictures import InteractiveChart
    from strandline.views.chart import Chart
    from strandline.views.columns import Columns


@dataclass(frozen=True, repr=False)
class Runs(Result):
    """The records of `strandline run`, one a design, for each workload; its first is the baseline of its speedups."""

    records: Sequence[Record]
    left_out: Sequence[str]
    """Designs of `all` that cannot run here, and why."""
    reused: int
    """Runs that came from the store."""
    _engine: Engine
    counters: Sequence[str] = ()
    """Keys of the record whose values are shown, too."""

    @classmethod
    def of(cls, document: Mapping[str, Any], engine: Engine) -> Runs:
        """The runs of a `document`, which does not say how many of them came from the store."""
        return cls([Record(fields) for fields in document["records"]], document.get("left_out", ()), 0, engine)

    def page(self) -> Page:
        """For each workload the comparison, the costliest fences of a recording, and the counters to show."""
        of_workloads = dict[str, list[Record]]()
        for record in self.records:
            of_workloads.setdefault(record.text("workload"), []).append(record)
        parts = [part for records in of_workloads.values() for part in (*self._compared(records), Line())]
        return Page((*parts[:-1], *self._uncounted(), *remark(self.left_out), *reused(self.reused)))

    def _compared(self, records: Sequence[Record]) -> Iterator[Table | Line]:
        """The tables of a workload's runs, and what is said of them."""
        stalls, shown = runs.stalls(records[0]), counts(records, self.counters, self._engine.listing("keys"))
        for part in (runs.comparison(records), *self._why(records), *([stalls] if stalls else []), *shown):
            yield from (part, Line())
        yield Line(runs.circumstances(records), DIM)
        told = (*runs.ends(records, self._drift(records[0].text("workload"))), runs.drifting(records))
        yield from (Line(line, DIM) for line in told if line)

    def _why(self, records: Sequence[Record]) -> tuple[Table, ...]:
        """Where the cycles went, if that was asked."""
        if any("why" not in record.fields.get("params", {}) for record in records):
            return ()
        return (why.table(records, self._engine.listing("classes")),)

    def _uncounted(self) -> Iterator[Line]:
        """How to see what these designs count, if some count what others do not."""
        ran = {record.text("design") for record in self.records}
        some = [
            each["name"] for each in self._engine.listing("designs") if each.get("counters") and each["name"] in ran
        ]
        if some and not self.counters:
            yield Line(f"{counted(len(some), 'design')} of these with counters of their own: --counters all", DIM)

    def _drift(self, name: str) -> str | None:
        """Why a workload is not stationary."""
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


def planned(engine: Engine, base: RunSpec, designs: Sequence[str]) -> tuple[list[RunSpec], list[str]]:
    """The runs of each workload of `base` under each design, and which designs of `all` were left out, and why."""
    names = _workloads(engine, base.workload)
    specs, left_out = list[RunSpec](), list[str]()
    for name in names:
        own, missing = admitted(engine, replace(base, workload=name), designs)
        specs += own
        left_out += [f"{each} of {name}" if len(names) > 1 else each for each in missing]
    return specs, left_out


def _workloads(engine: Engine, given: str) -> list[str]:
    """The workloads that are meant: a recording, or names and patterns of names, with commas between them."""
    if engine.is_recording(given):
        return [given]
    known = engine.names("workloads")
    words_of = names(given, "workload", "sps,pc")
    return list(dict.fromkeys(name for word in words_of for name in fnmatch.filter(known, word) or [word]))


def counters(engine: Engine, given: Sequence[str]) -> list[str]:
    """The counters that are meant: numbers in a record, patterns of their names, or `all` that only designs have."""
    keys = engine.listing("keys")
    if tuple(given) == ALL:
        return of_designs(engine.listing("designs"), keys)
    numbers = {key["name"]: "" for key in keys if key["type"].startswith(("int", "float"))}
    return matching(given, numbers, "counter", "strandline list keys")


def compare(
    session: Session, base: RunSpec, designs: Sequence[str], out: Path | None = None, shown: Sequence[str] = ()
) -> Runs:
    """Runs the workloads of `base` under each design, and writes the records to the file `out`, whole or not at all."""
    if out:
        record_files.check(out)
    keys = counters(session.engine, shown)
    specs, left_out = planned(session.engine, base, designs)
    made = session.records(specs)
    records = [made[spec] for spec in specs]
    if out:
        record_files.write(out, records)
    return Runs(records, left_out, session.reused, session.engine, keys)
