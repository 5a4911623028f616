"""Fitting lines."""

from __future__ import annotations

from collections.abc import Sequence


def r_squared(points: Sequence[tuple[float, float]]) -> float:
    """The share of the variance of y that the least-squares line over x explains; 1 if y is constant."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    xx = sum((x - mean_x) ** 2 for x, _ in points)
    yy = sum((y - mean_y) ** 2 for _, y in points)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return 1.0 if yy == 0 else xy * xy / (xx * yy)
