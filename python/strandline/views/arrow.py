"""Columns as an Arrow stream, which polars, pandas and duckdb take."""

from __future__ import annotations

from strandline.views.columns import Columns
from strandline.views.parquet import Kind, kind_of


def stream(columns: Columns, requested_schema: object = None) -> object:
    """The capsule of the Arrow PyCapsule interface: one batch of all rows."""
    import nanoarrow as arrow

    types = {
        Kind.BOOL: arrow.bool_(),
        Kind.INT: arrow.int64(),
        Kind.UNSIGNED: arrow.uint64(),
        Kind.FLOAT: arrow.float64(),
        Kind.TEXT: arrow.string(),
    }
    kinds = {name: kind_of(values, columns.empty.get(name, Kind.TEXT)) for name, values in columns.values.items()}
    arrays = [
        arrow.c_array(
            [str(value) if kind is Kind.TEXT and value is not None else value for value in values], types[kind]
        )
        for kind, values in zip(kinds.values(), columns.values.values(), strict=True)
    ]
    rows = len(next(iter(columns.values.values()), ()))
    schema = arrow.struct({name: types[kind] for name, kind in kinds.items()})
    batch = arrow.c_array_from_buffers(schema, rows, [None], children=arrays)
    return arrow.ArrayStream(batch).__arrow_c_stream__(requested_schema)
