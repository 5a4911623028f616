"""What runs count, side by side: asked for by name, below the table of `strandline run`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from strandline.records import Record
from strandline.views.numbers import percent, significant, whole
from strandline.views.page import DIM, Line
from strandline.views.table import Column, Table

COLUMNS = (
    Column("counter", numeric=False),
    Column("design", numeric=False, prose=True),
    Column("value"),
    Column("rate"),
)

Listing = Sequence[Mapping[str, Any]]
"""Of designs, or of keys of a record."""

SHARED = (
    "epochs",
    "cross_dependences",
    "blocking_dependences",
    "dependence_wait_cycles",
    "bloom_lookups",
    "bloom_false_positives",
    "coalesced",
)
"""Counters of several designs that explain those of one."""


def of_designs(designs: Listing, keys: Listing) -> list[str]:
    """The counters that only some designs have, in the order of a record."""
    own = {name for design in designs for name in design.get("counters", ())}
    return [key["name"] for key in keys if key["name"] in own or key["name"] in SHARED]


def counts(records: Sequence[Record], names: Collection[str], keys: Listing) -> Iterator[Table | Line]:
    """A row for each value of a counter, with the designs that have it; then the counters that are equal everywhere.

    The rate of a count is per microsecond of the run. That of a time is its share of all cores' time.
    """
    rows, equal = list[tuple[str, ...]](), dict[str, list[str]]()
    for key in keys:
        groups = _groups(records, key) if key["name"] in names else {}
        (value, _), those = next(iter(groups.items()), (("", ""), []))
        if len(groups) == 1 and len(records) > 1 and (value == "0" or len(those) == len(records)):
            equal.setdefault(value, []).append(key["name"])
        else:
            rows += [(key["name"], ", ".join(those), *shown) for shown, those in groups.items()]
    if rows:
        yield Table(COLUMNS, tuple(rows))
    for value, those in equal.items():
        yield Line(f"{value} in all runs that count them: {', '.join(those)}", DIM, folds=True)


def _groups(records: Sequence[Record], key: Mapping[str, Any]) -> dict[tuple[str, str], list[str]]:
    """The designs by what is shown of them; none of those without a value."""
    groups = dict[tuple[str, str], list[str]]()
    for record in records:
        if record.fields.get(key["name"]) is not None:
            groups.setdefault(_values(record, key), []).append(record.text("design"))
    return groups


def _values(record: Record, key: Mapping[str, Any]) -> tuple[str, str]:
    count = record.number(key["name"])
    if key["adds"] != "sum":
        return whole(count) if isinstance(count, int) else significant(count), "-"
    if key["unit"] == "cycles":
        return whole(count), percent(count, record.number("cycles") * record.number("cores"))
    microseconds = record.number("cycles") / record.clock_ghz / 1000
    return whole(count), f"{significant(count / microseconds)}/µs"
