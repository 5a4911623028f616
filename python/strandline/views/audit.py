"""The audit of a recording: instructions that do too little, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strandline.views.apart import told_apart
from strandline.views.numbers import counted, whole
from strandline.views.page import DIM, Line
from strandline.views.table import Column, Table

CORRECTNESS, PERFORMANCE, OTHER = "correctness", "performance", "other"

FINDINGS = {
    "stored_never_flushed": (CORRECTNESS, "stored, never flushed"),
    "flushed_never_fenced": (CORRECTNESS, "flushed, never fenced"),
    "nt_store_never_fenced": (CORRECTNESS, "non-temporal store, never fenced"),
    "flushed_fenced_only_at_exit": (CORRECTNESS, "flushed, fenced only by the end of the program"),
    "nt_store_fenced_only_at_exit": (CORRECTNESS, "non-temporal store, fenced only by the end of the program"),
    "read_undurable_then_persisted": (CORRECTNESS, "reads another thread's undurable store, then makes durable"),
    "flush_of_volatile_memory_misses_store": (
        CORRECTNESS,
        "{} of memory that is not persistent: it misses a store",
    ),
    "flush_of_clean_line": (PERFORMANCE, "{} of a line that is durable already"),
    "line_flushed_twice": (PERFORMANCE, "{} of a line flushed before, not stored to since"),
    "flush_of_volatile_memory": (PERFORMANCE, "{} of memory that is not persistent"),
    "fence_orders_nothing": (PERFORMANCE, "{} with nothing to order"),
    "store_of_unknown_bytes": (OTHER, "store of more than 64 bytes, not recorded"),
    "lock_or_data_never_flushed": (OTHER, "never flushed: a lock, or data?"),
    "volatile_address_made_durable": (OTHER, "address of volatile memory, made durable"),
    "store_in_two_words_made_durable": (OTHER, "store across two words of 8 bytes, made durable alone: it may tear"),
    "lock_word_never_flushed": (OTHER, "lock word, never flushed"),
    "volatile_address_never_flushed": (OTHER, "address of volatile memory, never flushed"),
    "same_value_never_flushed": (OTHER, "stores what is durable already, never flushed"),
}
"""The findings: kind and text, the most serious first. `{}` stands for the instruction."""

GROUPED = ("lock_word_never_flushed", "volatile_address_never_flushed", "same_value_never_flushed")
"""Places with one of these findings share a row, behind the others."""

MOST_GROUPED = 3
"""Places that such a row names."""

FAIL_ON = {CORRECTNESS: (CORRECTNESS,), PERFORMANCE: (PERFORMANCE,), "all": (CORRECTNESS, PERFORMANCE), "none": ()}
"""The choices of `--fail-on`, with the kinds of findings that fail."""

MOST_ROWS = 24
MOST_CALLERS = 3
"""Printed calls that led to an instruction; JSON has all."""


@dataclass(frozen=True)
class Judged:
    """An audit whose entries name who suppresses them."""

    entries: Sequence[dict[str, Any]]
    unused: list[str] = field(default_factory=list)
    """Suppressions that match no finding, in words."""
    design: str = ""
    """The design under which cycles were measured, if they were."""

    def failing(self, fail_on: str) -> list[dict[str, Any]]:
        """The entries for which a gate fails."""
        return [entry for entry in self.entries if kind(entry) in FAIL_ON[fail_on] and not entry["suppressed"]]

    def places(self, fail_on: str) -> int:
        """Number of places for which a gate fails, as the tables show them."""
        return len(_folded(self.failing(fail_on)))

    def document(self) -> list[dict[str, Any]]:
        """All entries, with their kinds; `cycles` are null where they were not measured."""
        return [{"cycles": None, **entry, "kind": kind(entry)} for entry in self.entries]

    def parts(self) -> list[Table | Line]:
        """A table for each kind of finding, correctness first, and what is suppressed."""
        shown = [entry for entry in self.entries if not entry["suppressed"]]
        parts: list[Table | Line] = []
        for each in (CORRECTNESS, PERFORMANCE, OTHER):
            has_cycles = each == PERFORMANCE and bool(self.design)
            if rows := _rows([entry for entry in shown if kind(entry) == each], has_cycles):
                cycles = (Column("cycles"),) if has_cycles else ()
                columns = (Column(each, numeric=False), Column("times"), *cycles, Column("where", numeric=False))
                source = (Column("source", numeric=False, spare=True),) if len(rows[0]) > len(columns) else ()
                parts += [Line(), Table((*columns, *source), tuple(rows))]
            if rows and has_cycles:
                parts.append(Line(self._measured(shown), DIM, folds=True))
        by = Counter(entry["suppressed"]["by"] for entry in self.entries if entry["suppressed"])
        if by:
            files = ", ".join(f"{counted(times, 'place')} by {name}" for name, times in by.items())
            parts += [Line(), Line(f"suppressed: {files}; --json has all, with the reasons", folds=True)]
        parts += [Line(f"warning: {line}", folds=True) for line in self.unused]
        return parts

    def _measured(self, shown: Sequence[dict[str, Any]]) -> str:
        """What the cycles are, and how many places lack them."""
        found = _folded([entry for entry in shown if kind(entry) == PERFORMANCE])
        missing = sum(entry.get("cycles") is None for entry in found)
        rest = f"; not measured at {counted(missing, 'place')}" if missing else ""
        return f"cycles: of the replay under {self.design}, less without these executions{rest}"


def kind(entry: Mapping[str, Any]) -> str:
    """The kind of an entry's finding."""
    return FINDINGS[entry["finding"]][0]


