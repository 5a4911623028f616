"""Records as columns, for files and for data frames."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeAlias

from strandline.records import Record

Value: TypeAlias = bool | int | float | str | None


class Kind(Enum):
    """A column's type."""

    BOOL = auto()
    INT = auto()
    UNSIGNED = auto()
    FLOAT = auto()
    TEXT = auto()


KINDS = {"int": Kind.INT, "float": Kind.FLOAT, "str": Kind.TEXT, "bool": Kind.BOOL, "dict": Kind.TEXT}
"""The type of a column, from the type of its key."""
MOST_INT = 2**63 - 1


@dataclass(frozen=True)
class Columns:
    """Equally long columns, and the types of those that may have no value."""

    values: Mapping[str, Sequence[Value]]
    empty: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The length of a column."""
        return len(next(iter(self.values.values()), ()))

    def by_row(self) -> list[dict[str, Value]]:
        """The rows, by the names of the columns."""
        return [dict(zip(self.values, row, strict=True)) for row in zip(*self.values.values(), strict=True)]

    def typed(self) -> dict[str, tuple[Kind, Sequence[Value]]]:
        """The columns with their types. A column without a value has the type in `empty`, or is text."""
        kinds = {name: _kind(values, self.empty.get(name, Kind.TEXT)) for name, values in self.values.items()}
        return {
            name: (kind, [_text(value) for value in self.values[name]] if kind is Kind.TEXT else self.values[name])
            for name, kind in kinds.items()
        }


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


def _kind(values: Sequence[Value], empty: Kind) -> Kind:
    """The type that holds the values: `empty` if there are none; text if they have nothing else in common."""
    known = [value for value in values if value is not None]
    if not known:
        return empty
    types = {type(value) for value in known}
    if types == {bool}:
        return Kind.BOOL
    if types == {int}:
        low, high = min(known), max(known)
        unsigned = isinstance(high, int) and high > MOST_INT
        if not unsigned:
            return Kind.INT
        return Kind.UNSIGNED if isinstance(low, int) and low >= 0 else Kind.TEXT
    return Kind.FLOAT if types <= {int, float} else Kind.TEXT


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


def lines(records: Sequence[Record]) -> str:
    """Records as JSON, one on each line."""
    return "".join(f"{json.dumps(record.fields, allow_nan=False)}\n" for record in records)
