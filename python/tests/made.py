"""Invented data: of a figure, from cycles per task, and of a recording's crash states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from strandline.engine import RunSpec, StatesPlan
from strandline.figures.claims import Measured
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


def states_plan(**known: Any) -> StatesPlan:
    """The plan of a recording's crash states; what is not given is `None`, which no test may show."""
    return StatesPlan(**{**dict.fromkeys((field.name for field in fields(StatesPlan)), None), **known})
