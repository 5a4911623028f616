"""What a window does to each design, below the table of `strandline run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.records import Record, comparable
from strandline.views.numbers import whole
from strandline.views.runs import speedup

ByDefault = Mapping[str, Record]
"""By design, its run without `--window` and `--coroutines`, if they change it."""


def line(records: Sequence[Record], by_default: ByDefault) -> str | None:
    """What the window did to each design, if it did anything."""
    if not by_default:
        return None
    return f"window: {', '.join(_words(record, by_default.get(record.text('design'))) for record in records)}"


def _words(record: Record, usual: Record | None) -> str:
    name, here = record.text("design"), whole(record.number("window"))
    if usual is None:
        return f"{name} {here} (its default)"
    there, (library, other) = whole(usual.number("window")), map(_library, (record, usual))
    if other and library != other:
        here, there = f"{here} {library}", f"{there} {other}"
    return f"{name} {here} ({speedup(record, usual)} times as fast as with {there}, its default)"


def _library(record: Record) -> str | None:
    """The library of coroutines, if tasks share a thread."""
    return (record.fields.get("spec") or {}).get("coroutines")


def keys(records: Sequence[Record], by_default: ByDefault, baseline: Record) -> dict[str, Any]:
    """The same as keys of a JSON document, with the runs by default; empty if the window did nothing."""
    if not by_default:
        return {}
    return {
        "windows": [_keys(record, by_default.get(record.text("design"), record)) for record in records],
        "by_default": [record.fields for record in by_default.values()],
        "baseline": baseline.fields,
    }


def _keys(record: Record, usual: Record) -> dict[str, Any]:
    faster = comparable(usual, "cycles") / comparable(record, "cycles")
    names = {"design": record.text("design"), "window": record.count("window")}
    return {**names, "window_by_default": usual.count("window"), "speedup_over_default": faster}
