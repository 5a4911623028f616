"""Papers' figures and tables, and figures of the user's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from strandline import outside
from strandline.api.pictures import InteractiveChart, picture
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError, from_file
from strandline.figures import drawing, litmus_figure, looks, own_inputs, publish, timeline_figure, verdicts
from strandline.figures.evaluate import MEASURES, Outcome, measured
from strandline.figures.figure import (
    FigureData,
    Options,
    Planned,
    gather,
    narrowed,
    plan,
    runs_of,
    short_searches,
    widened,
)
from strandline.figures.own_inputs import Changed
from strandline.figures.paper_values import Claims
from strandline.figures.spec import FigureSpec, Labels, LitmusFigure, TimelineFigure
from strandline.figures.timeline_figure import Shown
from strandline.figures.values import with_means
from strandline.litmus_tests import LitmusTest
from strandline.room import available, demand_room
from strandline.views import columns, files
from strandline.views import litmus as litmus_report
from strandline.views.chart import Chart
from strandline.views.columns import Columns
from strandline.views.page import BOLD, DIM, Line, Page
from strandline.views.plot_size import Style
from strandline.views.timeline.names import PAGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Keep = Callable[[Labels], bool]


@dataclass(frozen=True)
class Target:
    """The folder of a figure, and what it may contain."""

    folder: Path
    force: bool = False
    """Replace any figure in the folder."""
    style: Style = field(default_factory=Style)
    """How its picture is drawn."""

    def check(self, figure: str, tasks: int) -> None:
        """An `InputError` if the folder holds another figure, or a run of this one with more tasks."""
        if self.force or not self.folder.exists():
            return
        there = files.contents(self.folder)
        if there.figure not in (None, figure):
            raise InputError(f"--out {self.folder}: holds figure {there.figure}: choose another folder or give --force")
        if there.tasks > tasks:
            raise InputError(
                f"--out {self.folder}: holds a longer run of {figure}, of {there.tasks:,} tasks where this one has "
                f"{tasks:,}: choose another folder or give --force"
            )


@dataclass(frozen=True, repr=False)
class Figure(Result):
    """A figure of timed runs: its values, its table, and the claims that it decides."""

    others: ClassVar[tuple[str, ...]] = (files.CHART,)
    """Files that only its kind has."""
    data: FigureData
    outcomes: Sequence[Outcome]
    reused: int
    """Runs that came from the store."""
    remarks: Sequence[str]
    """How its runs were asked for, below table and picture."""
    inputs: Sequence[Changed]
    """What its runs are given otherwise than their workloads have it."""
    _claims: Claims
    pictureless: str | None = None
    """Why its folder has no picture, if it was to have one."""

    def page(self) -> Page:
        """Title, table, claims, and what is changed."""
        shown = self._chart()
        head = (Line(shown.title, BOLD), Line(f"{shown.source}. {drawing.caption(shown)}", DIM), Line())
        claims = (Line(), verdicts.outcomes(self.outcomes)) if self.outcomes else ()
        told = (Line(each, DIM, folds=True) for each in self._told())
        return Page((*head, drawing.table(shown), *claims, Line(), *told, *reused(self.reused)))

    def columns(self) -> Columns:
        """A row a value: the metric, the label on each axis, the value."""
        return columns.of_rows(self._values())

    def document(self) -> dict[str, Any]:
        """The values, claims and records."""
        return {
            "figure": self.data.spec.id,
            "values": self._values(),
            "claims": [{**outcome.keys(), "records": []} for outcome in self.outcomes],
            "inputs": [row for each in self.inputs for row in each.rows()],
            "records": [record.fields for record in self.data.records],
        }

    def _told(self) -> list[str]:
        """What stands below the table."""
        bounds = looks.of_bounds(self._chart())
        return [*bounds, *self.remarks, *own_inputs.words(self.inputs)]

    def _values(self) -> list[dict[str, Any]]:
        searched = self.data.spec.search.key if self.data.spec.search else None
        return [value.keys(searched) for value in with_means(self.data)]

    def written(self, folder: Path, engine: Engine, style: Style) -> Figure:
        """Writes records, table and plot; the figure with what became of its picture."""
        shown, keys = self._chart(), engine.listing("keys")
        table = drawing.table(shown)
        left_out = publish.write(self.data, shown, table, self.outcomes, self._told(), folder, keys, style)
        return replace(self, pictureless=left_out)

    def plot(self, *, width: str = "text", title: bool = True) -> Picture:
        """Its picture, as matplotlib's figure."""
        return picture(self._chart(), width, title)

    def chart(self) -> InteractiveChart:
        """Its picture for a notebook to draw, which needs no extra."""
        return InteractiveChart(self._chart())

    def _chart(self) -> Chart:
        brief = own_inputs.brief(self.inputs)
        return drawing.chart(self.data, self._claims, (*self.remarks, *([brief] if brief else [])))


