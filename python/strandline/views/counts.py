"""What a design counts that no other does, below the table of `strandline run`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from strandline.records import Record
from strandline.views.numbers import percent, significant, whole
from strandline.views.table import Column, Table

COLUMNS = (
    Column("design", numeric=False),
    Column("counter", numeric=False),
    Column("count"),
    Column("rate"),
    Column("what", numeric=False, prose=True),
)

Listing = Sequence[Mapping[str, Any]]
"""Of designs, or of keys of a record."""


def counts(records: Sequence[Record], designs: Listing, keys: Listing) -> Table | None:
    """The counts of the designs that have counters of their own: these, and those that other designs have, too.

    The rate of a count is per microsecond of the run. That of a time is its share of all cores' time.
    """
    own = {design["name"] for design in designs if design.get("counters")}
    counters = _counters(keys, {name for design in designs for name in design.get("counters", ())})
    rows = [
        (record.text("design"), counter["name"], *_values(record, counter), counter["summary"])
        for record in records
        if record.text("design") in own
        for counter in counters
        if record.fields.get(counter["name"]) is not None
    ]
    return Table(COLUMNS, tuple(rows)) if rows else None


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


def _counters(keys: Listing, own: Collection[str]) -> list[Mapping[str, Any]]:
    """In the order of a record."""
    return [key for key in keys if key["name"] in own or key["name"] in SHARED]


def _values(record: Record, counter: Mapping[str, Any]) -> tuple[str, str]:
    count = record.number(counter["name"])
    if counter["unit"] == "cycles":
        return whole(count), percent(count, record.number("cycles") * record.number("cores"))
    if counter["adds"] != "sum":
        return whole(count), "-"
    microseconds = record.number("cycles") / record.clock_ghz / 1000
    return whole(count), f"{significant(count / microseconds)}/µs"
