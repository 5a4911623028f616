"""Running figures: what `figure` and `claims` share."""

from __future__ import annotations

from collections.abc import Sequence

from strandline.cli import output
from strandline.cli.app import App
from strandline.experiments.figure import FigureData, Options, gather, plan
from strandline.experiments.spec import FigureSpec
from strandline.sweep import run_all, unique


def run_figures(app: App, specs: Sequence[FigureSpec], options: Options, jobs: int) -> dict[str, FigureData]:
    """The figures' data by id. A run that several of them hold is made once."""
    plans = {spec.id: plan(spec, options) for spec in specs}
    runs = [planned.spec for planned_runs in plans.values() for planned in planned_runs]
    with output.progress("running", len(unique(runs))) as done:
        records = run_all(app.engine, runs, jobs, done)
    return {spec.id: gather(spec, plans[spec.id], records) for spec in specs}
