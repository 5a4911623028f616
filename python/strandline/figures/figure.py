"""From a figure's specification to its runs, and from their records to its cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from strandline.engine import Engine, RunSpec, load
from strandline.errors import InputError
from strandline.figures.spec import RUN_KEYS, AnyFigure, FigureSpec, Labels, LitmusFigure, Point
from strandline.records import Asked, Record, asked, quantity
from strandline.words import word

USUAL_PRECISION = 0.01
"""Half the interval of a run's cycles per task, as a share of them: a speedup is then known to 1.4 %."""

SEARCH_SHARE = 8
"""A search looks for its best value in runs of one in so many of the tasks."""
SEARCH_TASKS = 250
"""The least tasks of such a run, unless its figure has fewer."""


@dataclass(frozen=True)
class Options:
    """The command line's options for a figure's runs."""

    seed: int = 1
    tasks: int | None = None
    """Replaces the figure's or the workload's own number."""
    seeds: int = 1
    """Number of seeds from `seed` up; the figure shows means over them."""
    intervals: bool = False
    """Whether values have the intervals of their runs."""
    precision: float | None = None
    """Ends runs early, as the key of a run does, but for those whose figure has a precision of its own; 0: none ends
    early. Usually `USUAL_PRECISION`."""

    def fitting(self, figure: AnyFigure) -> Options:
        """Those that a figure has, of the options of several."""
        if isinstance(figure, FigureSpec):
            return self
        tasks = None if isinstance(figure, LitmusFigure) else self.tasks
        return replace(self, tasks=tasks, intervals=False, precision=None)

    def check(self, figure: str, has_runs: bool) -> None:
        """An `InputError` if intervals are wanted where there are none, or others."""
        for option, given in (("--intervals", self.intervals), ("--precision", self.precision is not None)):
            if given and not has_runs:
                raise InputError(f"{option}: {figure} shows no values of runs: leave it out")
        if self.intervals and self.seeds > 1:
            raise InputError(f"--intervals: {self.seeds} seeds have an interval of their own: leave it out, or --seeds")


@dataclass(frozen=True)
class Trial:
    """One run, and its value of the searched key; `None` without a search."""

    value: Any
    spec: RunSpec


@dataclass(frozen=True)
class Planned:
    """A point on the axes and its runs: one, or one for each value of a search that is considered."""

    labels: Labels
    seed: int
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Cell:
    """The result at a point on the axes."""

    labels: Labels
    record: Record
    """The run that counts: the only one, or the one with the best value of the searched key."""
    best: Any
    """That value; `None` without a search."""
    strict: Any
    """The value with the least quantity of those that were run in full, which may be little better."""
    made: Mapping[RunSpec, Record]
    """All full runs of the place."""


@dataclass(frozen=True)
class FigureData:
    """A figure's cells in the order of its axes."""

    spec: FigureSpec
    cells: tuple[Cell, ...]
    others: tuple[FigureData, ...] = ()
    """The same figure with further seeds."""
    intervals: bool = False
    """Whether its values have the intervals of their runs."""

    @property
    def seeds(self) -> tuple[FigureData, ...]:
        """The figure with each seed."""
        return (self, *self.others)

    @property
    def records(self) -> list[Record]:
        """The record of every full run, also of unsuccessful search values, filed under this figure; none twice."""
        made = {spec: record for each in self.seeds for cell in each.cells for spec, record in cell.made.items()}
        return [record.as_part_of(self.spec.id) for record in made.values()]

    def where(self, keep: Callable[[Labels], bool]) -> FigureData:
        """The part of the figure at the points that `keep` accepts."""
        cells = tuple(cell for cell in self.cells if keep(cell.labels))
        return replace(self, cells=cells, others=tuple(other.where(keep) for other in self.others))


def place(labels: Labels) -> tuple[tuple[str, str], ...]:
    """Labels as a key."""
    return tuple(sorted(labels.items()))


def plan(spec: FigureSpec, options: Options) -> list[Planned]:
    """The figure's runs: for each seed the product of its axes, the last varying fastest."""
    keys = [axis.key for axis in spec.axes]
    planned = []
    for seed in range(options.seed, options.seed + options.seeds):
        one = replace(options, seed=seed)
        for points in product(*(axis.points for axis in spec.axes)):
            labels = dict(zip(keys, (point.label for point in points), strict=True))
            planned.append(Planned(labels, seed, _trials(spec, labels, points, one)))
    return planned


def runs_of(spec: FigureSpec, options: Options) -> list[RunSpec]:
    """The figure's runs, none twice. Of a search, only those near its best value are made in full."""
    return list(dict.fromkeys(trial.spec for each in plan(spec, options) for trial in each.trials))


def short_searches(spec: FigureSpec, planned: Sequence[Planned], engine: Engine) -> list[Planned]:
    """The searches of a plan, in short runs."""
    return [
        replace(each, trials=tuple(replace(trial, spec=_short(engine, trial.spec)) for trial in each.trials))
        for each in planned
        if len(each.trials) > 1 and spec.finder(each.labels) == each.labels
    ]


def narrowed(
    spec: FigureSpec, planned: Sequence[Planned], short: Sequence[Planned], records: Mapping[RunSpec, Record]
) -> list[Planned]:
    """The plan with few values for each search: the best one of its short runs, and the neighbours of that."""
    best = {_where(each): _best(spec, each, records).value for each in short}
    return [_cut(each, best[where]) if (where := _searched(spec, each)) in best else each for each in planned]


