"""Draws points with their names, and the front of those that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from strandline.views.chart import Panel, Series
from strandline.views.palette import mixed
from strandline.views.plot_boxes import POINTS, Box, along, around, frame_of, place_of
from strandline.views.plot_place import Place
from strandline.views.plot_style import TINY, back, faint, grey
from strandline.views.scale import costs

LETTER, BOLD, LINE = 0.054, 0.061, 0.095
"""Inches of a letter of a name, of one of the front, and of its height."""
NEAR, STEPS = 0.05, 24
"""Inches from a point to its name, and how many times half a line it may be farther."""
SIDES = (
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
    (1, 0.5),
    (1, -0.5),
    (-1, 0.5),
    (-1, -0.5),
)
"""Where a name may be: right, left, above, below, and between."""
DOT, THIN = 0.035, 0.008
"""Half the size of a point that no name may cover, and of a line, in inches."""
NARROW, ROOMY = 0.6, 3.0
"""Powers of ten that the axis has between 0 and the least cost: little, or room for a list of names."""
FEW = 4
"""With more points that cost nothing, their names have that room."""


def scatter(place: Place) -> None:
    """A point for each series, hollow for a bound; a line along the front."""
    axes, panel = place.axes, place.piece.panel
    _scale(axes, panel)
    on_front = sorted(series.values for series in panel.series if any(series.notes))
    axes.plot(*zip(*on_front, strict=True), drawstyle="steps-post", color=grey(), linewidth=1, zorder=1.8)
    for series in panel.series:
        colour = place.look.colour(series)
        fill = back() if series.bound else colour
        axes.plot(
            *([value] for value in series.values),
            marker=place.look.shape(series),
            color=colour,
            markerfacecolor=fill,
            markersize=4.5 if any(series.notes) else 3.5,
            linestyle="",
            zorder=3,
            gid=series.label,
        )
    axes.margins(y=0.06)
    axes.set_ylim(bottom=0, auto=None)
    axes.grid(axis="x", color=faint(), linewidth=0.6)


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


def name_points(place: Place) -> bool:
    """Writes names where they meet nothing, those of the front and of bounds first; whether all have room.

    Points without are grey.
    """
    axes, series = place.axes, place.piece.panel.series
    dots = [around(*place_of(axes, *each.values), 2 * DOT, 2 * DOT) for each in series]
    drawn, frame = [*dots, *_lines(axes, series)], frame_of(axes)
    words: list[Box] = []
    named = True
    for index in sorted(
        range(len(dots)), key=lambda each: (not any(series[each].notes), not series[each].bound, -dots[each].low)
    ):
        found = _spot(_wide(series[index]), dots[index], drawn, words, frame)
        if found is None:
            named = False
            axes.lines[_line_of(axes, series[index])].set(color=mixed(grey(), back(), 0.5), zorder=2)
        else:
            box, line = found
            words += [box, *line]
            _write(axes, series[index], dots[index], box, place.look.colour(series[index]), bool(line))
    return named


def _line_of(axes: Axes, series: Series) -> int:
    return next(index for index, line in enumerate(axes.lines) if line.get_gid() == series.label)


def _lines(axes: Axes, series: Sequence[Series]) -> list[Box]:
    """What is drawn of the front, and of the line at 1."""
    front = sorted(each.values for each in series if any(each.notes))
    corners = [corner for one, two in pairwise(front) for corner in (one, (two[0], one[1]), two)]
    frame, unit = frame_of(axes), place_of(axes, 0, 1)[1]
    ends = pairwise([place_of(axes, *corner) for corner in corners])
    return [
        Box(frame.left, unit - THIN, frame.right, unit + THIN),
        *(box for begin, end in ends for box in along(begin, end)),
    ]


def _wide(series: Series) -> float:
    """Inches of its name."""
    return (BOLD if any(series.notes) else LETTER) * len(series.label)


def _spot(
    wide: float, dot: Box, drawn: Sequence[Box], words: Sequence[Box], frame: Box
) -> tuple[Box, list[Box]] | None:
    """The nearest place of a name that meets nothing, and the line to its point, if it needs one.

    The line may meet what is at its own point: other points there, and the front through it.
    """
    (x, y), own = dot.middle, dot.grown(DOT)
    apart = [box for box in drawn if not box.meets(own)]
    for step, (right, up) in product(range(STEPS), SIDES):
        away = NEAR + step * LINE / 2
        box = around(x + right * (away + wide / 2), y + up * (away + LINE / 2), wide, LINE)
        line = list(along(_end(box, dot), (x, y))) if step > 1 else []
        if not box.within(frame) or any(box.meets(other) for other in (*drawn, *words)):
            continue
        if not any(part.meets(other) for part in line for other in (*apart, *words)):
            return box, line
    return None


def _end(box: Box, dot: Box) -> tuple[float, float]:
    """Where the line of a name begins."""
    x, y = box.middle
    return (box.left if box.left > dot.right else box.right if box.right < dot.left else x), y


def _write(axes: Axes, series: Series, dot: Box, box: Box, colour: str, far: bool) -> None:
    (x, y), (_, up) = dot.middle, box.middle
    towards = 0.0 if box.left > dot.right else 1.0 if box.right < dot.left else 0.5
    line = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "relpos": (towards, 0.5), "shrinkA": 0, "shrinkB": 2}
    axes.annotate(
        series.label,
        (series.values[0], series.values[1]),
        xytext=((box.left - x) * POINTS, (up - y) * POINTS),
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=TINY,
        style="italic" if series.bound else "normal",
        weight="bold" if any(series.notes) else "normal",
        arrowprops=line if far else None,
    )
