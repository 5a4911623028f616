"""What the papers report, and when a measured value agrees with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from strandline.experiments.document import Section, read


class Kind(Enum):
    """How a claim is held against a measurement."""

    VALUE = "value"
    """Within the tolerance of one value, or each of several."""
    RANGE = "range"
    """Smallest and largest, each within the tolerance."""
    INPUT = "input"
    """Shown beside the measurement, not judged."""
    ORDER = "order"
    """A comparison that the measurement itself decides."""
    EXACT = "exact"
    """Equal."""


@dataclass(frozen=True)
class Claim:
    """One thing that a paper reports."""

    id: str
    paper: str
    kind: Kind
    text: str
    paper_value: Any
    """A number, `{"low", "high"}`, a table of numbers, or `None` where the text says it all."""
    tolerance: float
    """Relative."""
    excess: bool
    """Whether the tolerance is of (value - 1), for ratios close to 1."""
    designs: tuple[str, ...]
    workloads: tuple[str, ...]
    """What a measurement runs."""


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
    top = read(path).only(("claim",))
    loaded = [_claim(section) for section in top.sections("claim")]
    return {claim.id: claim for claim in loaded}


def _claim(section: Section) -> Claim:
    section.only((*_KEYS, "note"))
    kind = section.take("kind", str)
    if kind not in [each.value for each in Kind]:
        known = ", ".join(each.value for each in Kind)
        raise section.error("kind", f"unknown kind `{kind}`: use one of {known}")
    return Claim(
        id=section.take("id", str),
        paper=section.take("paper", str),
        kind=Kind(kind),
        text=section.take("text", str),
        paper_value=_paper_value(section.keys),
        tolerance=section.take("tolerance", float, 0.0),
        excess=section.take("excess", bool, False),
        designs=tuple(section.take("designs", list)),
        workloads=tuple(section.take("workloads", list)),
    )


_KEYS = (
    *("id", "paper", "kind", "text", "tolerance", "excess", "designs", "workloads"),
    *("value", "values", "low", "high"),
)


def _paper_value(keys: Mapping[str, Any]) -> Any:
    if "low" in keys:
        return {"low": keys["low"], "high": keys["high"]}
    return keys.get("value", keys.get("values"))


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
