"""Crash tests of a workload under several designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import NONE, admitted, named, remark
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.engine import CrashFailure, CrashResult, CrashSpec, Engine, RunSpec
from strandline.pool import until_interrupted
from strandline.records import Record
from strandline.room import available, demand_room
from strandline.views import columns, crashes
from strandline.views.columns import Columns
from strandline.views.page import Line, Page
from strandline.views.promises import Promises
from strandline.words import Windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from strandline.api.pictures import InteractiveChart
    from strandline.views.chart import Chart


@dataclass(frozen=True, repr=False)
class Crashes(Result):
    """The verdict on each design."""

    results: Sequence[CrashResult]
    left_out: Sequence[str]
    """Designs of `all` that cannot run here, and why."""
    _promises: Promises
    unfinished: Sequence[str] | None = None
    """If the test was interrupted, the designs whose verdicts are not final, or missing."""

    @classmethod
    def of(cls, document: Mapping[str, Any], engine: Engine) -> Crashes:
        """The verdicts of a `document`."""
        pairs = zip(document["results"], document["records"], strict=True)
        results = [_result(summary, document["failures"], Record(record)) for summary, record in pairs]
        return cls(results, document.get("left_out", ()), Promises.of(engine.listing), document.get("unfinished"))

    @property
    def interrupted(self) -> str | None:
        """What an interrupted test has found, in words."""
        return None if self.unfinished is None else crashes.interrupted(self.unfinished, bool(self.results))

    @property
    def fails(self) -> bool:
        """Whether a crash state fails."""
        return any(result.failures for result in self.results)

    @property
    def recovers(self) -> bool:
        """Whether no crash state fails, and more than luck has it so: recovery is promised."""
        return not self.fails and all(self._promises.made(result.record) for result in self.results)

    def page(self) -> Page:
        """The smallest failing case of each design, and at last a row a design."""
        failing = [result for result in self.results if result.failures]
        cases = [line for result in failing for line in (*map(Line, crashes.explain(result)), Line())]
        verdicts = crashes.verdicts(self.results, self._promises, self.unfinished or ())
        return Page((*cases, *remark(self.left_out), verdicts))

    def plot(self, *, width: str = "text", title: bool = True) -> Figure:
        """How many crash states of each design were judged, and the verdict, as matplotlib's figure."""
        from strandline.api.pictures import picture

        return picture(self._chart(), width, title)

    def chart(self) -> InteractiveChart:
        """The same for a notebook to draw, which needs no extra."""
        from strandline.api.pictures import InteractiveChart

        return InteractiveChart(self._chart())

    def _chart(self) -> Chart:
        # Few results become pictures.
        from strandline.views.run_chart import of_crashes

        return of_crashes(self.results, self._promises)

    def columns(self) -> Columns:
        """A row a design."""
        return columns.of_rows([self._summary(result) for result in self.results])

    def document(self) -> dict[str, Any]:
        """The failing cases, verdicts and records."""
        failures = [
            {"workload": result.workload, "design": result.design, **asdict(failure)}
            for result in self.results
            for failure in result.failures
        ]
        return {
            "interrupted": self.unfinished is not None,
            **({} if self.unfinished is None else {"unfinished": list(self.unfinished)}),
            "failures": failures,
            "results": [self._summary(result) for result in self.results],
            "records": [result.record.fields for result in self.results],
            **named(self.left_out),
        }

    def _summary(self, result: CrashResult) -> dict[str, Any]:
        verdict = {"promised": self._promises.made(result.record), "recovers": crashes.recovers(result, self._promises)}
        return {**{key: getattr(result, key) for key in KEYS}, **verdict}


KEYS = ("workload", "design", "points", "durable_events", "runs", "complete")
"""What a document tells of a verdict."""


def _result(summary: Mapping[str, Any], failures: Sequence[Mapping[str, Any]], record: Record) -> CrashResult:
    names = [field.name for field in fields(CrashFailure)]
    its = [each for each in failures if each["design"] == summary["design"]]
    found = [CrashFailure(**{name: each[name] for name in names}) for each in its]
    return CrashResult(**{key: summary[key] for key in KEYS}, failures=found, record=record)


def crash(
    session: Session,
    base: RunSpec,
    designs: Sequence[str],
    points: int | str = 1000,
    replay: str | None = None,
    max_failures: int | None = None,
    windows: Windows = NONE,
    fails: str | None = None,
) -> Crashes:
    """Cuts the power in `base` under each design, or lets a host fail, recovers, and judges."""
    engine = session.engine
    runs, left_out = admitted(engine, base, designs, windows)
    specs = [CrashSpec(run, points, replay, fails, max_failures) for run in runs]
    demand_room(map(engine.crash_memory, specs), session.jobs, available())
    stop = engine.stop()
    with session.display.progress("crashing", len(specs)) as done:
        work = partial(engine.crash, stop=stop)
        results, cut = until_interrupted(work, specs, session.jobs, done, stop.set)
    right = {result.design for result in results if crashes.right(result)}
    unfinished = None if cut is None else [spec.run.design for spec in cut if spec.run.design not in right]
    return Crashes(results, left_out, Promises.of(engine.listing), unfinished)
