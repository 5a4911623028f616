"""Claims of several comparisons: each is judged by itself, and all must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strandline.experiments.claims import Measured


@dataclass(frozen=True)
class Part:
    """One comparison and what it compared."""

    statement: str
    holds: bool
    compared: Mapping[str, Any]


def together(*parts: Part) -> Measured:
    """What was measured part by part: for each statement `holds` beside the numbers compared."""
    return Measured(
        {part.statement: {"holds": part.holds, **part.compared} for part in parts},
        holds=all(part.holds for part in parts),
    )
