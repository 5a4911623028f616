"""The scales of axes: powers of ten, and where that of bars is cut because few of them dwarf the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

from strandline.views.chart import Chart, Panel

DWARFS = 2.5
"""How many times as high as the next a bar is that would make the others unreadable."""
FEW, LEAST = 0.15, 4
"""The share of the bars that may be cut, and the number of bars from which on one may."""
ABOVE = 1.3
"""The cut axis, over the highest bar that is drawn whole: room for its value."""


def cut(chart: Chart, panels: Iterable[Panel]) -> float | None:
    """Where the axis of some panels ends, if not at the highest bar."""
    if chart.log_y or chart.stacked:
        return None
    found = list(panels)
    heights = sorted((value for panel in found for series in panel.series for value in series.values), reverse=True)
    few = max(int(FEW * len(heights)), len(heights) >= LEAST)
    for count in range(few, 0, -1):
        next_ = heights[count]
        if next_ > 0 and heights[count - 1] > DWARFS * next_:
            return max([ABOVE * next_, *(1.1 * value for value in _of_paper(found))])
    return None


def _of_paper(panels: Iterable[Panel]) -> list[float]:
    """The paper's values, none of which is cut off."""
    found: list[float] = []
    for panel in panels:
        found += [value for spread in panel.spreads for value in spread.values]
        for series in panel.series:
            found += [*series.bounds, *(value for value in series.paper if value is not None)]
    return found


def powers(chart: Chart, panel: Panel) -> list[float]:
    """The powers of ten from below all values of a logarithmic y axis to above them; bars begin at the first."""
    found = [value for each in chart.scaled_with(panel) for series in each.series for value in series.values]
    positive = [value for value in found if value > 0] or [1.0]
    return _powers(floor(log10(min(positive))), ceil(log10(max(positive))))


def ratios(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two: as many as fit, and always 1."""
    for steps in ((1, 1.2, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        every = [step * 10.0**power for power in range(-6, 7) for step in steps]
        found = [step for step in every if low <= step <= high]
        if len(found) <= most:
            return found
    return [1.0]


def costs(panel: Panel) -> list[float]:
    """The powers of ten on the x axis of a scatter plot, which is logarithmic from the least on, with a place for 0."""
    found: Sequence[float] = [series.values[0] for series in panel.series if series.values[0] > 0] or [1.0]
    least = floor(log10(min(found)))
    return _powers(least, floor(log10(max(found))) + 1)


def _powers(first: int, last: int) -> list[float]:
    return [10.0**power for power in range(first, last + 1)]
