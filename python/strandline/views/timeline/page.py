"""Timelines as one page without any other file: a template, and the timelines' tables compressed within it.

The canvas is drawn by hand: chart libraries draw summaries, not tens of thousands of spans in lanes that one zooms
into, and they are larger than the page may be.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.crash_cases import CrashCase
from strandline.timelines import Timeline, persists_and_primitives, place
from strandline.views import template
from strandline.views.timeline.crash import case_of

PACKAGE = "strandline.views.timeline"
SCRIPTS = ("decode.js", "rows.js", "relations.js", "draw.js", "details.js", "crash.js", "page.js")
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


@dataclass(frozen=True)
class PowerLoss:
    """When power failed in a run, and what was wrong then."""

    at_cycles: int
    """The cycle of the run."""
    words: Sequence[str]
    case: CrashCase | None = None
    """What recovery read, and the order that was broken."""


def page(timelines: Sequence[Timeline], title: str, losses: Sequence[PowerLoss] = (), names: Sequence[str] = ()) -> str:
    """The page; with `losses`, one for each timeline, it shows what each power failure left.

    `names` stand in place of the designs' names.
    """
    designs = [_design(timeline) for timeline in timelines]
    for design, name in zip(designs, names, strict=False):
        design["name"] = name
    for design, timeline, loss in zip(designs, timelines, losses, strict=False):
        design["crash"] = {
            "at": loss.at_cycles - timeline.start,
            "ofRun": loss.at_cycles,
            "words": list(loss.words),
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
    return [-1 if value is None else value for value in values]


def _design(timeline: Timeline) -> dict[str, Any]:
    names = _Names()
    operations, numbers = _operations(timeline, names)
    shown = {key: timeline.record.fields.get(key) for key in SHOWN}
    return {
        "name": timeline.design,
        "workload": timeline.record.text("workload"),
        "machine": timeline.record.text("machine"),
        "cores": timeline.cores,
        "durable": timeline.durable,
        "end": timeline.end - timeline.start,
        "part": [timeline.from_cycle, max(timeline.to_cycle, timeline.from_cycle)],
        "shown": shown,
        "ops": operations,
        "writes": _writes(timeline),
        "stalls": _stalls(timeline, names),
        "waits": _waits(timeline, names, numbers),
        "counts": _counts(timeline, names, numbers),
        "spans": _spans(timeline, names),
        "speculations": _speculations(timeline),
        "names": names.known(),
        "locations": {place(address): name for address, name in timeline.names.items()},
    }


def _operations(timeline: Timeline, names: _Names) -> tuple[dict[str, list[int]], dict[int, int]]:
    """Persists and primitives, and their numbers on the page by those in the timeline."""
    ops, start = timeline.ops, timeline.start
    kept = persists_and_primitives(ops)
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
        "void": [int(void) for void in column("void")],
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
        "refused": [int(refused) for refused in writes["refused"]],
    }


def _begins(table: dict[str, list[Any]], begins: list[int], ends: Iterable[int | None], start: int) -> dict[str, Any]:
    shown = _shown_from(begins, start)
    return {**table, "begin": _delta(begin - start for begin in shown), "end": _after(shown, ends)}


def _stalls(timeline: Timeline, names: _Names) -> dict[str, list[int]]:
    stalls = timeline.stalls
    table = {"core": stalls["core"], "cause": [names(cause) for cause in stalls["cause"]]}
    return _begins(table, stalls["from"], stalls["to"], timeline.start)


def _waits(timeline: Timeline, names: _Names, numbers: dict[int, int]) -> dict[str, list[int]]:
    waits = timeline.waits
    table = {
        "core": _number(waits["core"]),
        "who": [names(who) for who in waits["who"]],
        "why": [names(why) for why in waits["why"]],
        "op": [numbers.get(op, -1) for op in waits["op"]],
        "write": _number(waits["write"]),
        "byOp": [numbers.get(op, -1) for op in waits["by_op"]],
        "byWrite": _number(waits["by_write"]),
    }
    return _begins(table, waits["from"], waits["to"], timeline.start)


def _counts(timeline: Timeline, names: _Names, numbers: dict[int, int]) -> dict[str, list[int]]:
    counts = timeline.counts
    return {
        "begin": _delta(at - timeline.start for at in counts["at"]),
        "name": [names(name) for name in counts["name"]],
        "by": counts["by"],
        "op": [numbers.get(op, -1) for op in counts["op"]],
        "write": _number(counts["write"]),
    }


def _spans(timeline: Timeline, names: _Names) -> dict[str, list[int]]:
    spans = timeline.spans
    table = {
        "core": spans["core"],
        "lane": spans["lane"],
        "what": [names(what) for what in spans["what"]],
        "number": spans["number"],
    }
    return _begins(table, spans["from"], spans["to"], timeline.start)


def _speculations(timeline: Timeline) -> dict[str, list[int]]:
    speculations = timeline.speculations
    table = {
        "core": speculations["core"],
        "rolledBack": [int(rolled) for rolled in speculations["rolled_back"]],
    }
    return _begins(table, speculations["from"], speculations["to"], timeline.start)
