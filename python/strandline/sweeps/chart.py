"""A sweep as a chart: a panel a quantity, along the setting with the most numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.errors import InputError
from strandline.records import SPEEDUP
from strandline.sweeps.spec import Sweep
from strandline.sweeps.values import PointValues, title
from strandline.views.chart import Chart, Kind, Panel, Series
from strandline.views.interval import PER_CENT, Interval
from strandline.words import word

AS_LINES = 3
"""Numbers along an axis from which on values are joined by lines."""


def chart(sweep: Sweep, points: Sequence[PointValues], shown: Sequence[str]) -> Chart:
    """The shown quantities of the points; an `InputError` if the sweep does not show one, or no series has values."""
    for name in shown:
        if name not in sweep.shown:
            raise InputError(f"{name}: the sweep does not show it, but {', '.join(sweep.shown)}: add it to `show`")
    along = _along(sweep, points)
    found = {name: _series(points, name, along) for name in shown}
    if not any(found.values()):
        raise InputError(f"{', '.join(shown)}: no series of runs has a value at each {along}: show another quantity")
    panels = [
        Panel(None, series, y_title=title(name), normalised=name == SPEEDUP) for name, series in found.items() if series
    ]
    numbers = _numbers(points, along)
    several = any(series.whiskers for panel in panels for series in panel.series)
    return Chart(
        kind=Kind.LINES if numbers is not None and len(numbers) >= AS_LINES else Kind.BARS,
        title=sweep.file.title or "Sweep",
        source=", ".join(f"{key} {word(value)}" for key, value in sweep.file.fixed.items()),
        x_title=along,
        y_title=title(shown[0]),
        shared_y=len(panels) == 1,
        places=_places(points, along),
        panels=tuple(panels),
        headings=("quantity", _others(sweep, along), ""),
        note=None,
        log_x=False,
        legend=_others(sweep, along),
        remarks=(f"mean over seeds, and its {PER_CENT} % interval",) if several else (),
    )


def _along(sweep: Sweep, points: Sequence[PointValues]) -> str:
    """The varied setting with the most numbers, or else with the most values."""
    keys = sweep.varied or ["workload"]
    return max(keys, key=lambda key: (_numbers(points, key) is not None, len(_places(points, key)), -keys.index(key)))


def _places(points: Sequence[PointValues], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_text(point.settings, key) for point in _ordered(points, key)))


def _ordered(points: Sequence[PointValues], key: str) -> list[PointValues]:
    numbers = _numbers(points, key)
    return list(points) if numbers is None else sorted(points, key=lambda point: float(str(point.settings[key])))


def _numbers(points: Sequence[PointValues], key: str) -> set[float] | None:
    """The values of a setting if all of them are numbers."""
    values = [point.settings.get(key) for point in points]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        return None
    return {float(str(each)) for each in values}


def _others(sweep: Sweep, along: str) -> str:
    return ", ".join(key for key in sweep.varied if key != along)


def _series(points: Sequence[PointValues], name: str, along: str) -> tuple[Series, ...]:
    """A series for each combination of the other settings that has a value at each place."""
    places = _places(points, along)
    found: dict[str, dict[str, Interval]] = {}
    for point in points:
        others = {key: value for key, value in point.settings.items() if key != along}
        label = ", ".join(_text(others, key) for key in others) or title(name)
        if (value := point.values[name]) is not None:
            found.setdefault(label, {})[_text(point.settings, along)] = value
    whole = {label: [its[place] for place in places] for label, its in found.items() if len(its) == len(places)}
    return tuple(
        Series(
            label=label,
            values=tuple(value.mean for value in values),
            paper=(None,) * len(places),
            notes=(None,) * len(places),
            whiskers=tuple(value.ends for value in values) if any(value.ends for value in values) else (),
        )
        for label, values in whole.items()
    )


def _text(settings: Mapping[str, Any], key: str) -> str:
    return word(settings.get(key, "-"))
