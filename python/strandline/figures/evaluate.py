"""Compares claims with measurements, with one run for each need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from math import inf, log
from typing import Any

from strandline.engine import Engine
from strandline.figures import asap, chance, cosplay, dpo, sp, strandweaver
from strandline.figures.claims import Claim, Measure, holds
from strandline.figures.figure import FigureData
from strandline.figures.inputs import MEAN
from strandline.figures.spec import FigureSpec, Labels
from strandline.records import Record

MEASURES: Mapping[str, Measure] = {
    **cosplay.MEASURES,
    **strandweaver.MEASURES,
    **dpo.MEASURES,
    **asap.MEASURES,
    **sp.MEASURES,
}
"""The measures by claim. Each paper has a module of its name."""


NEAR = 2**0.5
"""The factor within which an input is the paper's: steps of a factor of two are no finer."""


class State(Enum):
    """What is said of a claim."""

    MET = "met"
    INPUT_OFF = "met, input off"
    NOT_MET = "not met"
    PAPERS_OWN = "the paper's own"
    NOT_MEASURABLE = "not measurable"
    UNDECIDED = "undecided"
    SHOWN = "input"


@dataclass(frozen=True)
class Outcome:
    """A claim and its outcome."""

    claim: Claim
    measured: Any
    holds: bool | None
    reason: str | None
    """Why nothing was measured."""
    records: tuple[Record, ...]
    beside: Mapping[str, float] = field(default_factory=dict)
    """Values that are shown and not judged."""
    error: Any = None
    """Half the width of the 95 % interval of each measured number, in the measurement's shape; `None` of others."""
    undecided: bool = False
    """Whether chance may have decided the verdict: the interval crosses its bound."""
    inputs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By workload, how many times the paper's number ours is, of each published quantity of its inputs."""

    @property
    def off(self) -> tuple[str, str, float] | None:
        """The input that is furthest from the paper's: workload, quantity, and how many times the paper's ours is."""
        every = [(name, key, each) for name, found in self.inputs.items() for key, each in found.items()]
        return max(every, key=lambda each: abs(log(each[2])) if each[2] > 0 else inf, default=None)

    @property
    def state(self) -> State:
        """What is said of the claim."""
        if self.undecided:
            return State.UNDECIDED
        if self.holds is None:
            return State.SHOWN if self.reason is None else State.NOT_MEASURABLE
        if self.holds:
            near = self.off is None or 1 / NEAR <= self.off[2] <= NEAR
            return State.MET if near else State.INPUT_OFF
        return State.PAPERS_OWN if self.claim.artifact else State.NOT_MET

    def keys(self) -> dict[str, Any]:
        """The outcome as JSON shows it."""
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "text": self.claim.text,
            "kind": self.claim.kind.value,
            "paper_value": self.claim.paper_value,
            "measured": self.measured,
            "beside": self.beside,
            "holds": self.holds,
            "error": self.error,
            "undecided": self.undecided,
            "state": self.state.value,
            "inputs": self.inputs,
            "reason": self.reason,
            "mechanism": self.claim.mechanism,
            "records": [record.fields for record in self.records],
        }


@dataclass(frozen=True)
class Examined:
    """A claim, and why it cannot be measured, if so."""

    claim: Claim
    obstacle: str | None


def examine(engine: Engine, claims: Iterable[Claim]) -> list[Examined]:
    """Selects the claims that the available designs and workloads can measure."""
    known = {kind: engine.names(kind) for kind in ("designs", "workloads")}
    return [Examined(claim, _obstacle(claim, known)) for claim in claims]


def _obstacle(claim: Claim, known: Mapping[str, Sequence[str]]) -> str | None:
    wanted = {"designs": claim.designs, "workloads": claim.workloads}
    missing = {kind: [name for name in names if name not in known[kind]] for kind, names in wanted.items()}
    needs = [_count(kind, names) for kind, names in missing.items() if names]
    if not needs and claim.id not in MEASURES:
        needs = ["a measurement"]
    return f"not measurable yet: needs {' and '.join(needs)}" if needs else None


def _count(kind: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{kind[:-1] if len(names) == 1 else kind} {shown}{more}"


def needed_figures(claims: Iterable[Examined]) -> dict[str, Callable[[Labels], bool]]:
    """The ids of the figures that the measurable claims read, each once, and the points that one of them reads."""
    keeps: dict[str, list[Callable[[Labels], bool]]] = {}
    for each in claims:
        if each.obstacle is None:
            measure = MEASURES[each.claim.id]
            keeps.setdefault(measure.figure, []).append(measure.keep)
    return {figure: partial(_any, those) for figure, those in keeps.items()}


def _any(keeps: Sequence[Callable[[Labels], bool]], labels: Labels) -> bool:
    return any(keep(labels) for keep in keeps)


def evaluate(claims: Iterable[Examined], figures: Mapping[str, FigureData]) -> list[Outcome]:
    """The outcome of each claim, given its figures."""
    return [
        measured(each.claim, figures[MEASURES[each.claim.id].figure])
        if each.obstacle is None
        else Outcome(each.claim, None, None, each.obstacle, ())
        for each in claims
    ]


def measured(claim: Claim, figure: FigureData) -> Outcome:
    """The outcome of a measurable claim, given its figure."""
    measure = MEASURES[claim.id]
    data = figure.where(measure.keep)
    result = measure.take(data)
    verdict = holds(claim, result)
    drawn = [measure.take(each) for each in chance.draws(data)]
    others = sum(holds(claim, each) is not verdict for each in drawn)
    return Outcome(
        claim,
        result.value,
        verdict,
        None,
        tuple(data.records),
        result.beside,
        chance.half_widths(result.value, [each.value for each in drawn]),
        others > chance.SURE * len(drawn),
        inputs_of(claim, figure.spec),
    )


def inputs_of(claim: Claim, figure: FigureSpec) -> Mapping[str, Mapping[str, float]]:
    """What is known of how far the claim's programs are from the paper's, given its figure."""
    return {name: figure.off[name] for name in (*claim.workloads, MEAN) if name in figure.off}
