"""A failing crash state on the page of its timeline: its events are operations of the page."""

from __future__ import annotations

from typing import Any

from strandline.crash_cases import STEPS, CrashCase, Event
from strandline.timelines import STORES, Timeline, place

NOT_DRAWN = -1
"""The operation of an event that the page does not draw."""


def case_of(case: CrashCase, timeline: Timeline) -> dict[str, Any]:
    """What the page shows of the case."""
    numbers = _numbers(timeline)
    return {
        "verdict": case.verdict,
        "forbidden": case.forbidden,
        "read": [case.words_read, case.words_stored],
        "events": [_event(event, timeline, numbers) for event in case.events],
        "reads": [
            {
                "addr": read.addr,
                "value": read.value,
                "by": STEPS[read.by],
                "rewritten": read.rewritten,
                "store": read.store,
                "lacks": read.lacks,
            }
            for read in sorted(case.reads, key=lambda read: read.lacks is None)
        ],
        "order": [{"before": edge.before, "after": edge.after, "kind": edge.kind} for edge in case.order],
    }


def _numbers(timeline: Timeline) -> dict[tuple[int, str, int | None], int]:
    """The numbers on the page of stores, by core, address and the time when they were visible."""
    ops = timeline.ops
    stores = [(number, op) for number, op in enumerate(timeline.drawn) if ops["kind"][op] in STORES]
    return {(ops["core"][op], place(ops["addr"][op]), ops["visible"][op]): number for number, op in stores}


def _event(event: Event, timeline: Timeline, numbers: dict[tuple[int, str, int | None], int]) -> dict[str, Any]:
    drawn = numbers.get((event.core, event.addr, event.at_cycles), NOT_DRAWN) if event.addr else NOT_DRAWN
    return {
        "core": event.core,
        "what": event.what,
        "short": f"{event.addr} = {event.value}" if event.addr else None,
        "at": event.at_cycles - timeline.start,
        "durable": event.durable,
        "isStore": event.addr is not None,
        "op": drawn,
    }
