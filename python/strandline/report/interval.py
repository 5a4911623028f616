"""Confidence intervals of the mean of a few measurements."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev

PER_CENT = 95

STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Student's t of 95 %, two-sided, from one degree of freedom up. The standard library has no such function."""


def interval(measured: Sequence[float]) -> tuple[float, float] | None:
    """The interval in which the mean lies by 95 %, if the measurements are independent; `None` of a single one."""
    if len(measured) < 2:
        return None
    mean, half = fmean(measured), student(len(measured) - 1) * stdev(measured) / sqrt(len(measured))
    return mean - half, mean + half


def student(freedom: int) -> float:
    """Student's t; beyond the table by the first term of its expansion around the normal distribution."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    normal = NormalDist().inv_cdf(0.5 + PER_CENT / 200)
    return normal + (normal**3 + normal) / (4 * freedom)
