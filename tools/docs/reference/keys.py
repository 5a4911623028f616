"""Tables of keys: of a TOML table, generated from its struct, and of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec.inspect import Field, LiteralType, Metadata, StructType

from strandline.figures.schema import words
from strandline.views.table import Column, Table

COLUMNS = tuple(Column(title, numeric=False) for title in ("key", "value", "default", "what"))
ADDS = {"given": "", "sum": "sum", "max": "maximum", "derived": "derived"}


def record_keys(keys: Sequence[Mapping[str, Any]]) -> str:
    """The listing of a record's keys: one row each, and one row for adjacent keys with the same meaning."""
    columns = tuple(Column(title, numeric=False) for title in ("key", "unit", "adds up", "what"))
    groups = [list(group) for _, group in groupby(keys, key=lambda key: (key["summary"], key["unit"], key["adds"]))]
    return Table(columns, tuple(_row_of_record(group) for group in groups)).markdown()


def _row_of_record(keys: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = ", ".join(f"`{key['name']}`" for key in keys)
    return names, keys[0]["unit"], ADDS[keys[0]["adds"]], keys[0]["summary"]


def table(struct: type[msgspec.Struct]) -> str:
    """One row per key: its type, its default, its purpose."""
    kind = msgspec.inspect.type_info(struct)
    assert isinstance(kind, StructType)  # noqa: S101
    tag = (
        [(f"`{kind.tag_field}`", words(LiteralType((kind.tag,))), "needed", _first_line(struct))]
        if kind.tag_field
        else []
    )
    return Table(COLUMNS, (*tag, *map(_row, kind.fields))).markdown()


def _first_line(struct: type) -> str:
    line = (struct.__doc__ or "").partition("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def _row(field: Field) -> tuple[str, ...]:
    return f"`{field.encode_name}`", words(field.type), _default(field), _description(field)


def _default(field: Field) -> str:
    if field.required:
        return "needed"
    empty: tuple[Any, ...] = (None, "", (), msgspec.UNSET, msgspec.NODEFAULT)
    return "" if field.default in empty else f"`{_toml(field.default)}`"


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _description(field: Field) -> str:
    """The description of the field's type; a `ValueError` without one."""
    schema = field.type.extra_json_schema if isinstance(field.type, Metadata) else None
    if not schema:
        raise ValueError(f"the key `{field.name}` has no description: add one by `says(...)`")
    return str(schema["description"])
