"""Runs of one workload under several designs."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import ALL, NONE, admitted, named, remark
from strandline.api.by_default import baseline, runs_by_default
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.records import SPEEDUP, Record
from strandline.views import record_files, runs, why, windows
from strandline.views.counts import counts, of_designs
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.promises import Promises
from strandline.views.table import Alarm, Table
from strandline.words import Windows, matching, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.api.pictures import InteractiveChart
    from strandline.views.chart import Chart
    from strandline.views.columns import Columns


@dataclass(frozen=True)
class Compared:
    """The runs of one workload."""

    records: Sequence[Record]
    """One a design."""
    by_default: Mapping[str, Record]
    """By design, its run without `--window` and `--coroutines`, if they change it."""
    baseline: Record
    """What speedups are over: the first design by default, unless a window is its own."""


@dataclass(frozen=True, repr=False)
class Runs(Result):
    """The records of `strandline run`, one a design, for each workload; its first is the baseline of its speedups."""

    compared: Sequence[Compared]
    """The runs of each workload."""
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
        records, usual = (
            of_workloads(Record(each) for each in document.get(key, ())) for key in ("records", "by_default")
        )
        is_own = document.get("baseline") in document["records"]
        compared = []
        for name, its in records.items():
            by_default = {each.text("design"): each for each in usual.get(name, ())}
            over = its[0] if is_own else by_default.get(its[0].text("design"), its[0])
            compared.append(Compared(its, by_default, over))
        return cls(compared, document.get("left_out", ()), 0, engine)

    @property
    def records(self) -> Sequence[Record]:
        """The records of all workloads."""
        return [record for each in self.compared for record in each.records]

    @property
    def by_default(self) -> Mapping[str, Record]:
        """By design of the first workload, its run without `window` and `coroutines`, if they change it."""
        return self.compared[0].by_default

    @property
    def baseline(self) -> Record:
        """What speedups of the first workload are over."""
        return self.compared[0].baseline

    @property
    def incomplete(self) -> bool:
        """Whether a recording ends before its program did."""
        return runs.incomplete(self.records)

    def page(self) -> Page:
        """For each workload the comparison, the costliest fences of a recording, and the counters to show."""
        parts = [part for each in self.compared for part in (*self._compared(each), Line())]
        return Page((*parts[:-1], *self._uncounted(), *remark(self.left_out), *reused(self.reused)))

    def _compared(self, of: Compared) -> Iterator[Table | Line]:
        """The tables of a workload's runs, and what is said of them."""
        records, promises = of.records, Promises.of(self._engine.listing)
        stalls, shown = runs.stalls(records[0]), counts(records, self.counters, self._engine.listing("keys"))
        comparison = runs.comparison(records, of.baseline, promises)
        for part in (comparison, *self._why(records), *([stalls] if stalls else []), *shown):
            yield from (part, Line())
        yield Line(runs.circumstances(records, of.baseline), DIM)
        told = (
            windows.line(records, of.by_default),
            promises.remark(record.text("design") for record in records),
            *runs.ends(records, self._drift(records[0].text("workload"))),
            runs.drifting(records),
        )
        yield from (Line(line, DIM) for line in told if line)
        if runs.incomplete(records):
            yield Line(runs.INCOMPLETE, Alarm.style, folds=True)

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
        from strandline.views.run_chart import of_runs, side_by_side

        promises = Promises.of(self._engine.listing)
        charts = {
            each.records[0].text("workload"): of_runs(each.records, quantity, each.baseline, promises)
            for each in self.compared
        }
        return side_by_side(charts) if len(charts) > 1 else charts[self.baseline.text("workload")]

    def columns(self) -> Columns:
        """A row a record."""
        from strandline.views import columns

        return columns.of_records(self.records, self._engine.listing("keys"))

    def document(self) -> dict[str, Any]:
        """The records, what a window did to each design, and the designs left out."""
        changed: dict[str, Any] = {}
        for each in self.compared:
            for key, value in windows.keys(each.records, each.by_default, each.baseline).items():
                changed[key] = [*changed.get(key, ()), *value] if isinstance(value, list) else changed.get(key, value)
        return {"records": [record.fields for record in self.records], **changed, **named(self.left_out)}


def of_workloads(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by workload."""
    found = dict[str, list[Record]]()
    for record in records:
        found.setdefault(record.text("workload"), []).append(record)
    return found


@dataclass(frozen=True)
class Planned:
    """The runs of one workload, before they are made."""

    specs: Sequence[RunSpec]
    """One a design."""
    by_default: Mapping[str, RunSpec]
    """Those by default of the designs that run otherwise."""

    @property
    def every(self) -> tuple[RunSpec, ...]:
        """All of them."""
        return (*self.specs, *self.by_default.values())


def planned(
    engine: Engine, base: RunSpec, designs: Sequence[str], own: Windows = NONE
) -> tuple[list[Planned], list[str]]:
    """The runs of each workload of `base` under each design, and which designs of `all` were left out, and why.

    Designs whose tasks share a thread otherwise than by default, also by windows of their `own`, run by default, too.
    """
    names = _workloads(engine, base.workload)
    plans, left_out = list[Planned](), list[str]()
    for name in names:
        specs, missing = admitted(engine, replace(base, workload=name), designs, own)
        plans.append(Planned(specs, runs_by_default(engine, specs)))
        left_out += [f"{each} of {name}" if len(names) > 1 else each for each in missing]
    return plans, left_out


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
    session: Session,
    base: RunSpec,
    designs: Sequence[str],
    out: Path | None = None,
    own: Windows = NONE,
    shown: Sequence[str] = (),
) -> Runs:
    """Runs the workloads of `base` under each design, and writes the records to the file `out`, whole or not at all."""
    if out:
        record_files.check(out)
    keys = counters(session.engine, shown)
    plans, left_out = planned(session.engine, base, designs, own)
    made = session.records([spec for each in plans for spec in each.every])
    compared = []
    for each in plans:
        records = [made[spec] for spec in each.specs]
        by_default = {name: made[spec] for name, spec in each.by_default.items()}
        compared.append(Compared(records, by_default, baseline(records[0], by_default, own)))
    found = Runs(compared, left_out, session.reused, session.engine, keys)
    if out:
        record_files.write(out, found.records)
    return found
