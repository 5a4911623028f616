"""Draws points with their names, and the front of those that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullLocator

from strandline.views.chart import Panel, Series
from strandline.views.palette import INK
from strandline.views.plot_labels import POINTS, spread
from strandline.views.plot_place import Place
from strandline.views.plot_style import FAINT, GREY, SMALL
from strandline.views.scale import costs

LETTER, LINE = 0.054, 0.105
"""Inches of a letter of a name, and of its height."""
NEAR, STEPS = 0.06, 7
"""Inches from a point to its name, and how many times as far it may be."""
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Where a name may be: right, left, above, below, and between."""
DOT = 0.05
"""Inches of a point that no name may cover."""
NARROW, ROOMY = 0.6, 3.0
"""Powers of ten that the axis has between 0 and the least cost: little, or room for a list of names."""
FEW, BESIDE = 4, 0.2
"""More points of one cost than this have their names in a list, so many inches to the right of them."""


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


def scatter(place: Place) -> None:
    """A point for each series, hollow for a bound; a line along the front."""
    axes, panel = place.axes, place.piece.panel
    _scale(axes, panel)
    on_front = sorted(series.values for series in panel.series if any(series.notes))
    axes.plot(*zip(*on_front, strict=True), drawstyle="steps-post", color=GREY, linewidth=1, zorder=1.8)
    for series in panel.series:
        colour = place.look.colour(series)
        fill = "white" if series.bound else colour
        axes.plot(
            *([value] for value in series.values),
            marker=place.look.shape(series),
            color=colour,
            markerfacecolor=fill,
            markersize=4.5 if any(series.notes) else 3.5,
            linestyle="",
            zorder=3,
        )
    axes.margins(y=0.06)
    axes.set_ylim(bottom=0, auto=None)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)


def _scale(axes: Axes, panel: Panel) -> None:
    """A logarithmic axis, with a place for 0 one power of ten before the least."""
    powers = costs(panel)
    free = sum(series.values[0] == 0 for series in panel.series)
    axes.set_xscale("symlog", linthresh=powers[0], linscale=ROOMY if free > FEW else NARROW)
    axes.set_xticks([0.0, *powers])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _bytes(value)))
    most = max(powers[0], *(series.values[0] for series in panel.series))
    axes.set_xlim((-0.1 if free > FEW else -0.35) * powers[0], 6 * most)


def _bytes(value: float) -> str:
    for power, unit in ((6, "M"), (3, "k")):
        if value >= 10**power:
            return f"{value / 10**power:,.0f}{unit}"
    return f"{value:.0f}"


def name_points(place: Place) -> None:
    """Writes the names once the plot has its place: in a list beside points of one cost, or where they cover least."""
    axes, series = place.axes, place.piece.panel.series
    dots = [_dot(axes, each) for each in series]
    boxes: dict[int, Box] = {}
    for stack in _stacks(dots):
        if len(stack) > FEW:
            boxes.update(_list(axes, [series[index].label for index in stack], dots, stack))
    for index in sorted(range(len(dots)), key=lambda each: (-dots[each].low, dots[each].left)):
        if index not in boxes:
            taken = [*dots, *boxes.values()]
            choices = _choices(series[index].label, dots[index])
            boxes[index] = min(choices, key=lambda box: _cost(axes, box, dots[index], taken))
    for index, box in boxes.items():
        _write(axes, series[index], dots[index], box, place.look.colour(series[index]))


def _stacks(dots: Sequence[Box]) -> list[list[int]]:
    """The points that are above each other."""
    order = sorted(range(len(dots)), key=lambda index: dots[index].left)
    found: list[list[int]] = []
    for index in order:
        if found and dots[index].left - dots[found[-1][0]].left < DOT:
            found[-1].append(index)
        else:
            found.append([index])
    return found


def _list(axes: Axes, labels: Sequence[str], dots: Sequence[Box], stack: Sequence[int]) -> dict[int, Box]:
    """Names below each other, to the right of points that are above each other, in their order."""
    frame = _frame(axes)
    ends = frame.low + LINE / 2, frame.high - LINE / 2
    heights = spread([(dots[index].low + dots[index].high) / 2 for index in stack], LINE, ends)
    left = max(dots[index].right for index in stack) + BESIDE
    return {
        index: Box(left, height - LINE / 2, left + LETTER * len(label), height + LINE / 2)
        for index, label, height in zip(stack, labels, heights, strict=True)
    }


def _dot(axes: Axes, series: Series) -> Box:
    dpi = axes.figure.get_dpi()
    x, y = (each / dpi for each in axes.transData.transform(series.values))
    return Box(x - DOT, y - DOT, x + DOT, y + DOT)


def _choices(label: str, dot: Box) -> list[Box]:
    """The places of a name, from the nearest on."""
    wide, found = LETTER * len(label), []
    x, y = (dot.left + dot.right) / 2, (dot.low + dot.high) / 2
    for step, (right, up) in product(range(STEPS), SIDES):
        away = NEAR + step * LINE
        middle_x = x + right * (away + wide / 2)
        middle_y = y + up * (away + LINE / 2)
        found.append(Box(middle_x - wide / 2, middle_y - LINE / 2, middle_x + wide / 2, middle_y + LINE / 2))
    return found


def _cost(axes: Axes, box: Box, dot: Box, taken: Sequence[Box]) -> float:
    """What it covers, then how far it is."""
    covered = sum(box.meets(other) for other in taken) + (0 if box.within(_frame(axes)) else 1)
    away = abs(box.low + box.high - dot.low - dot.high) + 0.5 * abs(box.left + box.right - dot.left - dot.right)
    return 1000 * covered + away


def _frame(axes: Axes) -> Box:
    dpi = axes.figure.get_dpi()
    window = axes.get_window_extent()
    return Box(window.x0 / dpi, window.y0 / dpi, window.x1 / dpi, window.y1 / dpi)


def _write(axes: Axes, series: Series, dot: Box, box: Box, colour: str) -> None:
    x, y = (dot.left + dot.right) / 2, (dot.low + dot.high) / 2
    up = (box.low + box.high) / 2 - y
    far = max(abs(up) - LINE, box.left - dot.right - NEAR, dot.left - box.right - NEAR) > NEAR
    towards = 0.0 if box.left > dot.right else 1.0 if box.right < dot.left else 0.5
    line = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "relpos": (towards, 0.5), "shrinkA": 0, "shrinkB": 2}
    axes.annotate(
        series.label,
        (series.values[0], series.values[1]),
        xytext=((box.left - x) * POINTS, up * POINTS),
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=SMALL - 0.5,
        color=INK,
        style="italic" if series.bound else "normal",
        weight="bold" if any(series.notes) else "normal",
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        arrowprops=line if far else None,
    )
