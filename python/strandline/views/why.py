"""Where the cycles of runs went: a class a cycle, the same classes for all designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.records import Record, spent
from strandline.views.numbers import percent, whole
from strandline.views.page import DIM, Line
from strandline.views.table import NOTHING, Column, Table

Classes = Sequence[Mapping[str, Any]]
"""The listing of the classes: their names, what each is, and whether it orders persists."""

PERSISTS = "waits for persists"

FEW = 2
"""Parts of these waits in a design's line."""

LEAST = 0.005
"""The share below which a class is left out."""


def table(records: Sequence[Record], classes: Classes) -> Table:
    """A row a class that occurs, a column a design: shares of all cores' cycles."""
    found = [spent(record) for record in records]
    columns = (Column("cycles", numeric=False), *(Column(record.text("design")) for record in records))
    rows = [("in all", *(whole(sum(cycles.values())) for cycles in found))]
    for orders in (False, True):
        those = [each for each in classes if each["orders"] is orders]
        if orders:
            sums = [sum(cycles[each["name"]] for each in those) for cycles in found]
            rows.append((PERSISTS, *(_share(part, cycles) for part, cycles in zip(sums, found, strict=True))))
        indent = "  " if orders else ""
        rows.extend(
            (f"{indent}{words(each)}", *(_share(cycles[each["name"]], cycles) for cycles in found))
            for each in those
            if occurs(each, found)
        )
    return Table(columns, tuple(rows), keys=1)


def lines(records: Sequence[Record], classes: Classes) -> list[Line]:
    """A line a design: its fences, what ordering takes of the cycles, and what that is."""
    return [Line(line(record, classes), folds=True) for record in records]


def line(record: Record, classes: Classes) -> str:
    """The line of one design."""
    cycles = spent(record)
    every = sum(cycles.values())
    parts = {words(each): cycles[each["name"]] for each in classes if each["orders"]}
    waits, fences = sum(parts.values()), record.count("fences")
    most = [part for part in sorted(parts, key=lambda part: -parts[part])[:FEW] if parts[part] >= LEAST * every > 0]
    said = f"{record.text('design')}: {percent(waits, every)} of the cycles wait for persists"
    if not most:
        return said
    if fences:
        each = (f"{whole(parts[part] / fences)} for {part}" for part in most)
        return f"{said}: {whole(fences)} fences, {whole(waits / fences)} cycles each ({', '.join(each)})"
    return f"{said} ({', '.join(f'{percent(parts[part], every)} for {part}' for part in most)})"


def shares(record: Record) -> str:
    """The classes of a run in a line, the largest first; nothing if they are not known."""
    if "why" not in record.fields.get("params", {}):
        return ""
    cycles = spent(record)
    every = sum(cycles.values())
    largest = sorted((name for name in cycles if cycles[name] >= LEAST * every > 0), key=lambda name: -cycles[name])
    return ", ".join(f"{name.replace('_', ' ')} {percent(cycles[name], every)}" for name in largest)


def legend(records: Sequence[Record], classes: Classes) -> list[Line]:
    """What each class is that occurs, and up to which cycle of which run they are known."""
    found = [spent(record) for record in records]
    shown = [each for each in classes if occurs(each, found)]
    said = [Line(f"{words(each)}: {each['summary']}", DIM, folds=True) for each in shown]
    for record in records:
        if (until := record["params"]["why"]["until"]) is not None:
            said.append(
                Line(f"{record.text('design')}: of its first {until:,} cycles; there were too many operations", DIM)
            )
    return said


def occurs(entry: Mapping[str, Any], found: Sequence[Mapping[str, float]]) -> bool:
    """Whether a class has a share of some run's cycles that one can see."""
    return any(cycles[entry["name"]] >= LEAST * sum(cycles.values()) > 0 for cycles in found)


def words(entry: Mapping[str, Any]) -> str:
    """A class in words."""
    return str(entry["name"]).replace("_", " ")


def _share(part: float, cycles: Mapping[str, float]) -> str:
    return percent(part, sum(cycles.values())) if part else NOTHING
