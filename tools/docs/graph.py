"""Reads the graph of an execution, as `strandline litmus --dot` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THREAD = re.compile(r"^  subgraph cluster_(\d+) \{(.*?)^  \}", re.MULTILINE | re.DOTALL)
_EVENT = re.compile(r'^    (e\d+) \[label="(.*?)"(, style=filled.*)?\];', re.MULTILINE)
_EDGE = re.compile(r'^  (e\d+) -> (e\d+) \[label="(.*?)"', re.MULTILINE)


@dataclass(frozen=True)
class Event:
    """An instruction of a thread, and whether it is durable when the power fails."""

    name: str
    text: str
    is_durable: bool


@dataclass(frozen=True)
class Edge:
    """An edge between events: `rf`, `co`, `pmo`, or the `pmo` that forbids the state."""

    start: str
    end: str
    label: str


@dataclass(frozen=True)
class Graph:
    """The events of each thread in program order, and the edges between them."""

    threads: tuple[tuple[Event, ...], ...]
    edges: tuple[Edge, ...]


def graph(dot: str) -> Graph:
    """The graph without program order and without initial values, which the order of the events and the test say."""
    threads = tuple(tuple(map(_event, _EVENT.finditer(body))) for _, body in _THREAD.findall(dot))
    known = {event.name for thread in threads for event in thread}
    edges = (Edge(*found) for found in _EDGE.findall(dot))
    return Graph(threads, tuple(edge for edge in edges if {edge.start, edge.end} <= known))


def _event(found: re.Match[str]) -> Event:
    instruction, _, value = found[2].partition("  ")
    # A constant is what the store writes.
    text = instruction if not value or ",$" in instruction else f"{instruction}  {value}"
    return Event(found[1], text, found[3] is not None)
