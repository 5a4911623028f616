"""The colours of charts, and which colour, marker and dashes a series has: in pictures and on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log2
from re import compile as pattern

from strandline.views.chart import Chart, Panel, Series

#: Okabe and Ito's palette, its yellow left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#888888")
BLACK, WHITE = "#000000", "#ffffff"
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
"""The power of two from which on all ratios are alike, and the part of a scale on which ink can be read."""
WIDE = 10
"""From this ratio of the largest to the least value on, cells are coloured by its logarithm."""
TINT, SHADE = 0.4, 0.45
"""The share of white in the first step of a hue, and of black in its last one."""
NUMBER = pattern(r"\d+(?!.*\d)")
"""The last number of a label."""

SHAPES, DASHES = 7, 4
"""The numbers of markers and of dash patterns, of which the first is a whole line."""
DOTTED = 2
"""The dash pattern of what nobody can build."""


def on_scale(scale: Sequence[str], share: float) -> str:
    """The colour at a share of a scale."""
    step = min(int(share * STEPS), STEPS - 1)
    place = step / (STEPS - 1) * (len(scale) - 1)
    below = min(int(place), len(scale) - 2)
    return mixed(scale[below], scale[below + 1], place - below)


def mixed(one: str, other: str, share: float) -> str:
    """A colour between two, nearer the other as the share rises."""
    ends = [[int(colour[digit : digit + 2], 16) for digit in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in zip(*ends, strict=True))


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1."""
    red, green, blue = (int(colour[digit : digit + 2], 16) / 255 for digit in (1, 3, 5))
    return 0.21 * red + 0.72 * green + 0.07 * blue


def of_cell(chart: Chart, panel: Panel, value: float) -> str:
    """The colour of a cell: of a ratio to a baseline which side of 1 it is on, of others how large it is."""
    if panel.normalised:
        return of_ratio(value, panel)
    low, high = extent(chart, panel)
    if low > 0 and high > WIDE * low:
        value, low, high = log(value), log(low), log(high)
    return on_scale(BLUES, PALE * (value - low) / (high - low or 1))


def extent(chart: Chart, panel: Panel) -> tuple[float, float]:
    """The least and the largest value of the panels that share a scale."""
    found = [value for each in chart.scaled_with(panel) for series in each.series for value in series.values]
    return min(found), max(found)


def of_ratio(value: float, panel: Panel) -> str:
    """The colour of a ratio: red where it is worse than 1, blue where it is better; 0 is as far below 1 as any."""
    power = max(-FAR, min(FAR, log2(value))) if value > 0 else -FAR
    better = -power if panel.less_is_better else power
    return on_scale(RED_BLUE, 0.5 + PALE * better / FAR / 2)


def families(labels: Sequence[str]) -> list[list[str]]:
    """The labels, together those that differ in their last number alone, which rises: cq4, cq16, cq64."""
    found: dict[str, list[str]] = {}
    for label in labels:
        found.setdefault(NUMBER.sub("#", label), []).append(label)
    numbers = ([int(match[0]) for label in its if (match := NUMBER.search(label))] for its in found.values())
    rising = [each == sorted(set(each)) for each in numbers]
    return [
        part
        for its, is_one in zip(found.values(), rising, strict=True)
        for part in ([its] if is_one else [[each] for each in its])
    ]


@dataclass(frozen=True)
class Palette:
    """What the series of a chart look like, equal in all panels. Shapes and dashes are numbers."""

    chart: Chart

    @cached_property
    def colours(self) -> dict[str, str]:
        """Of each label: a step from light to dark, or a hue, with steps where they differ in a number."""
        if self.chart.ordered:
            return {label: on_scale(BLUES, step) for label, step in self.steps.items()}
        return self._hues(WHITE, BLACK)

    def on_dark(self, light: str) -> dict[str, str]:
        """The same on a dark ground, where words have a `light` colour."""
        if self.chart.ordered:
            return {label: on_scale(BLUES, 1 - 0.9 * step) for label, step in self.steps.items()}
        return {label: light if colour == BLACK else colour for label, colour in self._hues(BLACK, WHITE).items()}

    def _hues(self, first: str, last: str) -> dict[str, str]:
        """A hue for each family, from one end to the other for its members."""
        found = {}
        for number, members in enumerate(families(self.chart.labels)):
            hue = COLOURS[number % len(COLOURS)]
            for index, label in enumerate(members):
                share = index / max(len(members) - 1, 1) * (TINT + SHADE) - TINT if len(members) > 1 else 0.0
                found[label] = mixed(hue, first, -share) if share < 0 else mixed(hue, last, share)
        return {label: found[label] for label in self.chart.labels}

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
