"""The keys of a record as a table of the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from strandline.views.table import Column, Table

ADDS = {"given": "", "sum": "sum", "max": "maximum", "derived": "derived"}


def markdown(keys: Sequence[Mapping[str, Any]]) -> str:
    """The listing of keys as a table: one row each, and one row for adjacent keys with the same meaning."""
    columns = tuple(Column(title, numeric=False) for title in ("key", "unit", "adds up", "what"))
    groups = [list(group) for _, group in groupby(keys, key=lambda key: (key["summary"], key["unit"], key["adds"]))]
    return Table(columns, tuple(_row(group) for group in groups)).markdown()


def _row(keys: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = ", ".join(f"`{key['name']}`" for key in keys)
    return names, keys[0]["unit"], ADDS[keys[0]["adds"]], keys[0]["summary"]
