"""Timelines as a Perfetto trace: track events in protocol buffers, by Perfetto's own Python package.

A cycle is a nanosecond of the trace. Cycle 0 is the start of the timed region. Each design is a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from strandline.timelines import Timeline, is_persist, place
from strandline.views.timeline.tracks import Slice, Writer

FLOWS = 1 << 32
"""Flow ids of a design: a write's is its number in this range."""


def write(file: IO[bytes], timelines: Sequence[Timeline]) -> None:
    """Writes the trace of these runs."""
    writer = Writer(file)
    for number, timeline in enumerate(timelines):
        process = writer.track(timeline.design, pid=number + 1, rank=number)
        _Design(writer, timeline, (number + 1) * FLOWS).write(process)


class _Design:
    """One design's tracks."""

    def __init__(self, writer: Writer, timeline: Timeline, flows: int) -> None:
        self._writer, self._t, self._flows = writer, timeline, flows
        self._zero = timeline.start

    def write(self, process: int) -> None:
        """All of them, below its process."""
        for core in range(self._t.cores):
            self._core(core, self._writer.track(f"core {core}", process, core))
        controllers = sorted(set(self._t.writes["controller"]))
        for controller in controllers:
            rank = self._t.cores + controller
            self._controller(controller, self._writer.track(f"controller {controller}", process, rank))
        rank = self._t.cores + len(controllers)
        self._writer.instants("counted by the design", process, rank, self._counts())

    def _at(self, cycle: int | None) -> int:
        """A cycle as a time of the trace: the end of the run for what never came."""
        return max((self._t.end if cycle is None else cycle) - self._zero, 0)

    def _flow(self, write: int | None) -> int | None:
        return None if write is None else self._flows + write

    def _core(self, core: int, parent: int) -> None:
        writer = self._writer
        for rank, (name, kinds) in enumerate(SPANS.items()):
            writer.slices(name, parent, rank, self._spans(core, kinds))
        rank = len(SPANS)
        writer.slices("dispatch stalls", parent, rank, self._stalls(core))
        writer.slices("fences", parent, rank + 1, self._fences(core))
        writer.slices("persists", parent, rank + 2, self._persists(core))
        writer.slices("waits", parent, rank + 3, self._waits(core))
        writer.slices("speculation", parent, rank + 4, self._speculations(core))

    def _spans(self, core: int, kinds: Sequence[str]) -> list[Slice]:
        rows = self._t.spans.rows("core", "lane", "what", "number", "from", "to")
        return [
            Slice(
                self._at(begin),
                self._at(end),
                f"{what} {number}" if what != "runs" else f"lane {lane}",
                None,
                {"lane": lane},
            )
            for of, lane, what, number, begin, end in rows
            if of == core and what in kinds
        ]

    def _stalls(self, core: int) -> list[Slice]:
        rows = self._t.stalls.rows("core", "from", "to", "cause")
        return [Slice(self._at(begin), self._at(end), cause) for of, begin, end, cause in rows if of == core]

    def _fences(self, core: int) -> list[Slice]:
        """Primitives from dispatch to retirement, or until they left the store queue."""
        rows = self._t.ops.rows("core", "kind", "addr", "dispatched", "ready", "left", "done", "context")
        return [
            Slice(
                self._at(begin), self._at(max(ready, left or 0, done or 0)), kind, None, {"op": op, "context": context}
            )
            for op, (of, kind, addr, begin, ready, left, done, context) in enumerate(rows)
            if of == core and addr is None
        ]

    def _persists(self, core: int) -> list[Slice]:
        columns = ("core", "kind", "addr", "dispatched", "ready", "left", "visible", "done", "write", "context", "void")
        slices = []
        for op, row in enumerate(self._t.ops.rows(*columns)):
            of, kind, addr, begin, ready, left, visible, done, write, context, void = row
            if of != core or not is_persist(kind, addr):
                continue
            end = max(filter(None, (ready, left, visible, done)))
            order = self._t.places[op]
            notes = {
                "op": op,
                "address": place(addr),
                "context": context,
                "epoch": order.epoch,
                "strand": order.strand,
                "durable": self._relative(self._t.durable_at(visible, write)),
                "rolled back": "yes" if void else None,
            }
            queued = Slice(self._at(ready), self._at(left), "store queue") if left is not None else None
            parts = [part for part in (queued,) if part and part.end > part.begin]
            name = f"{kind} {self._t.name(addr)}"
            slices.append(Slice(self._at(begin), self._at(end), name, self._flow(write), notes, parts))
        return slices

    def _relative(self, cycle: int | None) -> int | None:
        return None if cycle is None else cycle - self._zero

    def _waits(self, core: int) -> list[Slice]:
        rows = self._t.waits.rows("core", "who", "why", "from", "to", "by_op", "by_write")
        return [
            Slice(
                self._at(begin),
                self._at(end),
                f"{who}: {why}",
                None,
                {"ended by op": by_op, "ended by write": by_write},
            )
            for of, who, why, begin, end, by_op, by_write in rows
            if of == core
        ]

    def _speculations(self, core: int) -> list[Slice]:
        rows = self._t.speculations.rows("core", "from", "to", "rolled_back")
        return [
            Slice(self._at(begin), self._at(end), "rolled back" if rolled else "speculates")
            for of, begin, end, rolled in rows
            if of == core
        ]

    def _controller(self, controller: int, parent: int) -> None:
        columns = ("line", "core", "controller", "sent", "arrived", "accepted", "issued", "media", "into", "refused")
        slices, steps = [], []
        for number, row in enumerate(self._t.writes.rows(*columns)):
            line, core, of, sent, arrived, accepted, issued, media, into, refused = row
            if of != controller:
                continue
            end = (
                self._t.end
                if into is None and not refused and media is None
                else (media or accepted or arrived or sent)
            )
            stages = [("to the controller", sent, arrived), ("waits for the queue", arrived, accepted)]
            stages += [("write queue", accepted, issued), ("media", issued, media)] if into is None else []
            parts = [
                Slice(self._at(begin), self._at(done), name)
                for name, begin, done in stages
                if begin is not None and done is not None and done > begin
            ]
            notes = {"write": number, "core": core, "coalesced into": into, "refused": "yes" if refused else None}
            slices.append(
                Slice(self._at(sent), self._at(end), f"write {self._t.name(line)}", self._flow(number), notes, parts)
            )
            if accepted is not None and into is None:
                steps += [(self._at(accepted), 1), (self._at(media), -1)]
        self._writer.slices("writes", parent, 0, slices)
        self._writer.counter("write queue entries", parent, 1, steps)

    def _counts(self) -> list[Slice]:
        rows = self._t.counts.rows("at", "name", "by", "op", "write")
        return [
            Slice(self._at(at), self._at(at), name, None, {"by": by, "op": op, "write": write})
            for at, name, by, op, write in rows
        ]


def _name(what: str, number: int, lane: int) -> str:
    return f"lane {lane}" if what == "runs" else f"{what} {number}"


SPANS = {
    "tasks": ("task", "operation"),
    "regions": ("region", "aborted"),
    "commits": ("commit",),
    "lanes": ("runs", "library"),
}
"""Tracks of a core for spans, by the spans that they show."""
