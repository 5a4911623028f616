"""Columns as an Arrow stream, which polars, pandas and duckdb take."""

from __future__ import annotations

from strandline.views.columns import Columns, Kind


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
    typed = columns.typed()
    arrays = [arrow.c_array(values, types[kind]) for kind, values in typed.values()]
    schema = arrow.struct({name: types[kind] for name, (kind, _) in typed.items()})
    batch = arrow.c_array_from_buffers(schema, columns.rows, [None], children=arrays)
    return arrow.ArrayStream(batch).__arrow_c_stream__(requested_schema)
