"""Invented data: of a figure, from cycles per task, and of a recording's crash states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from strandline.engine import CrashStates, RunSpec, StatesPlan, StateVisit
from strandline.figures.claims import Measured, holds
from strandline.figures.evaluate import MEASURES
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import FigureData, Options, gather, plan
from strandline.figures.spec import FigureSpec
from strandline.records import Record

Fields = Callable[[RunSpec], Mapping[str, Any]]


def benchmark(spec: RunSpec) -> str:
    """`cq` with its number of queues."""
    queues = [each.split("=")[1] for each in spec.set if each.startswith("workload.queues=")]
    return spec.workload + "".join(queues)


def data(figure: FigureSpec, fields: Fields, seeds: int = 1) -> FigureData:
    """The figure over records of `fields`."""
    planned = plan(figure, Options(seeds=seeds))
    specs = [trial.spec for each in planned for trial in each.trials]
    named = {spec: {"workload": spec.workload, "design": spec.design, "tasks": 1} for spec in specs}
    return gather(figure, planned, {spec: Record({**named[spec], **fields(spec)}) for spec in specs})


def measured(claim: str, fields: Fields) -> Measured:
    """The claim's measurement from records of `fields`."""
    measure = MEASURES[claim]
    figure = repository_experiments().figure(measure.figure)
    return measure.take(data(figure, fields).where(measure.keep))


def judged(claim: str, fields: Fields) -> bool | None:
    """The claim's verdict on records of `fields`."""
    return holds(repository_experiments().claims()[claim], measured(claim, fields))


def broken(claim: str, fields: Fields) -> list[str]:
    """The statements of the claim that do not hold on records of `fields`; the claim holds exactly if all do."""
    result = measured(claim, fields)
    parts = {statement: part["holds"] for statement, part in result.value.items()}
    assert result.holds is all(parts.values())
    return [statement for statement, is_so in parts.items() if not is_so]


def states_plan(**known: Any) -> StatesPlan:
    """The plan of a recording's crash states; what is not given is `None`, which no test may show."""
    return StatesPlan(**{**dict.fromkeys((field.name for field in fields(StatesPlan)), None), **known})


def visit(name: str, folder: Path, text: str, within: str = "", tasks_done: Sequence[int] = (1,)) -> StateVisit:
    """A crash state with this content of its one file, whose name has a space."""
    pool = folder / name.replace("/", "_") / "my pool"
    pool.parent.mkdir(parents=True)
    pool.write_text(text)
    return StateVisit(name, 0, files=[str(pool)], has_stores=1, tasks_done=tasks_done, within=within)


def states_of(contents: Iterable[str], done: Callable[[int], Sequence[int]] = lambda _: (1,)) -> CrashStates:
    """Crash states with these contents; the first two are `initial` and `final`. `done` has each one's ended tasks."""
    left = list(enumerate(contents))

    def write(folder: Path) -> dict[str, Any] | None:
        if not left:
            return None
        index, text = left.pop(0)
        name = ("initial", "final")[index] if index < 2 else f"{index}:all"
        return vars(visit(name, folder, text, tasks_done=done(index)))

    return CrashStates(states_plan(), write)
