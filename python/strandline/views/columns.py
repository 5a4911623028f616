"""Records as columns, for files and for data frames."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strandline.records import Record
from strandline.views.parquet import Kind, Value

KINDS = {"int": Kind.INT, "float": Kind.FLOAT, "str": Kind.TEXT, "bool": Kind.BOOL, "dict": Kind.TEXT}
"""The type of a column, from the type of its key."""


@dataclass(frozen=True)
class Columns:
    """Equally long columns, and the types of those that may have no value."""

    values: Mapping[str, Sequence[Value]]
    empty: Mapping[str, Kind] = field(default_factory=dict)


def of_records(records: Sequence[Record], keys: Sequence[Mapping[str, Any]] = ()) -> Columns:
    """A column a key; maps such as `params` are JSON text. `keys` is the listing of that name, which has the types."""
    rows = [record.fields for record in records]
    types = {key["name"]: KINDS[key["type"].removesuffix(" | None")] for key in keys}
    return Columns(of_rows(rows).values, types)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """A column a key of any row; null where a row lacks it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return Columns({name: [cell(row.get(name)) for row in rows] for name in names})


def cell(value: Any) -> Value:
    """A value as a cell: maps and lists are JSON text."""
    return json.dumps(value) if isinstance(value, dict | list | tuple) else value
