"""A table as a file of Apache Parquet: one row group, a page for each column, its values plain and compressed by gzip.

Source: the Parquet format and Thrift's compact protocol (apache/parquet-format, `parquet.thrift`).
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from strandline.views.columns import Columns, Kind, Value

MAGIC = b"PAR1"
BY = b"strandline"


TYPES: Mapping[Kind, tuple[int, int | None]] = {
    Kind.BOOL: (0, None),
    Kind.INT: (2, None),
    Kind.UNSIGNED: (2, 14),
    Kind.FLOAT: (5, None),
    Kind.TEXT: (6, 0),
}
"""By the type of a column: its number in Parquet, and the converted type that says more, if any."""


def table(columns: Columns) -> bytes:
    """The file of a table."""
    out = bytearray(MAGIC)
    chunks = [_chunk(out, name, kind, values) for name, (kind, values) in columns.typed().items()]
    footer = _metadata(chunks, columns.rows)
    return bytes(out) + footer + struct.pack("<I", len(footer)) + MAGIC


def is_ours(content: bytes) -> bool:
    """Whether a file was written by `table`."""
    return content.startswith(MAGIC) and content.endswith(MAGIC) and BY in content


@dataclass(frozen=True)
class _Chunk:
    """A column in the file."""

    name: str
    kind: Kind
    at: int
    rows: int
    plain_bytes: int
    stored_bytes: int


def _chunk(out: bytearray, name: str, kind: Kind, values: Sequence[Value]) -> _Chunk:
    """Appends a column's page."""
    levels = _levels(values)
    page = struct.pack("<I", len(levels)) + levels + _plain(kind, [value for value in values if value is not None])
    stored = gzip.compress(page, mtime=0)
    data, uncompressed, gzipped = 0, len(page), len(stored)
    header = _struct(
        (1, _i32(data)),
        (2, _i32(uncompressed)),
        (3, _i32(gzipped)),
        (5, (STRUCT, _struct((1, _i32(len(values))), (2, _i32(PLAIN)), (3, _i32(RLE)), (4, _i32(RLE))))),
    )
    at = len(out)
    out += header + stored
    return _Chunk(name, kind, at, len(values), len(header) + uncompressed, len(header) + gzipped)


def _levels(values: Sequence[Value]) -> bytes:
    """Whether each row has a value, as runs of equal ones."""
    out = bytearray()
    index = 0
    while index < len(values):
        has = values[index] is not None
        end = index
        while end < len(values) and (values[end] is not None) == has:
            end += 1
        out += _varint((end - index) << 1) + bytes([has])
        index = end
    return bytes(out)


def _plain(kind: Kind, values: Sequence[Value]) -> bytes:
    if kind is Kind.BOOL:
        bits = bytearray((len(values) + 7) // 8)
        for index, value in enumerate(values):
            bits[index // 8] |= bool(value) << index % 8
        return bytes(bits)
    if kind is Kind.TEXT:
        texts = (str(value).encode() for value in values)
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    code = {Kind.INT: "q", Kind.UNSIGNED: "Q", Kind.FLOAT: "d"}[kind]
    return struct.pack(f"<{len(values)}{code}", *values)


PLAIN, RLE = 0, 3
GZIP = 2
OPTIONAL = 1

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
"""Types of Thrift's compact protocol."""

_Field: TypeAlias = tuple[int, tuple[int, bytes]]


def _metadata(chunks: Sequence[_Chunk], rows: int) -> bytes:
    root = _struct((4, _text("records")), (5, _i32(len(chunks))))
    schema = [root, *(_element(chunk) for chunk in chunks)]
    size = sum(chunk.plain_bytes for chunk in chunks)
    group = _struct((1, _list(STRUCT, [_column(chunk) for chunk in chunks])), (2, _i64(size)), (3, _i64(rows)))
    return _struct(
        (1, _i32(1)),
        (2, _list(STRUCT, schema)),
        (3, _i64(rows)),
        (4, _list(STRUCT, [group])),
        (6, _text(BY.decode())),
    )


def _element(chunk: _Chunk) -> bytes:
    number, converted = TYPES[chunk.kind]
    fields: list[_Field] = [(1, _i32(number)), (3, _i32(OPTIONAL)), (4, _text(chunk.name))]
    if converted is not None:
        fields.append((6, _i32(converted)))
    return _struct(*fields)


def _column(chunk: _Chunk) -> bytes:
    meta = _struct(
        (1, _i32(TYPES[chunk.kind][0])),
        (2, _list(I32, [_zigzag(PLAIN), _zigzag(RLE)])),
        (3, _list(BINARY, [_sized(chunk.name.encode())])),
        (4, _i32(GZIP)),
        (5, _i64(chunk.rows)),
        (6, _i64(chunk.plain_bytes)),
        (7, _i64(chunk.stored_bytes)),
        (9, _i64(chunk.at)),
    )
    return _struct((2, _i64(chunk.at)), (3, (STRUCT, meta)))


def _struct(*fields: _Field) -> bytes:
    """A struct of fields with ascending numbers."""
    out, before = bytearray(), 0
    for number, (kind, content) in fields:
        out += bytes([(number - before) << 4 | kind]) + content
        before = number
    return bytes(out) + b"\0"


def _list(kind: int, items: Sequence[bytes]) -> tuple[int, bytes]:
    short = len(items) < 15
    head = bytes([len(items) << 4 | kind]) if short else bytes([0xF0 | kind]) + _varint(len(items))
    return LIST, head + b"".join(items)


def _i32(value: int) -> tuple[int, bytes]:
    return I32, _zigzag(value)


def _i64(value: int) -> tuple[int, bytes]:
    return I64, _zigzag(value)


def _text(value: str) -> tuple[int, bytes]:
    return BINARY, _sized(value.encode())


def _sized(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _zigzag(value: int) -> bytes:
    return _varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])
