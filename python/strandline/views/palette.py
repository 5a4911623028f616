"""The colours of charts, and which colour, marker and dashes a series has: in pictures and on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

from strandline.views.chart import Chart, Panel, Series

#: Okabe and Ito's palette, its yellow left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#888888")
INK = "#333333"
"""Of words on colours that are light on a dark page, too; of all words and axes in a picture."""

#: ColorBrewer's scales, from light to dark and from red to blue.
BLUES = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
RED_BLUE = (
    *("#67001f", "#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7"),
    *("#d1e5f0", "#92c5de", "#4393c3", "#2166ac", "#053061"),
)
STEPS = 256
"""The colours of a scale."""
LIGHT, DARK = 0.35, 1.0
"""The part of `BLUES` that is visible on white."""
FAR, PALE = 3.0, 0.6
"""The power of two from which on all ratios are alike, and the part of `RED_BLUE` on which ink can be read."""

SHAPES, DASHES = 7, 4
"""The numbers of markers and of dash patterns, of which the first is a whole line."""
DOTTED = 2
"""The dash pattern of what nobody can build."""


def on_scale(scale: Sequence[str], share: float) -> str:
    """The colour at a share of a scale."""
    step = min(int(share * STEPS), STEPS - 1)
    place = step / (STEPS - 1) * (len(scale) - 1)
    below = min(int(place), len(scale) - 2)
    ends = [[int(colour[digit : digit + 2], 16) for digit in (1, 3, 5)] for colour in scale[below : below + 2]]
    return "#" + "".join(f"{round(low + (high - low) * (place - below)):02x}" for low, high in zip(*ends, strict=True))


def of_ratio(value: float, panel: Panel) -> str:
    """The colour of a ratio: red where it is worse than 1, blue where it is better; 0 is as far below 1 as any."""
    power = max(-FAR, min(FAR, log2(value))) if value > 0 else -FAR
    better = -power if panel.less_is_better else power
    return on_scale(RED_BLUE, 0.5 + PALE * better / FAR / 2)


@dataclass(frozen=True)
class Palette:
    """What the series of a chart look like, equal in all panels. Shapes and dashes are numbers."""

    chart: Chart

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colour of each label: one of a palette, or a step from light to dark."""
        labels = self.chart.labels
        if not self.chart.ordered:
            return {label: COLOURS[index % len(COLOURS)] for index, label in enumerate(labels)}
        return {label: on_scale(BLUES, step) for label, step in self.steps.items()}

    @property
    def steps(self) -> dict[str, float]:
        """The place of each label between light and dark."""
        labels = self.chart.labels
        return {label: LIGHT + (DARK - LIGHT) * index / max(len(labels) - 1, 1) for index, label in enumerate(labels)}

    @cached_property
    def shapes(self) -> dict[str, int]:
        """The marker of each label; labels of one colour have different ones."""
        return {label: (index + index // len(COLOURS)) % SHAPES for index, label in enumerate(self.chart.labels)}

    def dash(self, series: Series) -> int:
        """The dash pattern of a series' line."""
        if series.bound:
            return DOTTED
        return 0 if series.dash is None else self.chart.dashes.index(series.dash) % DASHES
