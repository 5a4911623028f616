"""The crash states of a recording under one design, with what was found of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strandline.checking.in_order import Early
from strandline.checking.inside import Inside
from strandline.checking.verdicts import End, Verdict
from strandline.engine import StatesPlan, StateVisit


@dataclass(frozen=True)
class Least:
    """What failing states of one bug need: undone, none of it is left without which the state does not fail."""

    verdict: Verdict
    """On the state that differs least from what is accused."""
    has: tuple[dict[str, Any], ...]
    """Stores that have to be durable; entries of a state's `has`."""
    lacks: tuple[dict[str, Any], ...]
    """Stores that have to be lost."""
    side: str
    """What is accused: `lacks` or `has`."""
    runs: int
    """Of the checker, beside those on visited states."""

    @property
    def lines(self) -> tuple[frozenset[str], frozenset[str]]:
        """The source lines of what has to be durable, and of what has to be lost."""
        has, lacks = (frozenset(str(store["source_line"]) for store in stores) for stores in (self.has, self.lacks))
        return has, lacks

    @property
    def accuses(self) -> tuple[str, str, frozenset[str]]:
        """The kind of failure, and the lines of the program that are accused of it."""
        has, lacks = self.lines
        return kind(self.verdict), self.side, lacks if self.side == "lacks" else has

    def explains(self, verdict: Verdict) -> bool:
        """Whether a state fails the same way and has and lacks these lines, too."""
        has, lacks = self.lines
        if not (has or lacks) or kind(verdict) != kind(self.verdict):
            return False
        return has.issubset(verdict.state.has_lines) and lacks.issubset(verdict.state.lacks_lines)


@dataclass(frozen=True)
class Examined:
    """The crash states of a recording under one design."""

    recording: str
    design: str
    plan: StatesPlan
    visited: int
    verdicts: list[Verdict] | None
    """`None` without a checker."""

    disorders: list[Verdict] = field(default_factory=list)
    """States that the design's model forbids."""
    early: Early | None = None
    """Why not all states were checked."""
    replayed: tuple[Verdict, ...] = ()
    """The state that was asked for by name."""
    inside: Sequence[Inside] = ()
    """The recoveries, and the operations after them, that were crashed in turn, as far as they were asked for."""
    least: Mapping[str, Least] = field(default_factory=dict)
    """What failing states need, by their names, as far as it was found."""
    fails: tuple[int, ...] | None = None
    """If each thread is a host of its own: those that fail."""

    @property
    def name(self) -> str:
        """The design, or the hosts that fail."""
        return self.design if self.fails is None else hosts_of(self.fails)

    @property
    def failures(self) -> list[Verdict]:
        """States that the checker rejects or the model forbids, the clearest first."""
        return clearest(self.verdicts or [], self.disorders)

    @property
    def classes_visited(self) -> int:
        """Number of classes of states with a visited representative."""
        return sum(verdict.state.represents for verdict in self.verdicts or [])

    @property
    def is_partial(self) -> bool:
        """Whether a class of the states that the model allows was not checked."""
        return self.plan.classes is not None and self.classes_visited < self.plan.classes

    @property
    def initial(self) -> Verdict | None:
        """The verdict on memory before the program, if the checker rejects it."""
        initial = (verdict for verdict in self.verdicts or [] if verdict.state.name == "initial")
        return next((verdict for verdict in initial if verdict.why), None)


def hosts_of(fails: Sequence[int]) -> str:
    """These hosts in words."""
    *before, last = map(str, fails) if fails else ["none"]
    return f"hosts {', '.join(before)} and {last}" if before else f"host {last}"


Interval = tuple[str, int | None]
"""An interval of the program, or of the recovery of a state."""


def interval(state: StateVisit) -> Interval:
    """The interval of a state."""
    return state.within, state.interval


def hopeless(failing: Sequence[Verdict]) -> set[Interval]:
    """The intervals whose state with all stores fails, too."""
    return {interval(verdict.state) for verdict in failing if not verdict.state.lacks_stores}


def clearest(verdicts: Sequence[Verdict], disorders: Sequence[Verdict] = ()) -> list[Verdict]:
    """The failing states but the one before the program, the clearest first: see `_size`."""
    failing = [verdict for verdict in verdicts if verdict.why and verdict.state.name != "initial"]
    without = hopeless(failing)
    return sorted([*disorders, *failing], key=lambda verdict: _size(verdict.state, without))


def kind(verdict: Verdict) -> str:
    """How the state fails: how the checker ended, or that the model forbids the state."""
    return "forbidden" if verdict.end is End.ACCEPTS else verdict.end.value


def _size(state: StateVisit, hopeless: set[Interval]) -> tuple[float, int, int, float]:
    """The size of a state's explanation: its stores beyond the durable ones, or the stores that it lacks.

    In `hopeless` intervals, the state with all stores fails, too, so missing stores explain nothing. Among equals,
    stores of the program come before stores of a library, then the earlier. For simulated runs, the earliest state is
    the clearest; a state that the model yields is clearer.
    """
    if state.run:
        return math.inf, state.run.event, state.run.run, 0
    by_lacks = interval(state) not in hopeless and state.lacks_stores < state.has_stores
    total, shown = (state.lacks_stores, state.lacks) if by_lacks else (state.has_stores, state.has)
    earliest = math.inf if state.interval is None else state.interval
    return total, sum(store["in_library"] for store in shown), state.differs, earliest
