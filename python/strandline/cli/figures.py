"""Running figures: what `figure` and `claims` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.cli import progress
from strandline.cli.admitted import demand_memory
from strandline.cli.app import App
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.figures.figure import FigureData, Options, gather, plan
from strandline.figures.spec import FigureSpec, Labels
from strandline.journal import Journal
from strandline.report import files
from strandline.sweep import pace_of, run_all, unique

Keep = Callable[[Labels], bool]


@dataclass(frozen=True)
class Target:
    """The folder of a figure, and what it may contain."""

    folder: Path
    force: bool
    """Replace any figure in the folder."""
    fresh: bool
    """Use none of the runs that an interrupted call kept."""

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


def tasks_of(engine: Engine, spec: FigureSpec, options: Options) -> int:
    """The number of tasks of all runs of a figure."""
    runs = unique(trial.spec for each in plan(spec, options) for trial in each.trials)
    return sum(engine.origin(run)["spec"]["tasks"] or 0 for run in runs)


def run_figures(
    app: App,
    specs: Sequence[FigureSpec],
    options: Options,
    jobs: int,
    keep: Mapping[str, Keep] | None = None,
    journal: Journal | None = None,
) -> dict[str, FigureData]:
    """The figures' data by id, or only the points to `keep`.

    A run that several figures share is made once. A run in the journal is not made again.
    """
    plans = {spec.id: plan(spec, options) for spec in specs}
    if keep is not None:
        plans = {name: [each for each in planned if keep[name](each.labels)] for name, planned in plans.items()}
    runs = [trial.spec for planned in plans.values() for each in planned for trial in each.trials]
    engine = app.engine
    pace = pace_of(engine, runs, jobs)
    demand_memory(map(engine.memory, pace.lengths), jobs)
    with progress.runs(pace):
        records = run_all(engine, pace, journal)
    return {spec.id: gather(spec, plans[spec.id], records) for spec in specs}
