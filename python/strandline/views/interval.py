"""The mean of a few measurements, and how far it may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean, stdev

PER_CENT = 95
"""The confidence of an interval."""

#: Student's t for 95 %, two-sided, from 1 degree of freedom on; any statistics table has them. By hand, because the
#: standard library has no t distribution, and scipy is larger than strandline.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def student(freedom: int) -> float:
    """Student's t for 95 %, two-sided."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    # The first terms of its expansion around the normal distribution (Cornish and Fisher): off by less than 0.001 here.
    z = NormalDist().inv_cdf(0.5 + PER_CENT / 200)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


@dataclass(frozen=True)
class Interval:
    """A mean, and half the width of its interval of 95 % confidence; `None` of a single measurement."""

    mean: float
    half: float | None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends; `None` of a single measurement."""
        return None if self.half is None else (self.mean - self.half, self.mean + self.half)

    @property
    def low(self) -> float | None:
        """The lower end."""
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """The upper end."""
        return None if self.half is None else self.mean + self.half


def interval(values: Sequence[float]) -> Interval:
    """The interval of measurements whose errors are normal and independent, as those of seeds nearly are."""
    if len(values) < 2:
        return Interval(values[0], None)
    return Interval(fmean(values), student(len(values) - 1) * stdev(values) / sqrt(len(values)))
