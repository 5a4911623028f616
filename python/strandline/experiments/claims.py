"""What the papers report, and when a measured value agrees with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from strandline.experiments import toml_file
from strandline.experiments.schema import KeyPath, Names, Table, says
from strandline.experiments.toml_file import DocumentError, no_twice, require


class Kind(Enum):
    """How a claim is held against a measurement."""

    VALUE = "value"
    RANGE = "range"
    INPUT = "input"
    ORDER = "order"
    EXACT = "exact"


Number = int | float


class Claim(Table, frozen=True, kw_only=True):
    """One thing that a paper reports."""

    id: Annotated[str, says("names the claim; claims whose paper has figures need a measure of that name")]
    paper: Annotated[str, says("the paper, and the folder of its figures")]
    kind: Annotated[
        Kind,
        says(
            "`value`: within `tolerance` of `value`, all where several are measured, or of each of `values`; `range`: "
            "smallest and largest within `tolerance` of `low` and `high`; `exact`: equal; `order`: `text` says which "
            "comparison must hold; `input`: the paper gives it as a property of its programs, shown and not judged"
        ),
    ]
    text: Annotated[
        str, says("what the paper says. Means over workloads are geometric; `speedup A/B` is cycles(B) / cycles(A)")
    ]
    value: Annotated[Number | None, says("the paper's one number")] = None
    values: Annotated[
        dict[str, Number | dict[str, Number]] | None, says("its numbers by place, or by place and metric")
    ] = None
    low: Annotated[Number | None, says("its smallest")] = None
    high: Annotated[Number | None, says("its largest")] = None
    tolerance: Annotated[float, Meta(ge=0, description="how far a number may be off, relative to the paper's")] = 0.0
    excess: Annotated[bool, says("the tolerance is of (value - 1), for ratios close to 1")] = False
    designs: Annotated[Names, says("what a measurement runs; while one is missing the claim is not measurable")]
    workloads: Annotated[tuple[str, ...], says("likewise")]
    note: Annotated[str, says("what must be known to read the verdict")] = ""

    @property
    def paper_value(self) -> Any:
        """A number, `{"low", "high"}`, a table of numbers, or `None` where the text says it all."""
        if self.low is not None:
            return {"low": self.low, "high": self.high}
        return self.values if self.value is None else self.value


class ClaimsFile(Table, frozen=True, kw_only=True):
    """What the papers report."""

    claim: Annotated[tuple[Claim, ...], says("one `[[claim]]` each")]


@dataclass(frozen=True)
class Measured:
    """What was measured for a claim, in the shape of the paper's value."""

    value: Any
    holds: bool | None = None
    """Decided here for a comparison, else by the claim's tolerance."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """Shown beside it and not judged, as another mean."""


def load(path: Path) -> dict[str, Claim]:
    """Reads `claims.toml`."""
    file = toml_file.read(path)
    loaded = file.convert(ClaimsFile).claim
    try:
        no_twice(("claim",), [claim.id for claim in loaded])
        for number, claim in enumerate(loaded):
            _check(claim, ("claim", number))
    except DocumentError as error:
        raise file.error(error) from error
    return {claim.id: claim for claim in loaded}


NUMBERS = ("value", "values", "low", "high")
GIVEN: Mapping[Kind, tuple[tuple[str, ...], ...]] = {
    Kind.VALUE: (("value",), ("values",)),
    Kind.RANGE: (("low", "high"),),
    Kind.INPUT: (("value",), ("values",), ("low", "high"), ()),
    Kind.ORDER: ((),),
    Kind.EXACT: (("value",), ("values",)),
}
"""Which of its numbers a claim of each kind gives."""


def _check(claim: Claim, at: KeyPath) -> None:
    given = tuple(name for name in NUMBERS if getattr(claim, name) is not None)
    choices = GIVEN[claim.kind]
    named = " or ".join(" and ".join(names) or "no number" for names in choices)
    require(
        given in choices, (*at, "kind"), f"claim {claim.id} of kind {claim.kind.value} needs {named}: give just that"
    )


def holds(claim: Claim, measured: Measured) -> bool | None:
    """Whether the measurement agrees with the paper; `None` where nothing is judged."""
    if claim.kind is Kind.INPUT:
        return None
    if claim.kind is Kind.ORDER:
        return measured.holds
    return all(_agrees(claim, mine, paper) for mine, paper in _pairs(measured.value, claim.paper_value))


def _pairs(measured: Any, paper: Any) -> list[tuple[Any, Any]]:
    """What is to agree: each value that the paper gives, or each that is measured where it gives one for all."""
    if isinstance(paper, dict):
        return [(measured[key], value) for key, value in paper.items()]
    return [(value, paper) for value in measured.values()] if isinstance(measured, dict) else [(measured, paper)]


def _agrees(claim: Claim, measured: Any, paper: Any) -> bool:
    return bool(measured == paper) if claim.kind is Kind.EXACT else _near(claim, measured, paper)


def _near(claim: Claim, measured: float, paper: float) -> bool:
    scale = abs(paper - 1) if claim.excess else abs(paper)
    return abs(measured - paper) <= claim.tolerance * scale
