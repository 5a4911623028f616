"""Reads `[plot]` of a figure's file, and checks that the plot shows every value exactly once."""

from __future__ import annotations

from strandline.experiments.document import Section
from strandline.experiments.spec import METRICS, QUANTILE, Axis, Metric, Plot
from strandline.record import DISTRIBUTIONS
from strandline.report.chart import Kind

KEYS = ("kind", "x", "x_title", "series", "y_title", "panels", "dashes", "mean", "log_x")


def read(section: Section, axes: tuple[Axis, ...], metrics: tuple[Metric, ...]) -> Plot:
    """How the figure is drawn."""
    section.only(KEYS)
    kind = section.take("kind", str)
    if kind not in [each.value for each in Kind]:
        raise section.error("kind", f"unknown kind `{kind}`: use {' or '.join(each.value for each in Kind)}")
    x, x_title = _quantiles(section) if kind == Kind.CDF.value else _x(section, axes)
    plot = Plot(
        kind=Kind(kind),
        x=x,
        x_title=x_title,
        series=section.take("series", str),
        y_title=section.take("y_title", str),
        panels=section.take("panels", str, "") or None,
        dashes=section.take("dashes", str, "") or None,
        mean=section.take("mean", bool, False),
        log_x=section.take("log_x", bool, False),
    )
    _check_axes(section, plot, axes)
    _check_kind(section, plot, axes)
    _check_metrics(section, plot, metrics)
    _every_axis_shown(section, plot, axes, metrics)
    return plot


def _quantiles(section: Section) -> tuple[str, str]:
    if "x" in section.keys:
        raise section.error("x", "a cdf's x axis is the quantity: leave it out and give x_title")
    return QUANTILE, section.take("x_title", str)


def _x(section: Section, axes: tuple[Axis, ...]) -> tuple[str, str]:
    x = section.take("x", str)
    titles = {axis.key: axis.title for axis in axes}
    if x not in titles:
        raise section.error("x", f"no axis `{x}`: use one of {', '.join(titles)}")
    return x, section.take("x_title", str, titles[x])


def _check_axes(section: Section, plot: Plot, axes: tuple[Axis, ...]) -> None:
    """Each of `series`, `panels` and `dashes` is an axis that nothing else shows."""
    taken = [plot.x]
    keys = [axis.key for axis in axes]
    for name, key in (("series", plot.series), ("panels", plot.panels), ("dashes", plot.dashes)):
        if key is None:
            continue
        if key not in keys and (key != METRICS or name == "dashes"):
            raise section.error(name, f"`{key}` is no other axis: use `{METRICS}` or an axis's key")
        if key in taken:
            raise section.error(name, f"`{key}` is no other axis: {', '.join(taken)} are shown already")
        taken.append(key)


def _check_kind(section: Section, plot: Plot, axes: tuple[Axis, ...]) -> None:
    if plot.dashes and plot.kind is Kind.BARS:
        raise section.error("dashes", "bars have no dashes: use kind lines or cdf")
    if plot.mean and plot.kind is not Kind.BARS:
        raise section.error("mean", "only bars have a place for the mean: leave it out")
    if not plot.log_x:
        return
    if plot.kind is not Kind.LINES:
        raise section.error("log_x", "only lines can stand at equal ratios: leave it out")
    labels = [point.label for axis in axes if axis.key == plot.x for point in axis.points]
    if not all(label.isdecimal() and int(label) > 0 for label in labels):
        raise section.error("log_x", f"needs numbers above 0 on axis {plot.x}: leave it out")


def _check_metrics(section: Section, plot: Plot, metrics: tuple[Metric, ...]) -> None:
    if not metrics or (METRICS not in plot.shown and len(metrics) > 1):
        raise section.error("series", f"needs one metric, or several and series = '{METRICS}' or panels = '{METRICS}'")
    for metric in metrics:
        if plot.kind is Kind.CDF and (metric.baseline or metric.quantity not in DISTRIBUTIONS):
            known = " or ".join(DISTRIBUTIONS)
            raise section.error("kind", f"metric {metric.key} is no distribution: use {known} without a baseline")
        if plot.panels and metric.paper:
            raise section.error("panels", f"metric {metric.key} stands beside the paper's values: leave panels out")
        if plot.x in metric.only or (plot.x in metric.baseline and not metric.baseline_shown):
            raise section.error(
                "x", f"metric {metric.key} leaves out points of {plot.x}: set baseline_shown, or show it"
            )


def _every_axis_shown(section: Section, plot: Plot, axes: tuple[Axis, ...], metrics: tuple[Metric, ...]) -> None:
    """What nothing shows must come to one value, or lines would lie on each other unseen."""
    for axis in axes:
        for metric in metrics:
            left_out = axis.key in metric.baseline and not metric.baseline_shown
            left = 1 if axis.key in metric.only else len(axis.points) - left_out
            if axis.key not in plot.shown and left > 1:
                raise section.error("series", f"axis `{axis.key}` is not drawn but has {left} points")
