"""Running figures: what `figure` and `claims` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from strandline.cli import output
from strandline.cli.admitted import demand_memory
from strandline.cli.app import App
from strandline.experiments.figure import FigureData, Options, gather, plan
from strandline.experiments.spec import FigureSpec, Labels
from strandline.sweep import run_all, unique

Keep = Callable[[Labels], bool]


def run_figures(
    app: App, specs: Sequence[FigureSpec], options: Options, jobs: int, keep: Mapping[str, Keep] | None = None
) -> dict[str, FigureData]:
    """The figures' data by id, or that of the places to `keep`. A run that several of them hold is made once."""
    plans = {spec.id: plan(spec, options) for spec in specs}
    if keep is not None:
        plans = {name: [each for each in planned if keep[name](each.labels)] for name, planned in plans.items()}
    runs = [trial.spec for planned in plans.values() for each in planned for trial in each.trials]
    engine, once = app.engine, unique(runs)
    demand_memory(map(engine.memory, once), jobs)
    with output.progress("running", len(once), engine.under_way) as done:
        records = run_all(engine, once, jobs, done)
    return {spec.id: gather(spec, plans[spec.id], records) for spec in specs}
