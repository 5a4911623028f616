"""The papers' numbers in a figure: which number of a claim belongs to which place of the plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strandline.errors import InputError
from strandline.figures.claims import Claim
from strandline.figures.plot_spec import METRICS
from strandline.figures.spec import FigureSpec, PaperValue
from strandline.figures.values import Value
from strandline.views.chart import Spread

Claims = Mapping[str, Claim]


def at_point(spec: FigureSpec, value: Value, claims: Claims, ours: Iterable[Value]) -> float | None:
    """The paper's number for one of our values, if it reports one."""
    for each in _numbers(spec):
        claim = claims[each.claim]
        if _covers(each, value) and not _spans(spec, each, claim):
            found = _number(claim, each, value.labels[spec.plot.x], spec.plot.x in each.at)
            if found is not None:
                return found * (_at(each, value, ours) if each.over else 1)
    return None


def _at(each: PaperValue, value: Value, ours: Iterable[Value]) -> float:
    """Our value at the place to which the paper's number is a ratio."""
    labels = {**value.labels, **each.over}
    return next(other.value for other in ours if (other.metric, other.labels) == (value.metric, labels))


def along_x(spec: FigureSpec, value: Value, claims: Claims, ours: Iterable[Value]) -> tuple[float, ...]:
    """The paper's smallest or largest numbers of the series to which a value belongs."""
    mine = [each for each in _numbers(spec) if spec.plot.x not in each.at and _covers(each, value)]
    found = list(ours)
    return tuple(
        number * (_largest(spec, each, value, found) if each.over else 1)
        for each in mine
        if _spans(spec, each, claims[each.claim])
        for number in _several(claims[each.claim])
    )


def _largest(spec: FigureSpec, each: PaperValue, value: Value, ours: Iterable[Value]) -> float:
    """Our largest value of the series to whose largest the paper's number is a ratio."""
    labels = {**value.labels, **each.over}
    return max(
        other.value
        for other in ours
        if other.metric == value.metric
        and all(other.labels[key] == label for key, label in labels.items() if key != spec.plot.x)
    )


def along_series(spec: FigureSpec, values: Iterable[Value], claims: Claims) -> tuple[Spread, ...]:
    """The paper's smallest and largest number of all series at a place."""
    found = list(values)
    return tuple(
        Spread(each.at[spec.plot.x], _several(claims[each.claim]))
        for each in _numbers(spec)
        if spec.plot.x in each.at
        and _spans(spec, each, claims[each.claim])
        and any(_covers(each, value) for value in found)
    )


def in_words(spec: FigureSpec, values: Iterable[Value]) -> tuple[float, float] | None:
    """The part of the x axis that the paper's words name for these values."""
    found = list(values)
    named = (each.words for each in spec.paper if each.words and any(_covers(each, value) for value in found))
    return next(((low, high) for low, high in named), None)


def _numbers(spec: FigureSpec) -> list[PaperValue]:
    """What the paper says in numbers."""
    return [each for each in spec.paper if not each.words]


def _covers(each: PaperValue, value: Value) -> bool:
    labels = {**value.labels, METRICS: value.metric}
    return all(labels.get(key) == label for key, label in each.at.items())


def _spans(spec: FigureSpec, each: PaperValue, claim: Claim) -> bool:
    """Whether the numbers are extremes over an axis: a range, or one number for all of x."""
    return claim.low is not None or (claim.value is not None and spec.plot.x not in each.at)


def _several(claim: Claim) -> tuple[float, ...]:
    return tuple(number for number in (claim.value, claim.low, claim.high) if number is not None)


def _number(claim: Claim, each: PaperValue, place: str, placed: bool) -> float | None:
    """A claim's one number; or of its `values` the entry, or the place's, or the place's entry."""
    if claim.value is not None:
        return claim.value
    values: Any = claim.values or {}
    found: Any = values if placed else values.get(place)
    number: float | None = _entry(claim, found, each.entry) if isinstance(found, dict) else found
    return number


def _entry(claim: Claim, values: Mapping[str, float], entry: str | None) -> float:
    if entry is None or entry not in values:
        wrong = "needs an entry" if entry is None else f"has no entry `{entry}`"
        raise InputError(f"claim {claim.id} {wrong}: use one of {', '.join(values)}")
    return values[entry]
