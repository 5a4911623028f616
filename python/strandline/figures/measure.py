"""How a claim is measured: its figure, and the evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strandline.figures.claims import Measured
from strandline.figures.figure import FigureData
from strandline.figures.spec import Labels


@dataclass(frozen=True)
class Measure:
    """Reads a part of one figure."""

    figure: str
    take: Callable[[FigureData], Measured]
    keep: Callable[[Labels], bool] = lambda _labels: True
    """The points that the claim needs; only these run if nothing else needs the figure."""
