"""A figure's values as a chart and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from strandline.figures import looks, paper_values, scatter
from strandline.figures.figure import FigureData
from strandline.figures.paper_values import Claims
from strandline.figures.plot_spec import METRICS, QUANTILE, Bars, Scatter
from strandline.figures.spec import FigureSpec, Metric
from strandline.figures.values import Value, with_means
from strandline.records import QUANTILES
from strandline.views.chart import MEAN, PAPER, Chart, Kind, Panel, Series, crowded
from strandline.views.numbers import number
from strandline.views.promises import BOUND
from strandline.views.table import NOTHING, Column, Table


@dataclass(frozen=True)
class _Drawn:
    """What a chart is made of."""

    spec: FigureSpec
    shown: tuple[Value, ...]
    claims: Claims
    places: tuple[str, ...]


def chart(data: FigureData, claims: Claims, remarks: Sequence[str] = ()) -> Chart:
    """What the plot shows; `remarks` stand below it."""
    spec = data.spec
    drawn = _Drawn(spec, tuple(with_means(data)), claims, _places(spec))
    panels = _panels(drawn)
    note = _note_title(spec, drawn.shown)
    labels = dict.fromkeys(series.label for panel in panels for series in panel.series)
    is_ordered = looks.ordered(spec, labels)
    kind = _kind(spec, len(labels), is_ordered)
    made = Chart(
        kind=kind,
        title=spec.title,
        source=f"After {spec.source}",
        x_title=spec.x_title,
        y_title=spec.plot.y_title,
        shared_y=isinstance(spec.plot, Scatter) or (spec.plot.panels != METRICS and not looks.in_units(spec)),
        places=drawn.places,
        panels=panels,
        headings=(_heading(spec, spec.plot.panels), _heading(spec, spec.plot.series), _heading(spec, spec.plot.dashes)),
        note=note,
        log_x=spec.plot.log_x,
        log_y=spec.plot.log_y,
        ordered=is_ordered,
        legend=None if spec.plot.series == METRICS else spec.axis(spec.plot.series).explained,
        stacked=isinstance(spec.plot, Bars) and spec.plot.stacked,
    )
    return replace(made, remarks=(*looks.of_bounds(made), *looks.meanings(data, kind, note), *remarks))


def _kind(spec: FigureSpec, labels: int, is_ordered: bool) -> Kind:
    """How a figure is drawn: too many lines are cells."""
    is_crowded = spec.plot.kind is Kind.LINES and crowded(labels, is_ordered, spec.plot.dashes is not None)
    return Kind.GRID if is_crowded else spec.plot.kind


def _panels(drawn: _Drawn) -> tuple[Panel, ...]:
    spec = drawn.spec
    if isinstance(spec.plot, Scatter):
        return scatter.panels(spec, spec.plot, drawn.shown)
    return tuple(_panel(drawn, values) for values in _groups(drawn.shown, lambda value: _panel_key(spec, value)))


def _panel_key(spec: FigureSpec, value: Value) -> str:
    """What the values of a panel have in common."""
    return looks.unit(spec, _metric(spec, value)) if looks.in_units(spec) else _label(spec.plot.panels, value)


def _panel(drawn: _Drawn, values: list[Value]) -> Panel:
    spec = drawn.spec
    metrics = [_metric(spec, value) for value in values]
    return Panel(
        title=None if spec.plot.panels is None else _title(spec, spec.plot.panels, values[0]),
        series=_all_series(drawn, values),
        spreads=paper_values.along_series(spec, values, drawn.claims),
        y_title=looks.unit(spec, metrics[0]),
        unit=metrics[0].unit or spec.plot.y_title,
        normalised=all(metric.normalised for metric in metrics),
        less_is_better=not metrics[0].inverse,
        band=paper_values.in_words(spec, values),
    )


def _places(spec: FigureSpec) -> tuple[str, ...]:
    if isinstance(spec.plot, Scatter):
        return spec.plot.x_title, spec.plot.y_title
    if spec.plot.x == QUANTILE:
        return tuple(map(str, QUANTILES))
    return (*spec.labels(spec.plot.x),) + ((MEAN,) if spec.plot.mean else ())


def _groups(values: Sequence[Value], key: Callable[[Value], str]) -> list[list[Value]]:
    """The values of each key, in the order of the keys' first appearance."""
    order = {name: number for number, name in enumerate(dict.fromkeys(map(key, values)))}
    ordered = sorted(values, key=lambda value: order[key(value)])
    return [list(group) for _, group in groupby(ordered, key)]


def _label(key: str | None, value: Value) -> str:
    return "" if key is None else value.label(key)


def _title(spec: FigureSpec, key: str, value: Value) -> str:
    return _metric(spec, value).title if key == METRICS else value.labels[key]


def _metric(spec: FigureSpec, value: Value) -> Metric:
    return next(metric for metric in spec.metrics if metric.key == value.metric)


def _heading(spec: FigureSpec, key: str | None) -> str:
    titles = {axis.key: axis.title for axis in spec.axes}
    return "" if key is None else titles.get(key, "Quantity")


def _note_title(spec: FigureSpec, values: Sequence[Value]) -> str | None:
    if isinstance(spec.plot, Scatter):
        return scatter.NOTE
    if spec.search is None or spec.plot.over is not None:
        return None
    both = any(_two_bests(value) for value in values)
    return f"{spec.search.title}{', and that of what it is compared with' if both else ''}"


