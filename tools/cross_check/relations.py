"""Sets and relations over a test's events whose members are literals of a circuit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .circuit import FALSE, TRUE, Circuit

Row = dict[int, int]
Relation = list[Row]
"""For each event its related events, each with its literal; impossible pairs are left out."""
Members = list[int]
"""For each event the literal of its membership."""


@dataclass(frozen=True)
class Empty:
    """`0`, which is a set or a relation."""


@dataclass(frozen=True)
class SetOf:
    """A set."""

    members: Members


@dataclass(frozen=True)
class Between:
    """A relation."""

    rows: Relation


Value = Empty | SetOf | Between


class Algebra:
    """The operators of models."""

    def __init__(self, circuit: Circuit, size: int) -> None:
        self.circuit = circuit
        self.size = size
        self.events = range(size)

    def relation(self, holds: Callable[[int, int], bool]) -> Relation:
        """A relation that is known."""
        return [{b: TRUE for b in self.events if holds(a, b)} for a in self.events]

    def identity(self, members: Members | None = None) -> Relation:
        """`[s]`; without a set `id`."""
        return [{a: lit} if (lit := members[a] if members else TRUE) else {} for a in self.events]

    def complement_set(self, s: Members) -> Members:
        """`~ s`."""
        return [lit ^ 1 for lit in s]

    def complement(self, r: Relation) -> Relation:
        """`~ r`."""
        return [{b: lit for b in self.events if (lit := row.get(b, FALSE) ^ 1)} for row in r]

    def union(self, *relations: Relation) -> Relation:
        """`r | s`."""
        out: Relation = []
        for rows in zip(*relations, strict=True):
            found: dict[int, list[int]] = {}
            for row in rows:
                for b, lit in row.items():
                    found.setdefault(b, []).append(lit)
            out.append({b: self._any(lits) for b, lits in found.items()})
        return out

    def _any(self, literals: list[int]) -> int:
        if TRUE in literals:
            return TRUE
        return literals[0] if len(literals) == 1 else self.circuit.disj(literals)

    def intersection(self, r: Relation, s: Relation) -> Relation:
        """`r & s`."""
        both = self.circuit.both
        return [
            {b: both_of for b, lit in row.items() if b in other and (both_of := both(lit, other[b]))}
            for row, other in zip(r, s, strict=True)
        ]

    def difference(self, r: Relation, s: Relation) -> Relation:
        r"""`r \ s`."""
        both = self.circuit.both
        return [
            {b: left for b, lit in row.items() if (left := both(lit, other.get(b, FALSE) ^ 1))}
            for row, other in zip(r, s, strict=True)
        ]

    def compose(self, r: Relation, s: Relation) -> Relation:
        """`r ; s`."""
        both = self.circuit.both
        out: Relation = []
        for row in r:
            sure = {b for a, lit in row.items() if lit == TRUE for b, other in s[a].items() if other == TRUE}
            found: dict[int, list[int]] = {}
            for a, lit in row.items():
                for b, other in s[a].items():
                    if b not in sure and (way := both(lit, other)):
                        found.setdefault(b, []).append(way)
            out.append(dict.fromkeys(sure, TRUE) | {b: self._any(lits) for b, lits in found.items()})
        return out

    def inverse(self, r: Relation) -> Relation:
        """`r^-1`."""
        out: Relation = [{} for _ in self.events]
        for a, row in enumerate(r):
            for b, lit in row.items():
                out[b][a] = lit
        return out

    def product(self, s: Members, t: Members) -> Relation:
        """`s * t`."""
        both = self.circuit.both
        return [{b: lit for b in self.events if (lit := both(s[a], t[b]))} for a in self.events]

    def closure(self, r: Relation) -> Relation:
        """`r+`: after each event, all paths through the events so far (Warshall)."""
        both, disj = self.circuit.both, self.circuit.disj
        out = [dict(row) for row in r]
        into: list[set[int]] = [set() for _ in self.events]
        for a, row in enumerate(out):
            for b in row:
                into[b].add(a)
        left = set(self.events)
        while left:
            k = min(left, key=lambda event: (len(into[event]) * len(out[event]), event))
            left.remove(k)
            for a in list(into[k]):
                row, first = out[a], out[a][k]
                for b, second in list(out[k].items()):
                    old = row.get(b, FALSE)
                    if old != TRUE and (way := both(first, second)):
                        row[b] = disj((old, way)) if old else way
                        into[b].add(a)
        return out

    def domain(self, r: Relation) -> Members:
        """`domain(r)`."""
        return [self._any(list(row.values()) or [FALSE]) for row in r]

    def rebuilt(self, r: Relation, memo: dict[int, int]) -> Relation:
        """The relation, folded with the circuit's assumptions."""
        rebuild = self.circuit.rebuild
        return [{b: new for b, lit in row.items() if (new := rebuild(lit, memo))} for row in r]
