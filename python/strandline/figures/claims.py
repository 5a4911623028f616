"""The papers' claims, how one is measured, and when a measurement agrees with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Annotated, Any

from msgspec import Meta

from strandline.figures import toml_file
from strandline.figures.figure import FigureData
from strandline.figures.schema import KeyPath, Names, Table, says
from strandline.figures.spec import Labels
from strandline.figures.toml_file import no_twice, require


class Kind(Enum):
    """How a claim is compared with a measurement."""

    VALUE = "value"
    RANGE = "range"
    INPUT = "input"
    ORDER = "order"
    EXACT = "exact"


Number = int | float


class Claim(Table, frozen=True, kw_only=True):
    """One claim of a paper."""

    id: Annotated[str, says("name of the claim; if its paper has figures, a measure has this name")]
    paper: Annotated[str, says("the paper, and the folder of its figures")]
    kind: Annotated[
        Kind,
        says(
            "`value`: each measurement is within `tolerance` of `value`, or of its entry in `values`; `range`: the "
            "smallest and largest are within `tolerance` of `low` and `high`; `exact`: equal; `order`: the comparison "
            "in `text` holds; `input`: a property of the paper's programs, shown and not judged"
        ),
    ]
    text: Annotated[
        str, says("what the paper says. Means over workloads are geometric; `speedup A/B` is cycles(B) / cycles(A)")
    ]
    value: Annotated[Number | None, says("the paper's one number")] = None
    values: Annotated[
        dict[str, Number | dict[str, Number]] | None, says("the paper's numbers by label, or by label and metric")
    ] = None
    low: Annotated[Number | None, says("the paper's smallest number")] = None
    high: Annotated[Number | None, says("the paper's largest number")] = None
    tolerance: Annotated[float, Meta(ge=0, description="allowed relative difference to the paper's number")] = 0.0
    excess: Annotated[bool, says("relate the tolerance to (value - 1), for ratios close to 1")] = False
    designs: Annotated[Names, says("designs that the measurement runs; without one the claim is not measurable")]
    workloads: Annotated[tuple[str, ...], says("workloads that the measurement runs; likewise")]
    mechanism: Annotated[
        str, says("why ours differs, or what makes it hold, in one line; `DEVIATIONS.md` has the measurements")
    ] = ""

    artifact: Annotated[
        str, says("the figure that shows the paper's own number, where its public code differs from its text")
    ] = ""

    @property
    def paper_value(self) -> Any:
        """A number, `{"low", "high"}`, a table of numbers, or `None` if the claim is its text."""
        if self.low is not None:
            return {"low": self.low, "high": self.high}
        return self.values if self.value is None else self.value


class ClaimsFile(Table, frozen=True, kw_only=True):
    """What the papers report."""

    claim: Annotated[tuple[Claim, ...], says("one `[[claim]]` each")]


@dataclass(frozen=True)
class Measured:
    """The measurement of a claim, in the shape of the paper's value."""

    value: Any
    holds: bool | None = None
    """Whether a comparison holds; `None` if the claim's tolerance decides."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """Values that are shown and not judged, such as another mean."""


def average(found: Collection[float]) -> Measured:
    """The geometric mean, which papers call an average; the arithmetic one stands beside it."""
    return Measured(geometric_mean(found), beside={"arithmetic mean": fmean(found)})


@dataclass(frozen=True)
class Measure:
    """How a claim is measured: by a part of one figure."""

    figure: str
    take: Callable[[FigureData], Measured]
    keep: Callable[[Labels], bool] = lambda _labels: True
    """The points that the claim needs; only these run if nothing else needs the figure."""


def only(**kept: str | Sequence[str]) -> Callable[[Labels], bool]:
    """The points that have one of these labels on each of these axes."""
    wanted = {axis: (labels,) if isinstance(labels, str) else labels for axis, labels in kept.items()}
    return lambda found: all(found[axis] in labels for axis, labels in wanted.items())


@dataclass(frozen=True)
class Part:
    """One of several comparisons, and its values."""

    statement: str
    holds: bool
    compared: Mapping[str, Any]


def together(*parts: Part) -> Measured:
    """The measurement of a claim of several comparisons, all of which must hold: each with the compared numbers."""
    found = {part.statement: {"holds": part.holds, **part.compared} for part in parts}
    return Measured(found, holds=all(part.holds for part in parts))


def load(path: Path) -> dict[str, Claim]:
    """Reads `claims.toml`."""
    file = toml_file.read(path)
    loaded = file.convert(ClaimsFile).claim
    with file.checked():
        no_twice(("claim",), [claim.id for claim in loaded])
        for number, claim in enumerate(loaded):
            _check(claim, ("claim", number))
    return {claim.id: claim for claim in loaded}


NUMBERS = ("value", "values", "low", "high")
GIVEN: Mapping[Kind, tuple[tuple[str, ...], ...]] = {
    Kind.VALUE: (("value",), ("values",)),
    Kind.RANGE: (("low", "high"),),
    Kind.INPUT: (("value",), ("values",), ("low", "high"), ()),
    Kind.ORDER: ((),),
    Kind.EXACT: (("value",), ("values",)),
}
"""The numbers that each kind of claim may give."""


def _check(claim: Claim, at: KeyPath) -> None:
    given = tuple(name for name in NUMBERS if getattr(claim, name) is not None)
    choices = GIVEN[claim.kind]
    named = " or ".join(" and ".join(names) or "no number" for names in choices)
    require(
        given in choices, (*at, "kind"), f"claim {claim.id} of kind {claim.kind.value} needs {named}: give just that"
    )


def holds(claim: Claim, measured: Measured) -> bool | None:
    """Whether the measurement agrees with the paper; `None` for an input."""
    if claim.kind is Kind.INPUT:
        return None
    if claim.kind is Kind.ORDER:
        return measured.holds
    return all(_agrees(claim, mine, paper) for mine, paper in _pairs(measured.value, claim.paper_value))


def _pairs(measured: Any, paper: Any) -> list[tuple[Any, Any]]:
    """The pairs to compare: each value of the paper, or each measurement with the paper's one value."""
    if isinstance(paper, dict):
        return [(measured[key], value) for key, value in paper.items()]
    return [(value, paper) for value in measured.values()] if isinstance(measured, dict) else [(measured, paper)]


def _agrees(claim: Claim, measured: Any, paper: Any) -> bool:
    return bool(measured == paper) if claim.kind is Kind.EXACT else _near(claim, measured, paper)


def _near(claim: Claim, measured: float, paper: float) -> bool:
    scale = abs(paper - 1) if claim.excess else abs(paper)
    return abs(measured - paper) <= claim.tolerance * scale
