"""How a figure is drawn: the kinds of plot, and what each lays where."""

from __future__ import annotations

from typing import Annotated, ClassVar

from strandline.figures.schema import Table, says
from strandline.views.chart import Kind

METRICS = "metric"
"""In `plot`, names the metrics in place of an axis: one series, or one panel, for each."""
QUANTILE = "quantile"
"""The axis of a distribution, in per cent."""


class _Drawing(Table, frozen=True, kw_only=True, tag_field="kind"):
    """Keys that all kinds of plot have."""

    series: Annotated[str, says(f"an axis, or `{METRICS}`: one colour for each")]
    y_title: Annotated[str, says("title of the y axis")]
    panels: Annotated[str | None, says(f"an axis, or `{METRICS}`: small plots side by side")] = None


class Bars(_Drawing, frozen=True, kw_only=True, tag=Kind.BARS.value):
    """Groups of bars."""

    x: Annotated[str, says("the axis that lies along x")]
    x_title: Annotated[str | None, says("in place of the axis's title")] = None
    mean: Annotated[bool, says("adds the geometric mean over the x axis")] = False
    log_y: Annotated[bool, says("logarithmic y axis")] = False
    stacked: Annotated[bool, says("the series are parts of a whole, and stand on each other")] = False

    kind: ClassVar = Kind.BARS
    dashes: ClassVar = None
    over: ClassVar = None
    log_x: ClassVar = False


class Lines(_Drawing, frozen=True, kw_only=True, tag=Kind.LINES.value):
    """Lines over an axis."""

    x: Annotated[str, says("the axis that lies along x")]
    x_title: Annotated[str | None, says("in place of the axis's title")] = None
    dashes: Annotated[str | None, says("an axis that tells lines of one colour apart")] = None
    over: Annotated[str | None, says("an axis whose geometric mean is drawn, in place of its points")] = None
    log_x: Annotated[bool, says("logarithmic x axis")] = False
    log_y: Annotated[bool, says("logarithmic y axis")] = False

    kind: ClassVar = Kind.LINES
    mean: ClassVar = False


class Cdf(_Drawing, frozen=True, kw_only=True, tag=Kind.CDF.value):
    """The distribution of a quantity: one of `record.DISTRIBUTIONS`, without a baseline."""

    x_title: Annotated[str, says("the quantity, with its unit")]
    dashes: Annotated[str | None, says("an axis that tells lines of one colour apart")] = None

    kind: ClassVar = Kind.CDF
    x: ClassVar = QUANTILE
    mean: ClassVar = False
    over: ClassVar = None
    log_x: ClassVar = False
    log_y: ClassVar = False


class Grid(_Drawing, frozen=True, kw_only=True, tag=Kind.GRID.value):
    """A cell a value, with its number: red where a ratio is worse than its baseline (above 1, unless `inverse`)."""

    x: Annotated[str, says("the axis that lies along x")]
    x_title: Annotated[str | None, says("in place of the axis's title")] = None
    mean: Annotated[bool, says("adds the geometric mean over the x axis")] = False

    kind: ClassVar = Kind.GRID
    dashes: ClassVar = None
    over: ClassVar = None
    log_x: ClassVar = False
    log_y: ClassVar = False


class Scatter(_Drawing, frozen=True, kw_only=True, tag=Kind.SCATTER.value):
    """A point for each series, a panel for each metric but `y`, and the front of the points that no other beats."""

    y: Annotated[str, says("the metric upwards, of which more is better; less is better of the others, to the right")]
    over: Annotated[str, says("an axis: of `y` the geometric mean over it counts, of the others the largest value")]
    x_title: Annotated[str, says("title of the x axis, which is logarithmic from a place for 0 on")]

    kind: ClassVar = Kind.SCATTER
    x: ClassVar = METRICS
    dashes: ClassVar = None
    mean: ClassVar = False
    log_x: ClassVar = False
    log_y: ClassVar = False


Plot = Bars | Lines | Cdf | Grid | Scatter


def shown(plot: Plot) -> list[str]:
    """The dimensions that a plot shows: axes, `METRICS`, `QUANTILE`."""
    return [key for key in (plot.x, plot.series, plot.panels, plot.dashes, plot.over) if key is not None]
