"""Figures of litmus tests: states that models allow and designs reach. `docs/figures.md` explains the file."""

from __future__ import annotations

from collections.abc import Sequence

from strandline.engine import Engine
from strandline.errors import InputError
from strandline.figures.spec import LitmusFigure
from strandline.litmus_tests import LitmusSpec, LitmusTest, Source
from strandline.pool import Done, parallel
from strandline.records import Record
from strandline.views import litmus as report
from strandline.views.state_grid import StateGrid, grid_panel
from strandline.views.table import Table


def run(engine: Engine, figure: LitmusFigure, seed: int, jobs: int, done: Done) -> list[LitmusTest]:
    """The results of models and designs for each test, with the figure's models and those of its designs."""
    specs = [
        LitmusSpec(Source(name), designs=figure.litmus.designs, timings=figure.litmus.timings, seed=seed)
        for name in figure.litmus.tests
    ]
    answers = parallel(engine.litmus, specs, jobs, done)
    return [_kept(figure, name, answer) for name, answer in zip(figure.litmus.tests, answers, strict=True)]


def _kept(figure: LitmusFigure, name: str, test: LitmusTest | None) -> LitmusTest:
    missing = [model for model in figure.litmus.models if test is None or test.model(model) is None]
    if test is None or missing:
        raise InputError(f"{figure.id}: test {name} does not belong to model {missing[0]}: leave one of them out")
    without = [design for design in figure.litmus.designs if test.design(design) is None]
    if without:
        raise InputError(f"{figure.id}: test {name} is not for design {without[0]}: leave one of them out")
    judges = [design.model for design in test.designs]
    return test.judged_by(dict.fromkeys((*figure.litmus.models, *judges)))


def grid(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> StateGrid:
    """What the plot shows."""
    panels = tuple(grid_panel(test, figure.litmus.models, figure.litmus.designs) for test in tests)
    return StateGrid(figure.title, f"After {figure.source}", panels)


def records(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> list[Record]:
    """A flat record for each state of each test: `allowed_MODEL`, null if undefined, and `shown_DESIGN`."""
    return [Record({"figure": figure.id, **row}) for test in tests for row in report.rows(test)]


def caption(figure: LitmusFigure) -> str:
    """What the tables show."""
    models, designs = " and ".join(figure.litmus.models), " and ".join(figure.litmus.designs)
    return (
        f"What {models} allows, and what {designs} showed in {figure.litmus.timings:,} runs of each test with "
        "different latencies; a design is judged by its own model"
    )


def overview(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> Table:
    """One row per test: allowed of candidate states for each model, reached of allowed ones for each design."""
    models = dict.fromkeys(model.model for test in tests for model in test.models)
    return report.overview(tests, list(models), figure.litmus.designs)


def markdown(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> str:
    """The figure as a document: the overview, then each test with its program and its states."""
    head = f"# {figure.title}\n\n{figure.source}. {caption(figure)}.\n\n{overview(figure, tests).markdown()}"
    return head + "".join(_section(figure, test) for test in tests)


def _section(figure: LitmusFigure, test: LitmusTest) -> str:
    table = report.states(test, figure.litmus.designs).markdown()
    return f"\n## {test.name}: {test.title}\n\n```\n{test.text.rstrip()}\n```\n\n{table}"