def widened(
    spec: FigureSpec, planned: Sequence[Planned], narrow: Sequence[Planned], records: Mapping[RunSpec, Record]
) -> list[Planned]:
    """A narrowed plan, and if the best value of a search is an end of those that ran, the neighbour of that."""
    ran = {_where(each): [trial.value for trial in each.trials] for each in narrow}
    best = {_where(each): _best(spec, each, records).value for each in narrow if _searched(spec, each) == _where(each)}
    return [
        _cut(each, best[where], ran[where]) if (where := _searched(spec, each)) in best else each for each in planned
    ]


_Where = tuple[int, tuple[tuple[str, str], ...]]
"""A seed and a place."""


def _where(planned: Planned) -> _Where:
    return planned.seed, place(planned.labels)


def _searched(spec: FigureSpec, planned: Planned) -> _Where | None:
    """Where the value of a plan's place is searched, if it is."""
    finder = spec.finder(planned.labels)
    return None if finder is None else (planned.seed, place(finder))


def _cut(planned: Planned, best: Any, kept: Sequence[Any] = ()) -> Planned:
    """The trials of the best value, of its neighbours, and of those to keep."""
    values = [trial.value for trial in planned.trials]
    at = values.index(best)
    wanted = [at - 1, at + 1, *map(values.index, kept)]
    return replace(planned, trials=planned.trials[max(min(wanted), 0) : max(wanted) + 1])


def _short(engine: Engine, run: RunSpec) -> RunSpec:
    """A run as a search makes it."""
    tasks = run.tasks or int(engine.origin(run)["spec"]["tasks"])
    return replace(run, tasks=min(tasks, max(tasks // SEARCH_SHARE, SEARCH_TASKS)))


def _trials(spec: FigureSpec, labels: Labels, points: tuple[Point, ...], options: Options) -> tuple[Trial, ...]:
    settings = dict(spec.fixed)
    for point in points:
        settings.update(point.settings)
    settings = {**spec.given.get(str(settings.get("workload")), {}), **settings}
    for point in points:
        settings = {key: value for key, value in settings.items() if key not in point.without}
    wanted = asked(metric.quantity for metric in spec.metrics)
    if spec.search is None or spec.finder(labels) is None:
        return (Trial(None, run_of(settings, options, wanted)),)
    key = spec.search.key
    return tuple(Trial(value, run_of({**settings, key: value}, options, wanted)) for value in spec.search.values)


def run_of(settings: Mapping[str, Any], options: Options, wanted: Asked | None = None) -> RunSpec:
    """The run of these settings."""
    keys, overrides = divided(settings)
    if "workload" not in keys or "design" not in keys:
        raise InputError("a figure's runs need a workload and a design: name both in [fixed] or an axis")
    if options.tasks is not None:
        keys["tasks"] = options.tasks
    keys["precision"] = keys.get("precision", _precision(str(keys["workload"]), options)) or None
    wanted = wanted or Asked()
    return RunSpec(**keys, set=overrides, seed=options.seed, recovers=wanted.recovers, why=wanted.why)


def _precision(workload: str, options: Options) -> float | None:
    """The precision of a run whose figure has none. A recording has all of its instructions."""
    if options.precision is None and load().is_recording(workload):
        return None
    return USUAL_PRECISION if options.precision is None else options.precision


def divided(settings: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings that are keys of a run, and the others as overrides `key=value`."""
    keys = {key: value for key, value in settings.items() if key in RUN_KEYS}
    return keys, tuple(f"{key}={word(value)}" for key, value in settings.items() if key not in RUN_KEYS)


def gather(spec: FigureSpec, planned: list[Planned], records: Mapping[RunSpec, Record]) -> FigureData:
    """The figure's data from the records of all runs, by seed."""
    seeds = dict.fromkeys(each.seed for each in planned)
    first, *others = (_gather(spec, [each for each in planned if each.seed == seed], records) for seed in seeds)
    return replace(first, others=tuple(others))


def _gather(spec: FigureSpec, planned: list[Planned], records: Mapping[RunSpec, Record]) -> FigureData:
    found = {place(each.labels): _best(spec, each, records) for each in planned}
    return FigureData(spec, tuple(_cell(spec, each, found, records) for each in planned))


@dataclass(frozen=True)
class _Best:
    """The searched value that counts, and the first one with the least quantity."""

    value: Any
    strict: Any


def _best(spec: FigureSpec, planned: Planned, records: Mapping[RunSpec, Record]) -> _Best:
    """On a flat curve, the first value that is nearly as good as any counts: what is best by less is chance."""
    if spec.search is None or len(planned.trials) == 1:
        return _Best(planned.trials[0].value, planned.trials[0].value)
    found = {trial.value: quantity(records[trial.spec], spec.search.least) for trial in planned.trials}
    bound = min(found.values()) * (1 + spec.search.within)
    return _Best(next(value for value, each in found.items() if each <= bound), min(found, key=found.__getitem__))


def _cell(spec: FigureSpec, planned: Planned, found: Mapping[Any, _Best], records: Mapping[RunSpec, Record]) -> Cell:
    finder = spec.finder(planned.labels)
    best = _Best(None, None) if finder is None else found[place(finder)]
    chosen = next(trial.spec for trial in planned.trials if trial.value == best.value)
    made = {trial.spec: records[trial.spec] for trial in planned.trials}
    return Cell(planned.labels, records[chosen], best.value, best.strict, made)
