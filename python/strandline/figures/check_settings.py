"""Checks that a figure's settings exist, and that nothing else sets the searched key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from strandline.figures.schema import KeyPath
from strandline.figures.spec import OVERRIDES, RUN_KEYS, Axis, FigureSpec, Point, RunKeys, Search, TimelineFigure
from strandline.figures.toml_file import DocumentError, convert, no_twice, require

MEND = f"use one of {', '.join(RUN_KEYS)}, or a quoted one with `{'`, `'.join(OVERRIDES)}`"


def check(spec: FigureSpec) -> None:
    """A `DocumentError` for an unknown setting, a setting of the wrong type, or an impossible search."""
    for path, key, value in _settings(spec):
        _check_setting(path, key, value)
    for at, point in _points(spec):
        for key in point.without:
            _check_known((*at, "without"), key)
    _check_search(spec)


def check_timeline(figure: TimelineFigure) -> None:
    """A `DocumentError` for an unknown setting, or one of the wrong type."""
    for key, value in figure.fixed.items():
        _check_setting(("fixed", key), key, value)
    for number, run in enumerate(figure.timeline.runs):
        for key, value in run.settings.items():
            _check_setting(("timeline", "runs", number, "settings", key), key, value)


def _settings(spec: FigureSpec) -> Iterator[tuple[KeyPath, str, Any]]:
    """Each setting, and its path."""
    yield from (((("fixed", key)), key, value) for key, value in spec.fixed.items())
    for at, point in _points(spec):
        yield from (((*at, "settings", key), key, value) for key, value in point.settings.items())


def _points(spec: FigureSpec) -> Iterator[tuple[KeyPath, Point]]:
    for number, axis in enumerate(spec.axes):
        yield from ((("axes", number, "points", place), point) for place, point in enumerate(axis.points))


def _check_setting(path: KeyPath, key: str, value: Any) -> None:
    """The simulator checks the values of overrides."""
    _check_known(path, key)
    if key in RUN_KEYS:
        convert({key: value}, RunKeys, path[:-1])


def _check_known(path: KeyPath, key: str) -> None:
    require(key in RUN_KEYS or key.startswith(OVERRIDES), path, f"unknown setting `{key}`: {MEND}", key, RUN_KEYS)


def _check_search(spec: FigureSpec) -> None:
    searching = [number for number, axis in enumerate(spec.axes) if any(point.finder for point in axis.points)]
    for number in searching:
        _check_finders(number, spec.axes[number], spec.search)
    if len(searching) > 1:
        second = searching[1]
        point = next(index for index, point in enumerate(spec.axes[second].points) if point.finder)
        raise DocumentError(
            ("axes", second, "points", point, "search"), "points of two axes search: let only one search"
        )
    if spec.search is not None:
        _check_searched(spec.search)
        _check_free(spec, spec.search)


def _check_finders(number: int, axis: Axis, search: Search | None) -> None:
    """Points search only in a figure with a search, and use values of points that search themselves."""
    own = [point.label for point in axis.points if point.search is True]
    mend = f"use true, or one of {', '.join(own)}" if own else "use true"
    for place, point in enumerate(axis.points):
        at = ("axes", number, "points", place, "search")
        require(
            search is not None or point.finder is None,
            at,
            f"axis {axis.key} searches, but there is no [search]: add it with key, title and values",
        )
        require(
            point.finder is None or point.finder in own,
            at,
            f"`{point.finder}` is no point that searches for itself: {mend}",
            str(point.finder),
            own,
        )


def _check_searched(search: Search) -> None:
    _check_known(("search", "key"), search.key)
    no_twice(("search", "values"), search.values)
    for value in search.values:
        _check_setting(("search", "values", search.key), search.key, value)


def _check_free(spec: FigureSpec, search: Search) -> None:
    """Nothing else may set the searched key, because the search would then have no effect."""
    require(search.key not in spec.fixed, ("fixed", search.key), "is searched: leave it out of [fixed]")
    some = any(point.finder for axis in spec.axes for point in axis.points)
    for number, axis in enumerate(spec.axes):
        choosing = any(point.finder for point in axis.points)
        for place, point in enumerate(axis.points):
            sets = search.key in point.settings or search.key in point.without
            require(
                not sets or (some and choosing and not point.finder),
                ("axes", number, "points", place, search.key),
                f"is searched: leave it out of point {point.label}",
            )
