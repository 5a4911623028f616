"""A figure's values as a chart and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.experiments.claims import Claim
from strandline.experiments.evaluate import Outcome
from strandline.experiments.figure import FigureData, Value
from strandline.experiments.spec import METRICS, FigureSpec, Metric
from strandline.report.chart import Chart, Series
from strandline.report.numbers import significant
from strandline.report.table import Column, Table

Claims = Mapping[str, Claim]


def chart(data: FigureData, claims: Claims) -> Chart:
    """What the plot shows."""
    spec = data.spec
    x = spec.axis(spec.plot.x)
    places = tuple(point.label for point in x.points)
    return Chart(
        kind=spec.plot.kind,
        title=spec.title,
        source=f"After {spec.source}",
        x_title=x.title,
        y_title=spec.plot.y_title,
        places=places,
        series=tuple(_series(spec, data.values(), label, places, claims) for label in _series_labels(data)),
    )


def _series_labels(data: FigureData) -> list[str]:
    return list(dict.fromkeys(_label(data.spec, value) for value in data.values()))


def _label(spec: FigureSpec, value: Value) -> str:
    return value.metric if spec.plot.series == METRICS else value.labels[spec.plot.series]


def _series(spec: FigureSpec, values: Sequence[Value], label: str, places: Sequence[str], claims: Claims) -> Series:
    mine = {value.labels[spec.plot.x]: value for value in values if _label(spec, value) == label}
    metrics = {metric.key: metric for metric in spec.metrics}
    return Series(
        label=metrics[label].title if spec.plot.series == METRICS else label,
        values=tuple(mine[place].value for place in places),
        paper=tuple(_paper(metrics[mine[place].metric], place, claims) for place in places),
    )


def _paper(metric: Metric, place: str, claims: Claims) -> float | None:
    """What the paper reports there, if it does."""
    if metric.paper is None:
        return None
    found = claims[metric.paper].paper_value.get(place, {}).get(metric.key)
    return None if found is None else float(found)


def _beside_paper(shown: Chart) -> bool:
    return any(value is not None for series in shown.series for value in series.paper)


def caption(shown: Chart) -> str:
    """What the numbers of the table are."""
    return shown.y_title if _beside_paper(shown) else f"{shown.y_title}. Columns: {shown.x_title.lower()}"


def table(shown: Chart, series_heading: str) -> Table:
    """A row for each series; where the paper gives values, a row for each place with its values beside ours."""
    if _beside_paper(shown):
        return _table_beside_paper(shown)
    columns = (Column(series_heading, numeric=False), *(Column(place) for place in shown.places))
    rows = tuple((series.label, *map(significant, series.values)) for series in shown.series)
    return Table(columns, rows)


def _table_beside_paper(shown: Chart) -> Table:
    columns = [Column(shown.x_title, numeric=False)]
    for series in shown.series:
        columns += [Column(series.label), Column("paper")]
    rows = []
    for index, place in enumerate(shown.places):
        cells = [place]
        for series in shown.series:
            paper = series.paper[index]
            cells += [significant(series.values[index]), "-" if paper is None else significant(paper)]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))


CLAIM_COLUMNS = (
    Column("claim", numeric=False),
    Column("paper", numeric=False, prose=True),
    Column("measured", numeric=False, prose=True),
    Column("holds", numeric=False),
)


def outcomes(claims: Sequence[Outcome]) -> Table:
    """One row a claim."""
    return Table(CLAIM_COLUMNS, tuple(_outcome(outcome) for outcome in claims))


def _outcome(outcome: Outcome) -> tuple[str, ...]:
    paper = brief(outcome.claim.paper_value) if outcome.claim.paper_value is not None else outcome.claim.text
    measured = outcome.reason or brief(outcome.measured)
    return outcome.claim.id, paper, measured, {True: "yes", False: "NO", None: "-"}[outcome.holds]


def tally(claims: Sequence[Outcome]) -> str:
    """How many claims hold, in one line."""
    unmeasured = sum(outcome.reason is not None for outcome in claims)
    judged = [outcome.holds for outcome in claims if outcome.holds is not None]
    shown = len(claims) - unmeasured - len(judged)
    parts = (f"{sum(judged)} hold", f"{len(judged) - sum(judged)} do not", f"{shown} shown without a verdict")
    return ", ".join((*parts, f"{unmeasured} not measurable yet"))


def brief(value: Any) -> str:
    """A claim's value in one line."""
    if value is None:
        return "-"
    if isinstance(value, int | float):
        return significant(value)
    if set(value) == {"low", "high"}:
        return f"{significant(value['low'])} to {significant(value['high'])}"
    nested = any(isinstance(item, dict) for item in value.values())
    return ("; " if nested else ", ").join(f"{key} {brief(item)}" for key, item in value.items())