def _text(entry: Mapping[str, Any]) -> str:
    return FINDINGS[entry["finding"]][1].format(entry["instruction"])


def _rows(entries: Sequence[dict[str, Any]], has_cycles: bool) -> list[tuple[str, ...]]:
    order = list(FINDINGS)
    alone = _folded([entry for entry in entries if entry["finding"] not in GROUPED])
    alone.sort(key=lambda entry: (order.index(entry["finding"]), -entry["count"], entry["pc"]))
    sites = told_apart(alone, lambda entry: f"{_text(entry)} {entry['site']}")
    sites = [_stored(site, entry) + _callers(entry) + _why(entry) for site, entry in zip(sites, alone, strict=True)]
    texts = (_text(entry) for entry in alone)
    times = (whole(entry["count"]) for entry in alone)
    cycles = (_cycles(entry) if has_cycles else () for entry in alone)
    shown = [_source(entry) for entry in alone]
    has_source = any(shown)
    sources = ((source,) if has_source else () for source in shown)
    rows: list[tuple[str, ...]] = [
        (text, count, *cost, site, *source)
        for text, count, cost, site, source in zip(texts, times, cycles, sites, sources, strict=True)
    ]
    del rows[MOST_ROWS:]
    end = ("",) if has_source else ()
    if more := alone[MOST_ROWS:]:
        none = ("",) if has_cycles else ()
        rows.append((f"... {len(more):,} more places", _times(more), *none, "--json has all", *end))
    for finding in GROUPED:
        if grouped := [entry for entry in entries if entry["finding"] == finding]:
            rows.append((_text(grouped[0]), _times(grouped), _named(grouped), *end))
    return rows


def _named(entries: Sequence[dict[str, Any]]) -> str:
    """The first places of a row, each once, and how many more there are."""
    sites = list(dict.fromkeys(entry["site"] for entry in _folded(entries)))
    more = len(sites) - MOST_GROUPED
    rest = f" and {counted(more, 'more place')}, --json has all" if more > 0 else ""
    return ", ".join(sites[:MOST_GROUPED]) + rest


def _source(entry: Mapping[str, Any]) -> str:
    """What the program's own line says."""
    caller = entry.get("caller")
    own = caller if entry["in_library"] and caller else entry
    return own.get("text") or ""


def _folded(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries; those of one source line with the same text as one, and those of one call into a library.

    What an instruction costs alone has no sum, so measured ones stay apart.
    """
    same: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in entries:
        own = not entry["in_library"] or not entry["caller"]
        place = entry["source_line"] if own else (entry["caller"]["pc"], entry["module"])
        stored = entry["store"]["site"] if entry["store"] else ""
        measured = entry["pc"] if own and entry.get("cycles") is not None else None
        same.setdefault((_text(entry), place, stored, measured), []).append(entry)
    return [_one(each) for each in same.values()]


def _one(same: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One entry for several instructions."""
    first = same[0]
    if len(same) == 1:
        return first
    site = first["site"] if len({entry["site"] for entry in same}) == 1 else first["source_line"]
    if first["in_library"] and first["caller"]:
        site = f"{first['caller']['site']} via {counted(len(same), 'instruction')} of {first['module']}"
    callers: dict[int, dict[str, Any]] = {}
    for caller in (caller for entry in same for caller in entry["callers"]):
        before = callers.get(caller["pc"], {**caller, "count": 0})
        callers[caller["pc"]] = {**before, "count": before["count"] + caller["count"]}
    ordered = sorted(callers.values(), key=lambda caller: (-caller["count"], caller["pc"]))
    return {**first, "site": site, "count": sum(entry["count"] for entry in same), "cycles": None, "callers": ordered}


def _cycles(entry: Mapping[str, Any]) -> tuple[str]:
    return ("-" if entry.get("cycles") is None else whole(entry["cycles"]),)


def _stored(site: str, entry: Mapping[str, Any]) -> str:
    """The place, with that of the store that it read or misses."""
    return f"{site}; stored in {entry['store']['site']}" if entry.get("store") else site


def _why(entry: Mapping[str, Any]) -> str:
    """Why it is accused or excused, where that is not plain."""
    return f"; {entry['why']}" if entry.get("why") else ""


def _callers(entry: Mapping[str, Any]) -> str:
    """The calls that led to an instruction of the program's own, the most frequent first."""
    callers = entry.get("callers") or []
    if not callers or entry["in_library"]:
        return ""
    shown = ", ".join(f"{caller['site']}{_often(caller, callers)}" for caller in callers[:MOST_CALLERS])
    more = f" and {len(callers) - MOST_CALLERS} more" if len(callers) > MOST_CALLERS else ""
    return f"; called from {shown}{more}"


def _often(caller: Mapping[str, Any], callers: Sequence[Mapping[str, Any]]) -> str:
    return f" {caller['count']:,}x" if len(callers) > 1 else ""


def _times(entries: Sequence[Mapping[str, Any]]) -> str:
    return whole(sum(entry["count"] for entry in entries))
