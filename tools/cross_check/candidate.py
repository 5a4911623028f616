"""The candidate executions of a test, with the sets and relations of a model's input."""

from __future__ import annotations

import itertools

from .circuit import FALSE, TRUE, Circuit
from .parse_litmus import INITIAL, SETS, Event, Litmus
from .relations import Algebra, Between, Relation, SetOf, Value


class Candidate:
    """The candidate executions of a test: reads-from, coherence order, and the resulting values."""

    def __init__(self, test: Litmus, all_is_known: bool = False) -> None:
        self.test = test
        self.all_is_known = all_is_known
        self.events = test.events
        self.circuit = Circuit()
        self.algebra = Algebra(self.circuit, len(test.events))
        self.writes: dict[str, list[Event]] = {}
        for event in self.events:
            if event.kinds & {"W", "w"} and event.location:
                self.writes.setdefault(event.location, []).append(event)
        self.rf = self._reads_from()
        self.co = self._coherence()
        self.fr = self._from_reads()
        self.late = self._late()
        self.read: dict[int, dict[int, int]] = {}

    def _none(self) -> Relation:
        return [{} for _ in self.events]

    def _reads_from(self) -> Relation:
        rf = self._none()
        for event in self.events:
            if event.kinds & {"R", "r"} and event.location:
                writes = self.writes[event.location]
                for write, literal in zip(writes, self.circuit.choice(len(writes)), strict=True):
                    rf[write.number][event.number] = literal
        return rf

    def _coherence(self) -> Relation:
        co = self._none()
        for writes in self.writes.values():
            first = next(write.number for write in writes if write.thread == INITIAL)
            rest = [write.number for write in writes if write.thread != INITIAL]
            co[first].update(dict.fromkeys(rest, TRUE))
            for at, a in enumerate(rest):
                for b in rest[:at]:
                    co[a][b] = self.circuit.variable()
                    co[b][a] = co[a][b] ^ 1
            self._transitive(co, rest)
        return co

    def _transitive(self, co: Relation, writes: list[int]) -> None:
        for at, a in enumerate(writes):
            for where, b in enumerate(writes[:at]):
                for c in writes[:where]:
                    for cycle in ((co[a][b], co[b][c], co[c][a]), (co[a][c], co[c][b], co[b][a])):
                        self.circuit.assume(self.circuit.conj(cycle) ^ 1)

    def _from_reads(self) -> Relation:
        algebra = self.algebra
        return algebra.compose(algebra.inverse(self.rf), self.co)

    def _late(self) -> Relation:
        """The failure of hosts, and survivors' reads after it: any of them, or the last accesses of a thread."""
        late = self._none()
        kinds = {"R", "W", "r"} if self.all_is_known else {"R"}
        for failure in (event for event in self.events if "FAILURE" in event.kinds):
            after = [event for event in self.events if event.kinds & kinds and self.test.survives(event)]
            row = late[failure.number] = {event.number: self.circuit.variable() for event in after}
            for one, other in itertools.pairwise(after) if self.all_is_known else ():
                if one.thread == other.thread:
                    self.circuit.assume(self.circuit.both(row[one.number], row[other.number] ^ 1) ^ 1)
                if other.pair == one.number:
                    self.circuit.assume(self.circuit.both(row[one.number] ^ 1, row[other.number]) ^ 1)
        return late

    def settle_values(self) -> None:
        """Finds the possible values of each read. A read whose value depends on itself has none, and is excluded.

        It runs after the evaluation of the model, because fewer writes are then possible sources.
        """
        memo: dict[int, int] = {}
        self.rf = self.algebra.rebuilt(self.rf, memo)
        self.co = self.algebra.rebuilt(self.co, memo)
        reads = [event.number for event in self.events if event.kinds & {"R", "r"}]
        sources = {r: [(w, row[r]) for w, row in enumerate(self.rf) if r in row] for r in reads}
        values: dict[int, dict[int, int]] = {r: {} for r in reads}
        for _ in reads:
            before, values = values, {}
            for r in reads:
                found: dict[int, list[int]] = {}
                for write, literal in sources[r]:
                    for value, holds in self.value(self.events[write], before).items():
                        found.setdefault(value, []).append(self.circuit.both(literal, holds))
                values[r] = {v: lit for v, lits in found.items() if (lit := self.circuit.disj(lits))}
            if values == before:
                break
        for r in reads:
            self.circuit.assume(self.circuit.disj(values[r].values()))
        self.read = values

    def value(self, event: Event, read: dict[int, dict[int, int]]) -> dict[int, int]:
        """The possible values of a write or an output, each with its literal, from those of the reads."""
        sums = {event.value.constant: TRUE}
        for number in event.value.reads:
            found: dict[int, list[int]] = {}
            for value, holds in sums.items():
                for more, also in read[number].items():
                    found.setdefault((value + more) % 256, []).append(self.circuit.both(holds, also))
            sums = {v: lit for v, lits in found.items() if (lit := self.circuit.disj(lits))}
        return sums

    def names(self) -> dict[str, Value]:
        """The sets and relations of a model's input."""
        test, events = self.test, self.events
        placed = [event.location if "OUT" not in event.kinds else None for event in events]

        def loc(a: int, b: int) -> bool:
            return placed[a] is not None and placed[a] == placed[b]

        def line(a: int, b: int) -> bool:
            one, other = placed[a], placed[b]
            return one is not None and other is not None and test.same_line(one, other)

        def same(a: int, b: int) -> bool:
            return events[a].thread == events[b].thread

        def po(a: int, b: int) -> bool:
            own = "REST" not in events[a].kinds | events[b].kinds
            return own and same(a, b) and a < b and events[a].thread != INITIAL

        def host(a: int, b: int) -> bool:
            return test.host(events[a]) is not None and test.host(events[a]) == test.host(events[b])

        relations = {
            "id": lambda a, b: a == b,
            "po": po,
            "loc": loc,
            "line": line,
            "int": same,
            "ext": lambda a, b: not same(a, b),
            "same-host": host,
            "rmw": lambda a, b: events[b].pair == a,
            "rest": lambda a, b: events[b].store == a,
            "data": lambda a, b: "R" in events[a].kinds and po(a, b) and a in events[b].value.needs,
            "addr": lambda a, b: a in events[b].address,
            "ctrl": lambda a, b: a in events[b].branches,
            "ctx": lambda a, b: same(a, b) and events[a].context == events[b].context,
        }
        names: dict[str, Value] = {name: Between(self.algebra.relation(holds)) for name, holds in relations.items()}
        names |= {"rf": Between(self.rf), "co": Between(self.co), "fr": Between(self.fr), "late": Between(self.late)}
        names["HOME"] = SetOf([TRUE if test.is_home(event) else FALSE for event in events])
        names["DOOMED"] = SetOf([TRUE if place and test.loses_owner(place) else FALSE for place in placed])
        for name in (*SETS, "W", "R", "IW", "REST", "OUT", "END", "LOCKED"):
            names[name] = SetOf([TRUE if name in event.kinds else FALSE for event in events])
        names["_"] = SetOf([TRUE for _ in events])
        names["M"] = SetOf([TRUE if event.kinds & {"W", "R"} else FALSE for event in events])
        names["VM"] = SetOf([TRUE if place in test.volatile else FALSE for place in placed])
        names["PM"] = SetOf([TRUE if place and place not in test.volatile else FALSE for place in placed])
        return names