@dataclass(frozen=True, repr=False)
class FigureOfLitmusTests(Result):
    """A figure of litmus tests: the states that models allow and designs reach."""

    others: ClassVar[tuple[str, ...]] = ()
    """Files that only its kind has."""
    figure: LitmusFigure
    tests: Sequence[LitmusTest]
    pictureless: str | None = None

    @property
    def failures(self) -> Sequence[litmus_report.Failure]:
        """Where a design or a model differs from expectations."""
        return litmus_report.failures(self.tests)

    def page(self) -> Page:
        """The states of each test, and the overview."""
        figure = self.figure
        caption = f"{figure.source}. {litmus_figure.caption(figure)}"
        parts: list[Any] = [Line(figure.title, BOLD), Line(caption, DIM)]
        for test in self.tests:
            parts += [Line(), Line(f"{test.name}: {test.title}", BOLD), Line(test.condition, DIM)]
            parts.append(litmus_report.states(test, figure.litmus.designs))
        parts += [Line(), litmus_figure.overview(figure, self.tests)]
        for failure in self.failures:
            parts += [Line(), *map(Line, failure.lines())]
        tally = litmus_report.tally(litmus_report.totals(self.tests), with_designs=True)
        return Page((*parts, Line(), Line(tally, DIM, folds=True)))

    def plot(self, *, width: str = "text", title: bool = True) -> Picture:
        """Its picture, as matplotlib's figure."""
        return picture(litmus_figure.grid(self.figure, self.tests), width, title)

    def columns(self) -> Columns:
        """A row a state of a test."""
        return columns.of_records(litmus_figure.records(self.figure, self.tests))

    def document(self) -> dict[str, Any]:
        """The tests, failures and records."""
        return {
            "figure": self.figure.id,
            "models": list(self.figure.litmus.models),
            "designs": list(self.figure.litmus.designs),
            "timings": self.figure.litmus.timings,
            "failures": [failure.keys() for failure in self.failures],
            "totals": litmus_report.totals(self.tests),
            "tests": [{**test.fields, "source": test.source.name} for test in self.tests],
            "records": [record.fields for record in litmus_figure.records(self.figure, self.tests)],
        }


@dataclass(frozen=True, repr=False)
class FigureOfTimelines(Result):
    """A figure of timelines: what its runs did, cycle by cycle."""

    others: ClassVar[tuple[str, ...]] = (PAGE,)
    """Files that only its kind has."""
    figure: TimelineFigure
    shown: Sequence[Shown]
    inputs: Sequence[Changed]
    """As those of a figure of timed runs."""
    pictureless: str | None = None

    def page(self) -> Page:
        """A row a run, and what is changed."""
        head = (Line(self.figure.title, BOLD), Line(self.figure.source, DIM), Line())
        told = (Line(each, DIM, folds=True) for each in own_inputs.words(self.inputs))
        return Page((*head, timeline_figure.table(self.shown), Line(), *told))

    def plot(self, *, width: str = "text", title: bool = True) -> Picture:
        """Its picture, as matplotlib's figure."""
        return picture(timeline_figure.chart(self.figure, self.shown), width, title)

    def columns(self) -> Columns:
        """A row a run."""
        return columns.of_records(timeline_figure.records(self.figure, self.shown))

    def document(self) -> dict[str, Any]:
        """The runs and their records."""
        return {
            "figure": self.figure.id,
            "rows": self.figure.timeline.rows,
            "runs": [run.label for run in self.figure.timeline.runs],
            "inputs": [row for each in self.inputs for row in each.rows()],
            "records": [record.fields for record in timeline_figure.records(self.figure, self.shown)],
        }


AnyFigure = Figure | FigureOfLitmusTests | FigureOfTimelines


def figure(session: Session, figure_id: str, options: Options, target: Target | None = None) -> AnyFigure:
    """Runs a figure, and writes its files to the folder of `target`, whole or not at all."""
    spec = session.experiments.any_figure(figure_id)
    if target is not None:
        _own(target.folder)
    options.check(figure_id, isinstance(spec, FigureSpec))
    if isinstance(spec, LitmusFigure):
        if options.tasks is not None:
            raise InputError(f"--tasks: {figure_id} is a figure of litmus tests, which have no tasks: leave it out")
        return _of_litmus_tests(session, spec, options, target)
    if isinstance(spec, TimelineFigure):
        with from_file(figure_id) if figure_id.endswith(".toml") else nullcontext():
            return _of_timelines(session, spec, options, target)
    with from_file(figure_id) if figure_id.endswith(".toml") else nullcontext():
        planned = _tasks(session.engine, runs_of(spec, options))
    with _written(target, spec.id, planned) as staging:
        data = replace(figures(session, [spec], options)[spec.id], intervals=options.intervals)
        told = (looks.shortened(session.engine, spec, options), looks.precise(options))
        remarks = [remark for remark in told if remark]
        inputs = own_inputs.changed(session.engine, own_inputs.runs_at_full_length(spec, options))
        claims = session.experiments.claims()
        found = Figure(data, _outcomes(session, data), session.reused, remarks, inputs, claims)
        if target and staging:
            found = found.written(staging, session.engine, target.style)
    return found


