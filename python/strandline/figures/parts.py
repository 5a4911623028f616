"""Claims of several comparisons: each is judged separately, and all must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strandline.figures.claims import Measured


@dataclass(frozen=True)
class Part:
    """One comparison and its values."""

    statement: str
    holds: bool
    compared: Mapping[str, Any]


def together(*parts: Part) -> Measured:
    """The measurement of each part: for each statement `holds`, next to the compared numbers."""
    return Measured(
        {part.statement: {"holds": part.holds, **part.compared} for part in parts},
        holds=all(part.holds for part in parts),
    )
