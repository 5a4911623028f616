"""Timelines as a Perfetto trace: track events in protocol buffers, by Perfetto's own Python package.

A cycle is a nanosecond of the trace. Cycle 0 is the start of the timed region. Each design is a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from strandline.timelines import Timeline, is_persist, place
from strandline.views.timeline.tracks import Slice, Writer

FLOWS = 1 << 32
"""Flow ids of a design: an operation's is its number in this range, as its write has it."""


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
        waits = timeline.waits.rows("write", "from", "why", "by_write")
        self._held = {(write, begin): {"waited for": why, "write": by} for write, begin, why, by in waits}
        self._carried: dict[int, list[int]] = {}
        for op, (kind, addr, write) in enumerate(timeline.ops.rows("kind", "addr", "write")):
            if write is not None and is_persist(kind, addr):
                self._carried.setdefault(write, []).append(op)

    def write(self, process: int) -> None:
        """All of them, below its process."""
        hosts = sorted(set(self._t.hosts))
        for host in hosts:
            several = len(hosts) > 1
            self._host(host, self._writer.track(f"host h{host}", process, host) if several else process)
        rank = self._t.cores + 1
        self._writer.slices("switch", process, rank, self._crossings("enters", "leaves"))
        for controller in self._t.controllers:
            rank += 1
            self._controller(controller, self._writer.track(f"controller {controller}", process, rank))
        self._writer.instants("counted by the design", process, rank + 1, self._counts())

    def _host(self, host: int, parent: int) -> None:
        """Its cores, its link, and its failure."""
        for core, of in enumerate(self._t.hosts):
            if of == host:
                self._core(core, self._writer.track(f"core {core}", parent, core))
        rank = self._t.cores
        for back, name in enumerate(("to the device", "from the device")):
            self._writer.slices(
                f"link: {name}", parent, rank, self._crossings("ready", "arrives", host=host, back=back)
            )
        failures = self._t.failures.rows("host", "at", "told")
        marks = [(at, "fails") if of == host else (told, f"is told that h{of} has failed") for of, at, told in failures]
        told = [Slice(self._at(at), self._at(at), what) for at, what in marks if at is not None]
        self._writer.instants("failures", parent, rank + 1, told)

    def _crossings(self, begin: str, end: str, **wanted: int) -> list[Slice]:
        """Lines on their way, from one time to another: those whose columns are as `wanted`."""
        crossings = self._t.crossings
        slices = []
        for row, (line, write, begins, ends, busy, free) in enumerate(
            crossings.rows("line", "write", begin, end, "begins", "ends")
        ):
            if begins is None or any(crossings[column][row] != value for column, value in wanted.items()):
                continue
            notes = {"write": write, "takes the link at": self._relative(busy), "until": self._relative(free)}
            name = f"{'read' if write is None else 'write'} {self._t.name(line)}"
            slices.append(Slice(self._at(begins), self._at(ends), name, notes))
        return slices

    def _at(self, cycle: int | None) -> int:
        """A cycle as a time of the trace: the end of the run for what never came."""
        return max((self._t.end if cycle is None else cycle) - self._zero, 0)

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
                {"lane": lane},
            )
            for of, lane, what, number, begin, end in rows
            if of == core and what in kinds
        ]

    def _stalls(self, core: int) -> list[Slice]:
        rows = self._t.stalls.rows("core", "from", "to", "cause", "why", "op", "write", "miss")
        return [
            Slice(
                self._at(begin),
                self._at(end),
                cause,
                {"waited for": why, "op": op, "write": write, "miss": None if miss is None else self._miss(miss)},
            )
            for of, begin, end, cause, why, op, write, miss in rows
            if of == core
        ]

    def _miss(self, miss: int) -> str:
        misses = self._t.misses
        return f"{self._t.name(misses['addr'][miss])} from {SOURCES[misses['source'][miss]]}"

    def _fences(self, core: int) -> list[Slice]:
        """Primitives from dispatch to retirement, or until they left the store queue."""
        rows = self._t.ops.rows("core", "kind", "addr", "dispatched", "ready", "left", "done", "context")
        return [
            Slice(self._at(begin), self._at(max(ready, left or 0, done or 0)), kind, {"op": op, "context": context})
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
            flows = () if write is None else (self._flows + op,)
            slices.append(Slice(self._at(begin), self._at(end), name, notes, parts, flows))
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
                Slice(self._at(begin), self._at(done), name, self._held.get((number, begin), {}))
                for name, begin, done in stages
                if begin is not None and done is not None and done > begin
            ]
            notes = {"write": number, "core": core, "coalesced into": into, "refused": "yes" if refused else None}
            flows = [self._flows + op for op in self._carried.get(number, ())]
            slices.append(Slice(self._at(sent), self._at(end), f"write {self._t.name(line)}", notes, parts, flows))
            if accepted is not None and into is None:
                steps += [(self._at(accepted), 1), (self._at(media), -1)]
        reads = [of for of, device in self._t.crossings.rows("controller", "device") if device is not None]
        if controller in reads:
            self._writer.slices("reads", parent, 2, self._crossings("device", "ready", controller=controller))
        self._writer.slices("writes", parent, 0, slices)
        self._writer.counter("write queue entries", parent, 1, steps)

    def _counts(self) -> list[Slice]:
        rows = self._t.counts.rows("at", "name", "by", "op", "write")
        return [
            Slice(self._at(at), self._at(at), name, {"by": by, "op": op, "write": write})
            for at, name, by, op, write in rows
        ]


SOURCES = {"cache": "the shared cache", "core": "another core", "memory": "memory", "tables": "the page tables"}
"""Who had what a core's private caches lacked."""

SPANS = {
    "tasks": ("task", "operation"),
    "regions": ("region", "aborted"),
    "commits": ("commit",),
    "lanes": ("runs", "library"),
}
"""Tracks of a core for spans, by the spans that they show."""
