"""Slices, moments and levels as packets of a Perfetto trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from strandline.views.timeline.packing import packed

SEQUENCE = 1
"""All packets are of one sequence."""


@dataclass
class Slice:
    """A slice, with the slices that it contains."""

    begin: int
    end: int
    name: str
    notes: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Slice] = ()
    flows: Sequence[int] = ()
    """Arrows, each from the first slice that has its number to the next."""


class Writer:
    """Writes one trace."""

    def __init__(self, file: IO[bytes]) -> None:
        self._builder = StreamingTraceProtoBuilder(file)
        self._uuid = 0

    def track(self, name: str, parent: int | None = None, rank: int = 0, pid: int | None = None) -> int:
        """A track of this name below another: its uuid. With a `pid` it is a process."""
        self._uuid += 1
        packet = self._builder.create_packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = self._uuid
        if pid is not None:
            descriptor.process.pid = pid
            descriptor.process.process_name = name
        else:
            descriptor.name = name
        if parent is not None:
            descriptor.parent_uuid = parent
        descriptor.child_ordering = TrackDescriptor.ChildTracksOrdering.EXPLICIT
        descriptor.sibling_order_rank = rank
        self._builder.write_packet(packet)
        return self._uuid

    def slices(self, name: str, parent: int, rank: int, slices: Iterable[Slice]) -> None:
        """Slices below a track, on as many tracks of one name as overlap; the viewer shows these as one."""
        slices = list(slices)
        rows: dict[int, list[Slice]] = defaultdict(list)
        for row, piece in zip(packed((piece.begin, piece.end) for piece in slices), slices, strict=True):
            rows[row].append(piece)
        for row in sorted(rows):
            track = self.track(name, parent, rank)
            for piece in sorted(rows[row], key=lambda piece: piece.begin):
                self._slice(track, piece)

    def _slice(self, track: int, piece: Slice) -> None:
        self._event(track, piece.begin, TrackEvent.TYPE_SLICE_BEGIN, piece)
        for part in piece.parts:
            self._slice(track, part)
        self._event(track, max(piece.end, piece.begin), TrackEvent.TYPE_SLICE_END, None)

    def instants(self, name: str, parent: int, rank: int, instants: Iterable[Slice]) -> None:
        """Moments on one track, in order."""
        track = None
        for instant in sorted(instants, key=lambda instant: instant.begin):
            track = self.track(name, parent, rank) if track is None else track
            self._event(track, instant.begin, TrackEvent.TYPE_INSTANT, instant)

    def counter(self, name: str, parent: int, rank: int, steps: Iterable[tuple[int, int]]) -> None:
        """A level over time, from its steps (when, by how much)."""
        self._uuid += 1
        packet = self._builder.create_packet()
        packet.track_descriptor.uuid = self._uuid
        packet.track_descriptor.parent_uuid = parent
        packet.track_descriptor.name = name
        packet.track_descriptor.sibling_order_rank = rank
        packet.track_descriptor.counter.SetInParent()
        self._builder.write_packet(packet)
        level = 0
        changes: defaultdict[int, int] = defaultdict(int)
        for at, by in steps:
            changes[at] += by
        for at in sorted(changes):
            level += changes[at]
            packet = self._packet(at)
            packet.track_event.type = TrackEvent.TYPE_COUNTER
            packet.track_event.track_uuid = self._uuid
            packet.track_event.counter_value = level
            self._builder.write_packet(packet)

    def _packet(self, at: int) -> Any:
        packet = self._builder.create_packet()
        packet.timestamp = max(at, 0)
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet

    def _event(self, track: int, at: int, kind: TrackEvent.Type, piece: Slice | None) -> None:
        packet = self._packet(at)
        event = packet.track_event
        event.type = kind
        event.track_uuid = track
        if piece is not None:
            event.name = piece.name
            event.flow_ids.extend(piece.flows)
            for key, value in piece.notes.items():
                if value is not None:
                    note = event.debug_annotations.add()
                    note.name = key
                    if isinstance(value, int):
                        note.int_value = value
                    else:
                        note.string_value = str(value)
        self._builder.write_packet(packet)
