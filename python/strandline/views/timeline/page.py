"""Timelines as one page without any other file: a template, and the timelines' tables compressed within it.

The canvas is drawn by hand: chart libraries draw summaries, not tens of thousands of spans in lanes that one zooms
into, and they are larger than the page may be.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.crash_cases import CrashCase
from strandline.timelines import Table, Timeline, place
from strandline.views import template
from strandline.views.timeline.crash import case_of
from strandline.views.why import shares

PACKAGE = "strandline.views.timeline"
SCRIPTS = (
    "decode.js",
    "rows.js",
    "relations.js",
    "view.js",
    "draw.js",
    "details.js",
    "crash.js",
    "legend.js",
    "labels.js",
    "search.js",
    "input.js",
    "page.js",
)
"""In order."""

SHOWN = (
    "cycles",
    "tasks",
    "stores",
    "flushes",
    "fences",
    "fence_stall_cycles",
    "window_fence_stall_cycles",
    "buffer_stall_cycles",
    "design_stall_cycles",
    "queue_persist_stall_cycles",
    "pm_writes",
    "coalesced",
)
"""Keys of the record in a design's heading."""

COLUMNS: Mapping[str, Sequence[str]] = {
    "stalls": ("core", "cause", "why", "op", "write", "miss"),
    "misses": ("core", "addr", "owns", "source"),
    "waits": ("core", "who", "why", "op", "write", "by_op", "by_write"),
    "counts": ("name", "by", "op", "write"),
    "spans": ("core", "lane", "what", "number"),
    "speculations": ("core", "rolled_back"),
}
"""Of a timeline's tables, beside times."""
TEXTS, OPERATIONS = ("cause", "who", "why", "name", "what", "source"), ("op", "by_op")
"""Those of texts, and those of operations, which the page counts by itself."""


@dataclass(frozen=True)
class PowerLoss:
    """When power failed in a run, and what was wrong then."""

    at_cycles: int
    """The cycle of the run."""
    words: Sequence[str]
    case: CrashCase | None = None
    """What recovery read, and the order that was broken."""
    places: Sequence[Mapping[str, Any]] = ()
    """What each failure leaves of the machine's places, as `sim::Survival` has them."""


def page(timelines: Sequence[Timeline], title: str, losses: Sequence[PowerLoss] = (), names: Sequence[str] = ()) -> str:
    """The page; with `losses`, one for each timeline, it shows what each power failure left.

    `names` stand in place of the designs' names.
    """
    designs = [_design(timeline) for timeline in timelines]
    for design, name in zip(designs, names, strict=False):
        design["name"] = name
    for design, timeline, loss in zip(designs, timelines, losses, strict=False):
        at = loss.at_cycles - timeline.start
        # Of a run without the loss, hosts may fail behind it.
        design["failures"] = [failure for failure in design["failures"] if failure["at"] <= at]
        design["crash"] = {
            "at": at,
            "ofRun": loss.at_cycles,
            "words": list(loss.words),
            "places": [[place["name"], place["fates"]] for place in loss.places],
            **(case_of(loss.case, timeline) if loss.case else {}),
        }
    document = {"title": title, "designs": designs}
    packed = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), compresslevel=9, mtime=0)
    return template.page(PACKAGE, title, {"DATA": base64.b64encode(packed).decode()}, SCRIPTS)


class _Names:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self.texts: dict[Any, int] = {}

    def __call__(self, text: Any) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def known(self) -> list[Any]:
        return list(self.texts)


def _delta(values: Iterable[int]) -> list[int]:
    """Each value less the one before: short numbers, which compress well."""
    before, deltas = 0, []
    for value in values:
        deltas.append(value - before)
        before = value
    return deltas


def _after(begins: Iterable[int], times: Iterable[int | None]) -> list[int]:
    """Times since the beginning of their row; -1 for what never came. A time before it counts as its beginning."""
    return [-1 if at is None else max(at - begin, 0) for begin, at in zip(begins, times, strict=True)]


def _shown_from(begins: Iterable[int], start: int) -> list[int]:
    """When rows begin on the page, which begins with the timed region."""
    return [max(begin, start) for begin in begins]


def _number(values: Iterable[int | None]) -> list[int]:
    return [-1 if value is None else int(value) for value in values]


