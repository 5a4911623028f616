"""Figures of litmus tests: which states models allow, and which designs showed. `CONTRIBUTING.md` explains the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.engine import Engine
from strandline.errors import InputError
from strandline.experiments.document import Section
from strandline.litmus import LitmusSpec, LitmusTest, Source
from strandline.record import Record
from strandline.report import litmus as report
from strandline.report.state_grid import StateGrid, grid_panel
from strandline.report.table import Table
from strandline.sweep import Done, parallel


@dataclass(frozen=True)
class LitmusFigure:
    """A paper's figure of litmus tests as data."""

    id: str
    paper: str
    title: str
    source: str
    tests: tuple[str, ...]
    """Names of built-in tests."""
    models: tuple[str, ...]
    """The models whose states are shown. What designs show is judged by the designs' own models."""
    designs: tuple[str, ...]
    timings: int
    """Runs of a design on each test, each on another machine with other latencies."""


def read(top: Section, path: Path) -> LitmusFigure:
    """Reads a figure's file that has a table `[litmus]`."""
    top.only(("title", "source", "litmus"))
    section = top.section("litmus").only(("tests", "models", "designs", "timings"))
    timings = section.take("timings", int)
    if timings < 1:
        raise section.error("timings", f"expected a whole number from 1 up, found `{timings}`")
    return LitmusFigure(
        id=f"{path.parent.name}-{path.stem}",
        paper=path.parent.name,
        title=top.take("title", str),
        source=top.take("source", str),
        tests=_names(section, "tests"),
        models=_names(section, "models"),
        designs=_names(section, "designs"),
        timings=timings,
    )


def _names(section: Section, key: str) -> tuple[str, ...]:
    names = section.take(key, list)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise section.error(key, "needs at least one name in quotes, none twice")
    return tuple(names)


def run(engine: Engine, figure: LitmusFigure, seed: int, jobs: int, done: Done) -> list[LitmusTest]:
    """What models and designs say of each test, with the figure's models and those that its designs are judged by."""
    specs = [
        LitmusSpec(Source(name), designs=figure.designs, timings=figure.timings, seed=seed) for name in figure.tests
    ]
    answers = parallel(engine.litmus, specs, jobs, done)
    return [_kept(figure, name, answer) for name, answer in zip(figure.tests, answers, strict=True)]


def _kept(figure: LitmusFigure, name: str, test: LitmusTest | None) -> LitmusTest:
    missing = [model for model in figure.models if test is None or test.model(model) is None]
    if test is None or missing:
        raise InputError(f"{figure.id}: test {name} does not belong to model {missing[0]}: leave one of them out")
    without = [design for design in figure.designs if test.design(design) is None]
    if without:
        raise InputError(f"{figure.id}: test {name} is not for design {without[0]}: leave one of them out")
    judges = [design.model for design in test.designs]
    return test.judged_by(dict.fromkeys((*figure.models, *judges)))


def grid(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> StateGrid:
    """What the plot shows."""
    panels = tuple(grid_panel(test, figure.models, figure.designs) for test in tests)
    return StateGrid(figure.title, f"After {figure.source}", panels)


def records(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> list[Record]:
    """A flat record for each state of each test: `allowed_MODEL`, null where it is undefined, and `shown_DESIGN`."""
    return [
        Record(
            {
                "figure": figure.id,
                "test": test.name,
                "state": test.state_text(state),
                **{
                    f"allowed_{model.model}": None if model.undefined else model.states.get(state, False)
                    for model in test.models
                },
                **{f"shown_{design.design}": state in design.shown for design in test.designs},
            }
        )
        for test in tests
        for state in test.states
    ]


def caption(figure: LitmusFigure) -> str:
    """What the tables show."""
    models, designs = " and ".join(figure.models), " and ".join(figure.designs)
    return (
        f"What {models} allows, and what {designs} showed in {figure.timings:,} runs of each test with different "
        "latencies; a design is judged by its own model"
    )


def overview(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> Table:
    """One row a test: allowed of thinkable states for each model, shown of allowed ones for each design."""
    models = dict.fromkeys(model.model for test in tests for model in test.models)
    return report.overview(tests, list(models), figure.designs)


def markdown(figure: LitmusFigure, tests: Sequence[LitmusTest]) -> str:
    """The figure as a document: the overview, then each test with its program and its states."""
    head = f"# {figure.title}\n\n{figure.source}. {caption(figure)}.\n\n{overview(figure, tests).markdown()}"
    return head + "".join(_section(figure, test) for test in tests)


def _section(figure: LitmusFigure, test: LitmusTest) -> str:
    table = report.states(test, figure.designs).markdown()
    return f"\n## {test.name}: {test.title}\n\n```\n{test.text.rstrip()}\n```\n\n{table}"
