"""Checks that a figure's metrics name existing points, and that its plot shows every value exactly once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strandline.engine import load
from strandline.figures.plot_spec import METRICS, Cdf, Grid, Lines, Scatter, shown
from strandline.figures.schema import KeyPath, quoted
from strandline.figures.spec import Axis, FigureSpec, Labels, Metric
from strandline.figures.toml_file import require
from strandline.records import DERIVED, DISTRIBUTIONS, STORAGE_OF
from strandline.views.chart import MEAN


def check(spec: FigureSpec) -> None:
    """A `DocumentError` if the plot hides something."""
    labels = {axis.key: axis.labels for axis in spec.axes}
    for number, metric in enumerate(spec.metrics):
        for name, place in (("only", metric.only), ("baseline", metric.baseline)):
            _check_place(("metrics", number, name), place, labels, "add it or name another")
        require(
            bool(metric.baseline) or metric.baseline_quantity is None,
            ("metrics", number, "baseline_quantity"),
            "is a quantity of no run: add a baseline",
        )
    _check_quantities(spec)
    _check_axes(spec)
    _check_scatter(spec)
    _check_log(spec)
    _check_metrics(spec)
    _check_paper(spec)
    for axis in spec.axes:
        for metric in spec.metrics:
            _check_seen(spec, axis, metric)


def _check_paper(spec: FigureSpec) -> None:
    """Each number of the paper has a place that the plot shows."""
    means = {spec.plot.x: [MEAN]} if spec.plot.mean else {}
    labels = {axis.key: [*axis.labels, *means.get(axis.key, ())] for axis in spec.axes}
    labels[METRICS] = [metric.key for metric in spec.metrics]
    for number, each in enumerate(spec.paper):
        bare = isinstance(spec.plot, Cdf | Grid | Scatter)
        require(not bare, ("paper", number), f"{spec.plot.kind.value} shows no numbers of a paper: leave it out")
        mend = f"name an axis and its point, or `{METRICS}` and its key"
        _check_place(("paper", number, "at"), each.at, labels, mend)
        on_numbers = isinstance(spec.plot, Lines) and all(map(_is_number, spec.labels(spec.plot.x)))
        fits = not each.words or (on_numbers and len(each.words) == 2)
        require(
            fits, ("paper", number, "words"), "are two numbers of the x axis of lines: give both, or leave them out"
        )


def _is_number(label: str) -> bool:
    return label.isascii() and label.replace(".", "", 1).isdecimal()


def _check_place(path: KeyPath, place: Labels, labels: Mapping[str, Sequence[str]], mend: str) -> None:
    """Each axis has the point."""
    for key, label in place.items():
        # The unknown one of an axis and its label, and the names that may be meant.
        meant = (label, labels[key]) if key in labels else (key, list(labels))
        require(label in labels.get(key, ()), path, f"no axis `{key}` has a point `{label}`: {mend}", *meant)


def _check_quantities(spec: FigureSpec) -> None:
    """Quantities are keys of a record, or derived from them; a run would find that out at its end."""
    known = [*load().names("keys"), *DERIVED, *DISTRIBUTIONS]
    named: list[tuple[KeyPath, str]] = [(("search", "least"), spec.search.least)] if spec.search else []
    for number, metric in enumerate(spec.metrics):
        named.append((("metrics", number, "quantity"), metric.quantity))
        if metric.baseline_quantity is not None:
            named.append((("metrics", number, "baseline_quantity"), metric.baseline_quantity))
    for path, name in named:
        require(
            name in known or name.startswith(STORAGE_OF),
            path,
            f"unknown quantity `{name}`: use a key of `strandline list keys`, or one of record.DERIVED",
            name,
            known,
        )


def _check_axes(spec: FigureSpec) -> None:
    """Each part of the plot shows an axis that no other part shows."""
    plot, axes = spec.plot, [axis.key for axis in spec.axes]
    mend = f"no axis `{plot.x}`: use one of {', '.join(axes)}"
    require(isinstance(plot, Cdf | Scatter) or plot.x in axes, ("plot", "x"), mend, plot.x, axes)
    taken = {plot.x: "x"}
    for name, key, others in (
        ("series", plot.series, [METRICS]),
        ("panels", plot.panels, [METRICS]),
        ("dashes", plot.dashes, []),
        ("over", plot.over, []),
    ):
        mend = f"use an axis's key{f' or `{METRICS}`' if others else ''}"
        known = [*axes, *others]
        require(key is None or key in known, ("plot", name), f"`{key}` is no axis: {mend}", key or "", known)
        require(
            key is None or key not in taken,
            ("plot", name),
            f"`{key}` is shown already, by {taken.get(key or '')}: {mend}",
        )
        if key is not None:
            taken[key] = name


def _check_scatter(spec: FigureSpec) -> None:
    """The metrics of a scatter plot are one upwards, and others to the right."""
    plot = spec.plot
    if isinstance(plot, Scatter):
        keys = [metric.key for metric in spec.metrics]
        require(plot.y in keys, ("plot", "y"), f"no metric `{plot.y}`: use one of {', '.join(keys)}", plot.y, keys)
        require(len(keys) > 1, ("plot", "y"), "is the only metric: add one to the right")
        require(plot.panels is None, ("plot", "panels"), "each metric but `y` has a panel: leave it out")


def _check_log(spec: FigureSpec) -> None:
    if isinstance(spec.plot, Lines) and spec.plot.log_x:
        numbers = all(label.isascii() and label.isdecimal() and int(label) > 0 for label in spec.labels(spec.plot.x))
        require(numbers, ("plot", "log_x"), f"needs numbers above 0 on axis {spec.plot.x}: leave it out")


def _check_metrics(spec: FigureSpec) -> None:
    plot = spec.plot
    require(
        len(spec.metrics) == 1 or METRICS in shown(plot),
        ("plot", "series"),
        f"several metrics look alike: use series = '{METRICS}' or panels = '{METRICS}', or leave one metric",
    )
    require(
        plot.panels in (None, METRICS) or len({metric.unit for metric in spec.metrics}) == 1,
        ("plot", "panels"),
        f"metrics of several units need panels of their own: use `{METRICS}`, or leave panels out",
    )
    for metric in spec.metrics:
        require(
            not isinstance(plot, Cdf) or (metric.quantity in DISTRIBUTIONS and not metric.baseline),
            ("plot", "kind"),
            f"metric {metric.key} is no distribution: use {quoted(tuple(DISTRIBUTIONS))} without a baseline",
        )
        require(
            plot.x not in metric.only and (plot.x not in metric.baseline or metric.baseline_shown),
            ("plot", "x"),
            f"metric {metric.key} leaves out points of {plot.x}: set baseline_shown, or show it",
        )


def _check_seen(spec: FigureSpec, axis: Axis, metric: Metric) -> None:
    """An axis that the plot does not show must have one value. Otherwise lines would hide each other."""
    left_out = axis.key in metric.baseline and not metric.baseline_shown
    left = 1 if axis.key in metric.only else len(axis.points) - left_out
    require(
        left <= 1 or axis.key in shown(spec.plot),
        ("plot", "series"),
        f"axis `{axis.key}` is not drawn but has {left} points: show it by series, panels or dashes, or fix it",
    )
