"""Reads `[search]` of a figure's file, and checks what the points say of it."""

from __future__ import annotations

from collections.abc import Sequence

from strandline.experiments import setting
from strandline.experiments.document import Section
from strandline.experiments.spec import Axis, Point, Search, Settings

Axes = Sequence[tuple[Section, Axis]]


def read(top: Section, fixed: Settings, axes: Axes) -> Search | None:
    """The search of a figure; `None` where it searches nothing."""
    search = _search(top.section("search")) if "search" in top.keys else None
    searching = [(section, axis) for section, axis in axes if any(point.finder for point in axis.points)]
    for section, axis in searching:
        if search is None:
            raise section.error("search", f"axis {axis.key} searches, but what? add [search] with key and values")
        _check_finders(section, axis)
    if len(searching) > 1:
        raise searching[1][0].error("search", "points of two axes search: leave it to one")
    if search is not None:
        _check_free(search, top, fixed, axes, bool(searching))
    return search


def _search(section: Section) -> Search:
    section.only(("key", "title", "values", "least"))
    key = section.take("key", str)
    if not setting.known(key):
        raise section.error("key", f"unknown setting `{key}`: {setting.MEND}")
    values = section.take("values", list)
    if not values or len(set(map(str, values))) < len(values):
        raise section.error("values", "needs at least one value, none twice")
    for value in values:
        setting.check_value(section, key, value)
    least = section.take("least", str, "cycles_per_task")
    return Search(key, section.take("title", str), tuple(values), least)


def _check_finders(section: Section, axis: Axis) -> None:
    own = [point.label for point in axis.points if point.finder == point.label]
    for point in axis.points:
        if point.finder is not None and point.finder not in own:
            mend = f"use true, or one of {', '.join(own)}" if own else "use true"
            raise section.error("search", f"`{point.finder}` is no point that searches for itself: {mend}")


def _check_free(search: Search, top: Section, fixed: Settings, axes: Axes, some: bool) -> None:
    """What is searched may be set by nothing else, or the search would find nothing."""
    if search.key in fixed:
        raise top.section("fixed").error(search.key, "is searched: leave it out of [fixed]")
    for section, axis in axes:
        choosing = any(point.finder for point in axis.points)
        for point in axis.points:
            if _sets(point, search) and (not some or not choosing or point.finder):
                raise section.error(search.key, f"is searched: leave it out of point {point.label}")


def _sets(point: Point, search: Search) -> bool:
    return search.key in point.settings or search.key in point.without
