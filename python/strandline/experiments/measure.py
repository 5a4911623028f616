"""How a claim is measured: which figure it reads, and what it makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strandline.experiments.claims import Measured
from strandline.experiments.figure import FigureData
from strandline.experiments.spec import Labels


@dataclass(frozen=True)
class Measure:
    """Reads a part of one figure."""

    figure: str
    take: Callable[[FigureData], Measured]
    keep: Callable[[Labels], bool] = lambda _labels: True
    """The places of the figure that the claim is about; only these are run where nothing else needs the figure."""
