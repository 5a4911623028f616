"""What a plot shows, before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How a figure is drawn."""

    LINES = "lines"
    BARS = "bars"


@dataclass(frozen=True)
class Series:
    """One line, or one colour of bars: a value at each place of the x axis, and the paper's where it gives one."""

    label: str
    values: tuple[float, ...]
    paper: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """A plot with its titles; `places` are the labels along the x axis."""

    kind: Kind
    title: str
    source: str
    x_title: str
    y_title: str
    places: tuple[str, ...]
    series: tuple[Series, ...]
