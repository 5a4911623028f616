"""Records as a table of a page: what is common to all stands above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.records import ORIGIN, Record
from strandline.views.collection.machines import Presets
from strandline.views.numbers import number
from strandline.views.promises import NOT_PROMISED, Promises
from strandline.views.table import NOTHING, Alarm, Column, Table

SETTINGS = "settings"
"""The column of what differs from the preset."""

OF_RUNS = (
    "workload",
    "design",
    "machine",
    "runtime",
    "threads",
    "window",
    "tasks",
    "seed",
    SETTINGS,
    "cycles",
    "instructions",
    "stores",
    "flushes",
    "fences",
    "fence_stall_cycles",
    "window_fence_stall_cycles",
    "buffer_stall_cycles",
    "design_stall_cycles",
    "queue_persist_stall_cycles",
    "pm_writes",
    "recovers",
)
"""The columns of a run, in this order: its keys, and what differs from the preset."""

PRESET = "preset"
"""The cell of that column where nothing differs."""
COMMAND = "command"
"""The column of the command's number in the list of commands."""

Cells = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """The shown part of some records."""

    common: Mapping[str, str]
    """What all of them have in common; empty for one record."""
    table: Table


def shown(records: Sequence[Record], commands: Sequence[str], presets: Presets) -> Shown:
    """The table of records. Columns without a value are left out."""
    promises = Promises.of(presets.engine.listing)
    rows = [_cells(record, commands, presets, promises) for record in records]
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if _has_value(rows, name)]
    common = {name: _text(name, rows[0][name]) for name in names if len(rows) > 1 and _is_common(rows, name)}
    left = [name for name in names if name not in common]
    columns = tuple(Column(name, numeric=_is_numeric(rows, name)) for name in left)
    return Shown(common, Table(columns, tuple(tuple(_text(name, row.get(name)) for name in left) for row in rows)))


def _cells(record: Record, commands: Sequence[str], presets: Presets, promises: Promises) -> Cells:
    """A row: of a run what `OF_RUNS` names, of a state of a litmus test all that it has."""
    fields = record.fields
    if "cycles" not in fields:
        return {key: value for key, value in fields.items() if key not in ORIGIN}
    own = {**{key: fields.get(key) for key in OF_RUNS}, SETTINGS: presets.settings(record) or PRESET}
    own["design"] = promises.name(record.text("design"))
    if own["recovers"] is not None and not promises.made(record):
        own["recovers"] = NOT_PROMISED
    numbered = {COMMAND: commands.index(fields[COMMAND]) + 1} if fields.get(COMMAND) in commands else {}
    return {**own, **(numbered if len(commands) > 1 else {})}


def _has_value(rows: Sequence[Cells], name: str) -> bool:
    return any(row.get(name) is not None for row in rows)


def _is_common(rows: Sequence[Cells], name: str) -> bool:
    return all(row.get(name) == rows[0].get(name) for row in rows)


def _is_numeric(rows: Sequence[Cells], name: str) -> bool:
    values = [row.get(name) for row in rows]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values if value is not None)


def _text(name: str, value: Any) -> str:
    if value is None:
        return NOTHING
    if value is False and name == "recovers":
        return Alarm("NO")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)
