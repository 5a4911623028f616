"""Boxes on a drawn picture, in inches: where words may stand without meeting anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, hypot

from matplotlib.axes import Axes

POINTS = 72
"""Points of an inch."""
STEP = 0.02
"""Inches between the boxes that a line is taken for."""


@dataclass(frozen=True)
class Box:
    """A rectangle in inches."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> float:
        """The area that both have."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.high, other.high) - max(self.low, other.low)
        return wide * high if wide > 0 and high > 0 else 0.0

    def within(self, other: Box) -> bool:
        """Whether it is wholly in another."""
        inside = other.left <= self.left and self.right <= other.right
        return inside and other.low <= self.low and self.high <= other.high

    def grown(self, by: float) -> Box:
        """The box, larger on all sides."""
        return Box(self.left - by, self.low - by, self.right + by, self.high + by)

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.low + self.high) / 2


def around(x: float, y: float, wide: float, high: float) -> Box:
    """The box of a size about a place."""
    return Box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)


def along(begin: tuple[float, float], end: tuple[float, float], thick: float = STEP) -> Iterator[Box]:
    """Boxes along a line."""
    steps = ceil(hypot(end[0] - begin[0], end[1] - begin[1]) / STEP) or 1
    for step in range(steps + 1):
        share = step / steps
        yield around(begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share, thick, thick)


def place_of(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Where a value is on the picture, in inches."""
    dpi = axes.figure.get_dpi()
    across, up = axes.transData.transform((x, y))
    return float(across) / dpi, float(up) / dpi


def frame_of(axes: Axes) -> Box:
    """What is between the axes."""
    dpi = axes.figure.get_dpi()
    window = axes.get_window_extent()
    return Box(*(each / dpi for each in window.extents))


def free(boxes: Sequence[Box], taken: Sequence[Box], frame: Box) -> Box | None:
    """The first box that is in the frame and meets none that is taken."""
    fits = (box for box in boxes if box.within(frame) and not any(box.meets(other) for other in taken))
    return next(fits, None)
