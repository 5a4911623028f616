"""What decides how a figure's series and axes look: order, units, and the remarks below the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from strandline.engine import Engine
from strandline.figures.figure import FigureData, Options, runs_of
from strandline.figures.plot_spec import METRICS
from strandline.figures.spec import FigureSpec, Metric, Point
from strandline.views.chart import Chart, Kind
from strandline.views.interval import PER_CENT


def ordered(spec: FigureSpec, labels: Iterable[str]) -> bool:
    """Whether the series of these labels are steps of one quantity, in rising order."""
    if spec.plot.series == METRICS:
        return False
    axis = spec.axis(spec.plot.series)
    return rising([axis.point(label) for label in labels])


def rising(points: Sequence[Point]) -> bool:
    """Whether the points are rising numbers: their labels, or what each sets the same one key to."""
    named = [point.label for point in points]
    if all(label.isascii() and label.isdecimal() for label in named):
        return _rises([int(label) for label in named])
    settings = [next(iter(point.settings.items())) for point in points if len(point.settings) == 1]
    numbers = [value for _, value in settings if isinstance(value, int | float) and not isinstance(value, bool)]
    return len({key for key, _ in settings}) == 1 and len(numbers) == len(points) and _rises(numbers)


def _rises(numbers: Sequence[float]) -> bool:
    return len(numbers) > 1 and all(before < after for before, after in pairwise(numbers))


def unit(spec: FigureSpec, metric: Metric) -> str:
    """The title of the y axis of a metric."""
    return metric.unit[:1].upper() + metric.unit[1:] if metric.unit else spec.plot.y_title


def in_units(spec: FigureSpec) -> bool:
    """Whether the metrics have several units, so that each unit has a panel of its own."""
    return spec.plot.panels is None and len({unit(spec, metric) for metric in spec.metrics}) > 1


def meanings(data: FigureData, kind: Kind, note: str | None) -> list[str]:
    """The remarks that say what stands above bars, what colours and lines mean, and what whiskers are."""
    above = [f"Above the bars: {note}"] if note and kind is Kind.BARS else []
    above += [f"Grey line, bold: {note}"] if note and kind is Kind.SCATTER else []
    above += [_of_colours(data.spec)] if kind is Kind.GRID else []
    if len(data.seeds) == 1:
        shown = data.intervals and kind is not Kind.CDF
        return [*above, f"Whiskers: {PER_CENT} % interval of the runs"] if shown else above
    whiskers = "" if kind is Kind.CDF else f"; whiskers: {PER_CENT} % confidence interval of the mean"
    return [*above, f"Means of {len(data.seeds)} seeds{whiskers}"]


def _of_colours(spec: FigureSpec) -> str:
    ratios = all(metric.normalised for metric in spec.metrics)
    return "Blue: better than the baseline; red: worse" if ratios else "Darker: more"


BOUNDS: Mapping[Kind, str] = {
    Kind.LINES: "Dotted",
    Kind.GRID: "In italics",
    Kind.SCATTER: "Hollow, in italics",
}
"""How a plot shows what cannot be built; another names it."""


def of_bounds(chart: Chart) -> list[str]:
    """The remark on the bounds that are shown, if there are any."""
    names = dict.fromkeys(series.label for panel in chart.panels for series in panel.series if series.bound)
    kind = "a bound" if len(names) == 1 else "bounds"
    return [f"{BOUNDS.get(chart.kind, ', '.join(names))}: {kind}, which cannot be built"] if names else []


def shortened(engine: Engine, spec: FigureSpec, options: Options) -> str | None:
    """The remark of a figure some of whose runs have fewer tasks than their full length."""
    if options.tasks is None:
        return None
    full = [engine.origin(run)["spec"]["tasks"] or 0 for run in runs_of(spec, replace(options, tasks=None))]
    short = [(options.tasks, tasks) for tasks in full if options.tasks < tasks]
    if not short:
        return None
    runs, fulls = ([each[index] for each in short] for index in (0, 1))
    return f"Run shorter than its full length: {_range(runs)} in place of {_range(fulls)} tasks a run"


def precise(options: Options) -> str | None:
    """The remark of a figure whose runs end earlier or later than usual."""
    if options.precision is None:
        return None
    if not options.precision:
        return "Runs have all of their tasks"
    share = f"{100 * options.precision:g} % ({PER_CENT} % interval)"
    return f"Runs of stationary workloads end once their time is known to {share}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