def _design(timeline: Timeline) -> dict[str, Any]:
    names = _Names()
    operations, numbers = _operations(timeline, names)
    shown = {key: timeline.record.fields.get(key) for key in SHOWN}
    return {
        "name": timeline.design,
        "workload": timeline.record.text("workload"),
        "machine": timeline.record.text("machine"),
        "cores": timeline.cores,
        "hosts": timeline.hosts,
        "controllers": timeline.controllers,
        "durable": timeline.durable,
        "end": timeline.end - timeline.start,
        "part": [timeline.from_cycle, max(timeline.to_cycle, timeline.from_cycle)],
        "shown": shown,
        "why": shares(timeline.record),
        "ops": operations,
        "writes": _writes(timeline),
        "crossings": _crossings(timeline),
        "failures": _failures(timeline),
        **{name: _table(getattr(timeline, name), name, timeline.start, names, numbers) for name in COLUMNS},
        "names": names.known(),
        "locations": {place(address): name for address, name in timeline.names.items()},
    }


def _operations(timeline: Timeline, names: _Names) -> tuple[dict[str, list[int]], dict[int, int]]:
    """Persists and primitives, and their numbers on the page by those in the timeline."""
    ops, start = timeline.ops, timeline.start
    kept = timeline.drawn
    begins = _shown_from((ops["dispatched"][op] for op in kept), start)

    def column(name: str) -> list[Any]:
        values = ops[name]
        return [values[op] for op in kept]

    durable = [timeline.durable_at(ops["visible"][op], ops["write"][op]) for op in kept]
    columns = {
        "core": column("core"),
        "kind": [names(kind) for kind in column("kind")],
        "line": _delta(-1 if addr is None else addr // 64 for addr in column("addr")),
        "offset": [0 if addr is None else addr % 64 for addr in column("addr")],
        "size": column("size"),
        "context": column("context"),
        "epoch": _delta(timeline.places[op].epoch for op in kept),
        "strand": _delta(timeline.places[op].strand for op in kept),
        "begin": _delta(begin - start for begin in begins),
        "ready": _after(begins, column("ready")),
        "left": _after(begins, column("left")),
        "visible": _after(begins, column("visible")),
        "done": _after(begins, column("done")),
        "durable": _after(begins, durable),
        "write": _number(column("write")),
        "void": _number(column("void")),
    }
    return columns, {op: number for number, op in enumerate(kept)}


def _writes(timeline: Timeline) -> dict[str, list[int]]:
    writes = timeline.writes
    sent = _shown_from(writes["sent"], timeline.start)
    return {
        "line": _delta(line // 64 for line in writes["line"]),
        "core": _number(writes["core"]),
        "controller": writes["controller"],
        "begin": _delta(at - timeline.start for at in sent),
        **{name: _after(sent, writes[name]) for name in ("arrived", "accepted", "issued", "media")},
        "into": _number(writes["into"]),
        "refused": _number(writes["refused"]),
    }


def _crossings(timeline: Timeline) -> dict[str, list[int]]:
    crossings = timeline.crossings
    asked = _shown_from(crossings["asked"], timeline.start)
    return {
        "line": _delta(line // 64 for line in crossings["line"]),
        **{name: _number(crossings[name]) for name in ("host", "back", "controller", "write")},
        "begin": _delta(at - timeline.start for at in asked),
        **{
            name: _after(asked, crossings[name])
            for name in ("device", "ready", "begins", "ends", "enters", "leaves", "arrives")
        },
    }


def _failures(timeline: Timeline) -> list[dict[str, int | None]]:
    rows = timeline.failures.rows("host", "at", "told")
    return [
        {"host": host, "at": at - timeline.start, "told": None if told is None else told - timeline.start}
        for host, at, told in rows
    ]


def _table(table: Table, name: str, start: int, names: _Names, numbers: Mapping[int, int]) -> dict[str, list[int]]:
    """A table of what lasted from one time to another, or happened at one."""

    def column(name: str) -> list[int]:
        if name in TEXTS:
            return [names(text) for text in table[name]]
        return [numbers.get(op, -1) for op in table[name]] if name in OPERATIONS else _number(table[name])

    found = {_camel(each): column(each) for each in COLUMNS[name]}
    if "at" in table.columns:
        return {**found, "begin": _delta(at - start for at in table["at"])}
    begins = _shown_from(table["from"], start)
    return {**found, "begin": _delta(begin - start for begin in begins), "end": _after(begins, table["to"])}


def _camel(name: str) -> str:
    """A column's name as JavaScript writes it."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