def _two_bests(value: Value) -> bool:
    return value.baseline_best is not None and value.baseline_best != value.best


def _note(value: Value) -> str | None:
    """The best value of the searched key, and the baseline's if that differs."""
    bests = [value.best, value.baseline_best] if _two_bests(value) else [value.best]
    return "/".join(str(best) for best in bests if best is not None) or None


def _all_series(drawn: _Drawn, values: list[Value]) -> tuple[Series, ...]:
    plot = drawn.spec.plot
    lines = _groups(values, lambda value: f"{_label(plot.series, value)}\n{_label(plot.dashes, value)}")
    return tuple(_series(drawn, line) for line in lines)


def _series(drawn: _Drawn, values: list[Value]) -> Series:
    spec, claims, shown = drawn.spec, drawn.claims, drawn.shown
    at = {value.labels[spec.plot.x]: value for value in values}
    line = [at[place] for place in drawn.places]
    several = any(value.interval is not None for value in line)
    return Series(
        label=_title(spec, spec.plot.series, line[0]),
        values=tuple(value.value for value in line),
        paper=tuple(paper_values.at_point(spec, value, claims, shown) for value in line),
        notes=tuple(map(_note, line)),
        dash=None if spec.plot.dashes is None else line[0].labels[spec.plot.dashes],
        bounds=paper_values.along_x(spec, line[0], claims, shown),
        whiskers=tuple(value.interval for value in line) if several else (),
        tasks=tuple(value.tasks for value in line),
        bound=spec.is_bound(line[0].labels[spec.plot.series]) if spec.plot.series != METRICS else False,
    )


def _of_paper(shown: Chart) -> list[int]:
    """The places at which the paper has numbers."""
    all_series = [series for panel in shown.panels for series in panel.series]
    return [
        place for place in range(len(shown.places)) if any(series.paper[place] is not None for series in all_series)
    ]


def _beside_paper(shown: Chart) -> bool:
    """Whether the table is by place, with the paper's numbers next to ours."""
    return all(panel.title is None for panel in shown.panels) and len(_of_paper(shown)) > 1


def _name(shown: Chart, panel: Panel, series: Series) -> str:
    """A series' label, with its unit where panels tell units apart."""
    unit = "" if len(shown.panels) == 1 or panel.title else f" ({panel.unit})"
    return f"{series.label}{unit}{BOUND if series.bound else ''}"


def caption(shown: Chart) -> str:
    """The meaning of the table's numbers."""
    if _beside_paper(shown):
        return shown.y_title
    if shown.kind is Kind.CDF:
        return f"{shown.x_title}. Columns: the percentage of tasks that take no longer"
    note = f". In parentheses: {shown.note}" if shown.note else ""
    if shown.kind is Kind.SCATTER:
        return f"{shown.x_title}, and {shown.y_title[:1].lower()}{shown.y_title[1:]}{note}"
    return f"{shown.y_title}. Columns: {shown.x_title.lower()}{note}"


def table(shown: Chart) -> Table:
    """A row for each series, or for each place if the paper has numbers at several."""
    if _beside_paper(shown):
        return _table_beside_paper(shown)
    rows = [(panel, series) for panel in shown.panels for series in panel.series]
    heads = [[panel.title or "", _name(shown, panel, series), series.dash or ""] for panel, series in rows]
    keys = [number for number in range(3) if any(head[number] for head in heads)]
    noted = shown.kind is Kind.CDF and shown.note is not None
    columns = [Column(shown.headings[number], numeric=False) for number in keys]
    columns += [Column(shown.note or "")] if noted else []
    theirs = _of_paper(shown)
    for index, place in enumerate(shown.places):
        columns += [Column(place), *([Column(PAPER)] if index in theirs else [])]
    cells = [
        (
            *(head[number] for number in keys),
            *((series.notes[0] or NOTHING,) if noted else ()),
            *_cells(series, noted, theirs),
        )
        for head, (_, series) in zip(heads, rows, strict=True)
    ]
    return Table(tuple(columns), tuple(cells), keys=len(keys) + noted if len(keys) > 1 or noted else 0)


def _cells(series: Series, noted: bool, theirs: Sequence[int]) -> list[str]:
    """The values with their notes, except notes that the row already has, and next to some the paper's."""
    cells: list[str] = []
    for index, note in enumerate(series.notes):
        cells.append(_value(series, index) if noted or note is None else f"{_value(series, index)} ({note})")
        cells += [_paper(series, index)] if index in theirs else []
    return cells


def _value(series: Series, index: int) -> str:
    """A value, with half its confidence interval if it is a mean over seeds."""
    value, interval = series.values[index], series.whiskers[index] if series.whiskers else None
    return number(value) if interval is None else f"{number(value)} ± {number(interval[1] - value)}"


def _paper(series: Series, index: int) -> str:
    value = series.paper[index]
    return NOTHING if value is None else number(value)


def _table_beside_paper(shown: Chart) -> Table:
    every = [series for panel in shown.panels for series in panel.series]
    columns = [Column(shown.x_title, numeric=False)]
    for series in every:
        columns += [
            Column(f"{series.label}{BOUND if series.bound else ''}"),
            *([Column(PAPER)] if series.has_paper else []),
        ]
    rows = []
    for index, place in enumerate(shown.places):
        cells = [place]
        for series in every:
            cells += [_value(series, index), *([_paper(series, index)] if series.has_paper else [])]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))
