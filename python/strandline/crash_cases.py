"""A failing crash state in detail: what recovery read, and the order between its stores. `crash::Case` documents it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEPS = {
    "recovery": "recovery",
    "regions": "the check of the regions' words",
    "repair": "repair",
    "invariant": "the check of the structure",
    "operations": "the check of the operations",
}
"""Who reads, in words."""


@dataclass(frozen=True)
class Event:
    """A store to persistent memory, or an acknowledgement (without an address)."""

    core: int
    addr: str | None
    value: str | None
    """What a store wrote."""
    what: str
    """In words."""
    at_cycles: int
    """When all cores saw it, or when it was announced."""
    durable: bool
    """Whether a store was durable when power failed; of an acknowledgement, whether it had been announced."""


@dataclass(frozen=True)
class Reading:
    """The first read of a word of persistent memory. `store` and `lacks` are numbers of events."""

    addr: str
    value: str
    by: str
    """A key of `STEPS`."""
    rewritten: bool
    """Recovery had written the word before."""
    store: int | None
    """The store that had left the word; `None` if it held what was there at first."""
    lacks: int | None
    """The newest store to the word that was visible and is lost."""


@dataclass(frozen=True)
class Edge:
    """One event had to be durable before another."""

    before: int
    after: int
    kind: str
    """`kept` or `broken`: the model wants it. `missing`: it does not, and this order would have prevented the state."""


@dataclass(frozen=True)
class CrashCase:
    """One failing crash state."""

    model: str
    """Empty where several hosts share memory, whose order no model judges."""
    forbidden: bool
    """Whether the model forbids the crash state."""
    events: Sequence[Event]
    reads: Sequence[Reading]
    words_read: int
    """Words that were read up to the step that found the fault."""
    words_stored: int
    """Words of these that a store had changed by then."""
    order: Sequence[Edge]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> CrashCase:
        """The case of a native document."""
        parts = {
            "events": [Event(**each) for each in document["events"]],
            "reads": [Reading(**each) for each in document["reads"]],
            "order": [Edge(**each) for each in document["order"]],
        }
        return cls(**{**document, **parts})

    @property
    def verdict(self) -> str:
        """What the model says of the state, and what is wrong then."""
        if self.forbidden:
            return (
                f"Model {self.model} forbids this state: what is durable, or was announced, is there without what had "
                "to be durable before it."
            )
        allowed = f"Model {self.model} allows this state" if self.model else "No model judges the order between hosts"
        if any(edge.kind == "missing" for edge in self.order):
            return f"{allowed}: the program lacks an order. Any of the missing orders would have prevented it."
        return f"{allowed}, and no lost store that was read precedes a durable one: the fault is not one of order."