def _own(folder: Path) -> None:
    if not (real := outside.resolved(folder)).name or real == Path.cwd():
        raise InputError(f"--out {folder}: a figure needs a folder of its own: name one in there")


@contextmanager
def _written(target: Target | None, figure_id: str, tasks: int) -> Iterator[Path | None]:
    """The folder to write to, if there is a target."""
    if target is None:
        yield None
        return
    with files.replacing(target.folder) as staging:
        target.check(figure_id, tasks)
        yield staging


def _of_litmus_tests(
    session: Session, spec: LitmusFigure, options: Options, target: Target | None
) -> FigureOfLitmusTests:
    with _written(target, spec.id, tasks=0) as staging:
        with session.display.progress("judging", len(spec.litmus.tests)) as done:
            tests = litmus_figure.run(session.engine, spec, options.seed, session.jobs, done)
        left_out = publish.write_litmus(spec, tests, staging, target.style) if target and staging else None
    return FigureOfLitmusTests(spec, tests, left_out)


def _of_timelines(session: Session, spec: TimelineFigure, options: Options, target: Target | None) -> FigureOfTimelines:
    engine, runs = session.engine, timeline_figure.specs(spec, options)
    at_full_length = timeline_figure.specs(spec, replace(options, tasks=None))
    labels = [run.label for run in spec.timeline.runs]
    inputs = own_inputs.changed(engine, zip(labels, at_full_length, strict=True))
    with _written(target, spec.id, _tasks(engine, runs)) as staging:
        demand_room(map(engine.memory, runs), session.jobs, available())
        with session.display.progress("running", len(runs)) as done:
            shown = timeline_figure.run(engine, spec, options, session.jobs, done)
        left_out = publish.write_timelines(spec, shown, inputs, staging, target.style) if target and staging else None
    return FigureOfTimelines(spec, shown, inputs, left_out)


def _tasks(engine: Engine, runs: Sequence[RunSpec]) -> int:
    """The tasks of the longest of these runs, of all seeds together."""
    longest = Counter[int]()
    for run in runs:
        longest[run.seed] = max(longest[run.seed], engine.origin(run)["spec"]["tasks"] or 0)
    return longest.total()


def _outcomes(session: Session, data: FigureData) -> list[Outcome]:
    claims = session.experiments.claims()
    # A user's figure may show other points than those that decide a claim.
    own = [claim for claim in data.spec.claims if claim in MEASURES and MEASURES[claim].figure == data.spec.id]
    return [measured(claims[claim], data) for claim in own]


def figures(
    session: Session, specs: Sequence[FigureSpec], options: Options, keep: Mapping[str, Keep] | None = None
) -> dict[str, FigureData]:
    """The figures' data by id, or only the points to `keep`. A run that several figures share is made once."""
    plans = _plans(specs, options, keep)
    short = {spec.id: short_searches(spec, plans[spec.id], session.engine) for spec in specs}
    # Other runs go first too: searches are short, and few workers would be busy until the last has ended.
    others = [each for planned in plans.values() for each in planned if len(each.trials) == 1]
    records = dict(session.records(_runs([*chain(*short.values()), *others])))
    narrow = {spec.id: narrowed(spec, plans[spec.id], short[spec.id], records) for spec in specs}
    while left := [run for run in _runs(chain(*narrow.values())) if run not in records]:
        records.update(session.records(left))
        narrow = {spec.id: widened(spec, plans[spec.id], narrow[spec.id], records) for spec in specs}
    return {spec.id: gather(spec, narrow[spec.id], records) for spec in specs}


def expected(
    engine: Engine, specs: Sequence[FigureSpec], options: Options, keep: Mapping[str, Keep] | None = None
) -> list[RunSpec]:
    """The runs that `figures` makes, as far as known before one is made: of a search, three of its full runs count."""
    plans = _plans(specs, options, keep)
    short = chain(*(short_searches(spec, plans[spec.id], engine) for spec in specs))
    full = chain(*plans.values())
    return _runs([*short, *(replace(each, trials=each.trials[:FULL_OF_SEARCH]) for each in full)])


FULL_OF_SEARCH = 3
"""The best value, and its neighbours."""


def _plans(specs: Sequence[FigureSpec], options: Options, keep: Mapping[str, Keep] | None) -> dict[str, list[Planned]]:
    """What each figure shows, or only the points to keep."""
    plans = {spec.id: plan(spec, options) for spec in specs}
    if keep is None:
        return plans
    return {name: [each for each in planned if keep[name](each.labels)] for name, planned in plans.items()}


def runs_before(session: Session, figure_ids: Sequence[str], options: Options) -> list[RunSpec]:
    """The expected runs of figures; litmus tests are none."""
    every = [session.experiments.any_figure(each) for each in figure_ids]
    timelines = [timeline_figure.specs(spec, options) for spec in every if isinstance(spec, TimelineFigure)]
    return [*expected(session.engine, [e for e in every if isinstance(e, FigureSpec)], options), *chain(*timelines)]


def _runs(planned: Iterable[Planned]) -> list[RunSpec]:
    return [trial.spec for each in planned for trial in each.trials]
