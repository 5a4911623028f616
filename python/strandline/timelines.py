"""What a run did, by time: tables of the native module's timeline. `machine::Timeline` documents their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from strandline.records import Record

PERSISTENT = 1 << 40
"""The first address of persistent memory (`isa::Addr::is_persistent`); a test compares."""

STORES = ("store", "nt-store", "locked")
"""Kinds of operations that store."""

FLUSHES = ("clwb", "clflushopt", "clflush")
"""Kinds of operations that flush."""

EPOCH_ENDS = ("ofence", "dfence", "sfence", "mfence", "persist barrier", "join strand", "pcommit")
"""Primitives behind which another epoch of their core begins; `cfence` ends one of its context."""


@dataclass(frozen=True)
class Part:
    """Which part of a timeline is wanted. `sim::Part` declares the keys."""

    from_cycle: int = 0
    to_cycle: int | None = None
    first_tasks: int | None = None
    most_rows: int = 2**64 - 1
    instructions: bool = False


class Table:
    """Rows by columns."""

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, column: str) -> list[Any]:
        return self.columns[column]

    def rows(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The values of these columns, row by row."""
        return zip(*(self.columns[column] for column in columns), strict=True)


class Place(NamedTuple):
    """Where an operation is in the order of its core's persists."""

    epoch: int
    strand: int


@dataclass(frozen=True)
class Timeline:
    """One run, and what it did. Times are cycles of the run; the timed region begins at `start`."""

    record: Record
    durable: str
    """Where a store becomes durable: `caches`, `queue` or `media`."""
    from_cycle: int
    to_cycle: int
    """The first and the last cycle of the part, since `start`."""
    is_shortened: bool
    """The part ends earlier than wanted, since that has too many rows."""
    start: int
    end: int
    ops: Table
    writes: Table
    hosts: list[int]
    """The host of each core."""
    crossings: Table
    failures: Table
    stalls: Table
    misses: Table
    waits: Table
    counts: Table
    speculations: Table
    spans: Table
    instructions: Table
    reads: list[int]
    names: Mapping[int, str]
    """The names of a litmus test's locations, by address; empty for other programs."""

    @classmethod
    def of(cls, record: Record, document: Mapping[str, Any], first: int = 0) -> Timeline:
        """The timeline of a native document, from that cycle on."""
        values: dict[str, Any] = {
            name: Table(value) if isinstance(value, dict) else value for name, value in document["timeline"].items()
        }
        own: dict[str, Any] = {name: document[name] for name in ("durable", "to_cycle", "is_shortened")}
        names = document.get("names", {})
        return cls(record=record, from_cycle=first, **own, **values, names=names)

    @property
    def design(self) -> str:
        """The design."""
        return self.record.text("design")

    @property
    def cores(self) -> int:
        """The cores."""
        return self.record.count("cores")

    @property
    def controllers(self) -> list[int]:
        """The controllers that had a write, or sent a line over a link."""
        return sorted({*self.writes["controller"], *self.crossings["controller"]})

    @cached_property
    def places(self) -> list[Place]:
        """The epoch and the strand of each operation, counted on its core from 0, as its primitives delimit them."""
        here: dict[int, Place] = {}
        places = []
        for core, kind, void in self.ops.rows("core", "kind", "void"):
            place = here.get(core, Place(0, 0))
            places.append(place)
            if void:
                continue
            if kind in EPOCH_ENDS or kind.startswith("cfence"):
                here[core] = place._replace(epoch=place.epoch + 1)
            elif kind == "new strand":
                here[core] = place._replace(strand=place.strand + 1)
        return places

    @cached_property
    def drawn(self) -> list[int]:
        """What pages draw: of stores to volatile memory, which are most, only those that others waited for."""
        named = {op for column in (self.stalls["op"], self.waits["by_op"]) for op in column}
        rows = enumerate(self.ops.rows("kind", "addr"))
        return [op for op, (kind, addr) in rows if addr is None or is_persist(kind, addr) or op in named]

    def name(self, addr: int) -> str:
        """The location's name, or the address."""
        return self.names.get(addr) or place(addr)

    def durable_at(self, visible: int | None, write: int | None) -> int | None:
        """When a store is durable that is visible then and carried by that write, as the machine's domain has it."""
        if self.durable == "caches":
            return visible
        if write is None:
            return None
        seen = write
        while (into := self.writes["into"][seen]) is not None and self.durable == "media":
            seen = into
        found: int | None = self.writes["accepted" if self.durable == "queue" else "media"][seen]
        return found


def place(addr: int) -> str:
    """An address as `isa::Addr` prints it."""
    return f"dram+{addr:#x}" if addr < PERSISTENT else f"pm+{addr - PERSISTENT:#x}"


def is_persist(kind: str, addr: int | None) -> bool:
    """Whether an operation stores to persistent memory, or flushes a line of it."""
    return addr is not None and addr >= PERSISTENT and (kind in STORES or kind in FLUSHES)
