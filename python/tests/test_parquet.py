"""Parquet files, read by another library."""

from __future__ import annotations

import random
from collections.abc import Callable
from io import BytesIO
from typing import Any

import polars
import pytest

from strandline.views.columns import Columns, Kind
from strandline.views.parquet import table

TYPES = {
    Kind.BOOL: polars.Boolean,
    Kind.INT: polars.Int64,
    Kind.UNSIGNED: polars.UInt64,
    Kind.FLOAT: polars.Float64,
    Kind.TEXT: polars.String,
}


def read(columns: dict[str, list[Any]], empty: dict[str, Kind] | None = None) -> polars.DataFrame:
    return polars.read_parquet(BytesIO(table(Columns(columns, empty or {}))))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -5, None, 2**63 - 1, -(2**63)], Kind.INT),
        ([0, 2**64 - 1], Kind.UNSIGNED),
        ([0.1, None, -1e300], Kind.FLOAT),
        ([True, False, None, True, True, False, False, True, True, None], Kind.BOOL),
        (["", "é ✓", None, "a" * 1000], Kind.TEXT),
    ],
)
def test_values_come_back_with_their_type(values: list[Any], kind: Kind) -> None:
    column = read({"x": values})["x"]
    assert column.to_list() == values
    assert column.dtype == TYPES[kind]


def test_numbers_of_two_types_are_floats_and_others_are_text() -> None:
    frame = read({"a": [1, 0.5], "b": [1, "x"], "c": [-1, 2**63]})
    assert frame["a"].to_list() == [1.0, 0.5]
    assert frame["b"].to_list() == ["1", "x"]
    assert frame["c"].to_list() == ["-1", str(2**63)]


@pytest.mark.parametrize("kind", list(Kind))
def test_a_column_without_a_value_has_the_given_type(kind: Kind) -> None:
    column = read({"x": [None] * 3}, {"x": kind})["x"]
    assert column.to_list() == [None] * 3
    assert column.dtype == TYPES[kind]


def test_a_table_may_have_no_rows_and_many_columns() -> None:
    assert read({"x": [], "y": []}).shape == (0, 2)
    assert read({f"column {index}": [index] for index in range(300)}).row(0) == tuple(range(300))


def test_random_tables_come_back() -> None:
    draw = random.Random(1)  # noqa: S311
    make: dict[int, Callable[[], Any]] = {
        0: lambda: draw.randint(-(2**40), 2**40),
        1: lambda: draw.random(),
        2: lambda: draw.choice([True, False]),
        3: lambda: "".join(draw.choices("abcé\n\0", k=draw.randint(0, 40))),
    }
    for _ in range(50):
        rows = draw.randint(1, 400)
        kinds = [draw.randint(0, 3) for _ in range(draw.randint(1, 20))]
        columns = {
            f"c{index}": [make[kind]() if draw.random() < 0.8 else None for _ in range(rows)]
            for index, kind in enumerate(kinds)
        }
        assert read(columns).to_dict(as_series=False) == columns


def test_a_file_says_nothing_of_when_it_was_written() -> None:
    gzip_without_time = b"\x1f\x8b\x08" + bytes(5)
    assert gzip_without_time in table(Columns({"x": [1, 2]}))
