"""A Perfetto trace as the tables that Perfetto's trace processor makes of it, for SQL.

No package has the trace processor: `perfetto` loads it from a network when it is first asked. So the bytes are read
here, by Perfetto's published numbers of fields and its rules of import, without the library that writes them.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

PACKET = 1
TIMESTAMP, SEQUENCE, EVENT, DESCRIPTOR = 8, 10, 11, 60
"""Of a packet."""
UUID, NAME, PROCESS, PARENT, COUNTER = 1, 2, 3, 5, 8
"""Of a track's descriptor."""
PID, PROCESS_NAME = 1, 6
ANNOTATIONS, TYPE, TRACK, EVENT_NAME, VALUE, FLOWS = 4, 9, 11, 23, 30, 47
"""Of an event."""
KEY, INT, STRING = 10, 4, 6
"""Of an annotation."""
BEGIN, END, INSTANT, LEVEL = 1, 2, 3, 4

TABLES = """
create table process (upid integer primary key, pid integer, name text);
create table track (id integer primary key, name text, parent_id integer, upid integer, is_counter integer);
create table slice (id integer primary key, ts integer, dur integer, track_id integer, name text, depth integer);
create table args (slice_id integer, key text, value);
create table flow (slice_out integer, slice_in integer);
create table counter (ts integer, track_id integer, value integer);
"""

Message = dict[int, list[Any]]


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Each field's number and its value: a number, or bytes."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        if tag & 7 == 0:
            value, at = _number(data, at)
            yield tag >> 3, value
        elif tag & 7 == 1:
            yield tag >> 3, int.from_bytes(data[at : at + 8], "little")
            at += 8
        else:
            assert tag & 7 == 2, "a group, or a field of four bytes: a trace has none"
            size, at = _number(data, at)
            assert at + size <= len(data), "a field ends behind its message"
            yield tag >> 3, data[at : at + size]
            at += size


def _message(data: bytes) -> Message:
    fields: Message = defaultdict(list)
    for field, value in _fields(data):
        fields[field].append(value)
    return fields


def _first(message: Message, field: int) -> Any:
    values = message.get(field)
    return values[0] if values else None


def _text(message: Message, field: int) -> str | None:
    value = _first(message, field)
    return None if value is None else value.decode()


class Tables:
    """The tables of one trace."""

    def __init__(self, trace: bytes) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.executescript(TABLES)
        self._open: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._flows: dict[int, int] = {}
        self._process_of: dict[int, int] = {}
        packets = [_message(packet) for field, packet in _fields(trace) if field == PACKET]
        for packet in packets:
            if descriptor := _first(packet, DESCRIPTOR):
                self._track(_message(descriptor))
        events = [packet for packet in packets if packet.get(EVENT)]
        # The sorter keeps packets of one time in the order of the file.
        for packet in sorted(events, key=lambda packet: _first(packet, TIMESTAMP)):
            assert _first(packet, SEQUENCE), "an event of no sequence is dropped"
            self._event(_first(packet, TIMESTAMP), _message(_first(packet, EVENT)))
        assert not any(self._open.values()), "a slice without an end"

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows that a query answers."""
        return self._db.execute(sql).fetchall()

    def _track(self, of: Message) -> None:
        uuid, parent = _first(of, UUID), _first(of, PARENT)
        if process := _first(of, PROCESS):
            found = _message(process)
            self._process_of[uuid] = uuid
            self._insert("process", uuid, _first(found, PID), _text(found, PROCESS_NAME))
        else:
            self._process_of[uuid] = self._process_of[parent]
        self._insert("track", uuid, _text(of, NAME), parent, self._process_of[uuid], int(COUNTER in of))

    def _event(self, at: int, of: Message) -> None:
        track, kind = _first(of, TRACK), _first(of, TYPE)
        found = self._db.execute("select is_counter from track where id = ?", (track,)).fetchall()
        assert found == [(int(kind == LEVEL),)], "an event on no track, or on one of another kind"
        if kind == LEVEL:
            self._insert("counter", at, track, _first(of, VALUE))
        elif kind == END:
            slice_, begin = self._open[track].pop()
            self._db.execute("update slice set dur = ? where id = ?", (at - begin, slice_))
        else:
            assert kind in (BEGIN, INSTANT)
            self._slice(at, track, kind, of)

    def _slice(self, at: int, track: int, kind: int, of: Message) -> None:
        depth = len(self._open[track])
        ids = self._insert("slice", None, at, 0 if kind == INSTANT else -1, track, _text(of, EVENT_NAME), depth)
        if kind == BEGIN:
            self._open[track].append((ids, at))
        for flow in of.get(FLOWS, ()):
            if flow in self._flows:
                self._insert("flow", self._flows[flow], ids)
            self._flows[flow] = ids
        for annotation in map(_message, of.get(ANNOTATIONS, ())):
            number = _first(annotation, INT)
            self._insert("args", ids, _text(annotation, KEY), _text(annotation, STRING) if number is None else number)

    def _insert(self, table: str, *values: Any) -> int:
        places = ", ".join("?" * len(values))
        return self._db.execute(f"insert into {table} values ({places})", values).lastrowid or 0  # noqa: S608
