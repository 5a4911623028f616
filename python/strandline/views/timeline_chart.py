"""What a picture of timelines shows: bars over time in rows, a panel a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class What(Enum):
    """What a bar is; the value is its name in the legend."""

    RUNS = "executes"
    LIBRARY = "coroutine library"
    STALL = "stalls at a fence"
    FLUSH = "clwb until it is durable"
    WAITS = "waits in a buffer"
    SENT = "sent, not yet durable"


@dataclass(frozen=True)
class Bar:
    """Something that lasted, in cycles."""

    begin: int
    end: int
    what: What
    epoch: int | None = None
    """The epoch of a write, which has a colour and a number."""


@dataclass(frozen=True)
class Row:
    """Lines of bars, one below the other; in a line nothing overlaps."""

    label: str
    lines: Sequence[Sequence[Bar]]


@dataclass(frozen=True)
class Panel:
    """One run."""

    title: str
    axis: str
    """Panels of one axis have the same cycles."""
    rows: Sequence[Row]
    end: int


@dataclass(frozen=True)
class TimelineChart:
    """A picture of several runs, one below the other."""

    title: str
    source: str
    panels: Sequence[Panel]
    remarks: Sequence[str] = ()
