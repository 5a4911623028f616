"""The allowed states of a test in a model: executions and cuts as one circuit, whose states z3 lists."""

from __future__ import annotations

from dataclasses import dataclass

from .circuit import FALSE, TRUE, Circuit
from .errors import InputError
from .parse_cat import Binary, Check, Expr, If, Let, Model, Name, Nothing, Unary, subexpressions
from .parse_litmus import INITIAL, Event, Litmus
from .relations import Algebra, Members, Relation
from .solver import Solver

States = set[tuple[int, ...]]

SETS = [
    "CLWB",
    "CLFLUSHOPT",
    "CLFLUSH",
    "SFENCE",
    "MFENCE",
    "PCOMMIT",
    "DMB",
    "PB",
    "NS",
    "JS",
    "OFENCE",
    "DFENCE",
    "CFENCE",
    "PERSIST",
    "ORDER",
    "COMMIT",
    "DURABLE",
    "ACQUIRE",
    "RELEASE",
    "STRAND",
    "NT",
    "ACQ",
    "REL",
]
"""The sets that a model must name in `isa` for the tests with such an instruction."""


def belongs(test: Litmus, model: Model) -> bool:
    """Whether the model gives a meaning to every instruction of the test."""
    return all(event.kinds & set(SETS) <= model.isa for event in test.events)


def locations(test: Litmus) -> list[str]:
    """The locations of a state, in order."""
    return [*test.persistent, *sorted(test.outputs)]


def allowed_states(test: Litmus, model: Model, variant: str | None = None) -> States | None:
    """All allowed states, their values in the order of `locations`; None if the test is undefined."""
    candidate = Candidate(test)
    evaluation = Evaluation(candidate, variant)
    evaluation.run(model)
    return evaluation.states()


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


class Candidate:
    """The candidate executions of a test: who reads from whom, in what order writes are, and what values follow."""

    def __init__(self, test: Litmus) -> None:
        self.test = test
        self.events = test.events
        self.circuit = Circuit()
        self.algebra = Algebra(self.circuit, len(test.events))
        self.writes: dict[str, list[Event]] = {}
        for event in self.events:
            if "W" in event.kinds and event.location:
                self.writes.setdefault(event.location, []).append(event)
        self.rf = self._reads_from()
        self.co = self._coherence()
        self.fr = self._from_reads()
        self.read: dict[int, dict[int, int]] = {}

    def _none(self) -> Relation:
        return [{} for _ in self.events]

    def _reads_from(self) -> Relation:
        rf = self._none()
        for event in self.events:
            if "R" in event.kinds and event.location:
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

    def settle_values(self) -> None:
        """Finds for each read what it may read. A read whose value depends on itself gets none, and is ruled out.

        Done when the model has been evaluated: fewer writes are left to read from then.
        """
        memo: dict[int, int] = {}
        self.rf = self.algebra.rebuilt(self.rf, memo)
        self.co = self.algebra.rebuilt(self.co, memo)
        reads = [event.number for event in self.events if "R" in event.kinds]
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
        """What a write or an output may write, each value with its literal, given what reads may read."""
        sums = {event.value.constant: TRUE}
        for number in event.value.reads:
            found: dict[int, list[int]] = {}
            for value, holds in sums.items():
                for more, also in read[number].items():
                    found.setdefault((value + more) % 256, []).append(self.circuit.both(holds, also))
            sums = {v: lit for v, lits in found.items() if (lit := self.circuit.disj(lits))}
        return sums

    def names(self) -> dict[str, Value]:
        """The sets and relations that a model is given."""
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
            return same(a, b) and a < b and events[a].thread != INITIAL

        relations = {
            "id": lambda a, b: a == b,
            "po": po,
            "loc": loc,
            "line": line,
            "int": same,
            "ext": lambda a, b: not same(a, b),
            "rmw": lambda a, b: events[b].pair == a,
            "data": lambda a, b: "R" in events[a].kinds and po(a, b) and a in events[b].value.reads,
            "ctx": lambda a, b: same(a, b) and events[a].context == events[b].context,
        }
        names: dict[str, Value] = {name: Between(self.algebra.relation(holds)) for name, holds in relations.items()}
        names |= {"rf": Between(self.rf), "co": Between(self.co), "fr": Between(self.fr)}
        for name in (*SETS, "W", "R", "IW", "OUT", "LOCKED"):
            names[name] = SetOf([TRUE if name in event.kinds else FALSE for event in events])
        names["_"] = SetOf([TRUE for _ in events])
        names["M"] = SetOf([TRUE if event.kinds & {"W", "R"} else FALSE for event in events])
        names["VM"] = SetOf([TRUE if place in test.volatile else FALSE for place in placed])
        names["PM"] = SetOf([TRUE if place and place not in test.volatile else FALSE for place in placed])
        return names


class Evaluation:
    """A model over the candidates of a test."""

    def __init__(self, candidate: Candidate, variant: str | None) -> None:
        self.candidate, self.variant = candidate, variant
        self.circuit, self.algebra = candidate.circuit, candidate.algebra
        self.names = candidate.names()
        self.flags: list[int] = []

    def run(self, model: Model) -> None:
        """Evaluates the model's statements in their order."""
        for statement in model.statements:
            if isinstance(statement, Let):
                self.let(statement)
            else:
                self.check(statement)

    def let(self, let: Let) -> None:
        """Binds names."""
        if let.recursive:
            self.fixpoint(let)
        else:
            self.names |= {name: self.value(expr) for name, expr in let.bindings}

    def fixpoint(self, let: Let) -> None:
        """The least fixed point: from nothing, step by step, until in no execution a step adds a pair, says z3."""
        bound = {name for name, _ in let.bindings}
        for _, expr in let.bindings:
            _monotone(expr, bound)
        self.names |= dict.fromkeys(bound, Empty())
        solver = Solver(self.circuit)
        while True:
            new = {name: self.value(expr) for name, expr in let.bindings}
            added = [lit for name in bound for lit in self.added(new[name], self.names[name])]
            self.names |= new
            if not solver.possible(self.circuit.disj(added)):
                return

    def added(self, new: Value, old: Value) -> list[int]:
        """The literals that say that a member is new."""
        both = self.circuit.both
        if isinstance(new, SetOf):
            before = old.members if isinstance(old, SetOf) else [FALSE] * self.algebra.size
            return [both(lit, before[a] ^ 1) for a, lit in enumerate(new.members)]
        if isinstance(new, Between):
            rows: Relation = old.rows if isinstance(old, Between) else [{} for _ in new.rows]
            return [both(lit, rows[a].get(b, FALSE) ^ 1) for a, row in enumerate(new.rows) for b, lit in row.items()]
        return []

    def check(self, check: Check) -> None:
        """Assumes a check, or keeps a flag."""
        of = self.value(check.of)
        if isinstance(of, SetOf) and check.kind == "empty":
            holds = self.circuit.disj(of.members) ^ 1
        else:
            rows = self.rows(of, check.of)
            if check.kind == "acyclic":
                rows = self.algebra.closure(rows)
            pairs = ((a, b, lit) for a, row in enumerate(rows) for b, lit in row.items())
            holds = self.circuit.disj(lit for a, b, lit in pairs if check.kind == "empty" or a == b) ^ 1
        holds ^= check.negated
        if check.flag:
            self.flags.append(holds)
        elif self.circuit.assume(holds):
            self.rebuild()

    def rebuild(self) -> None:
        """Folds what is known by now into all that is named."""
        memo: dict[int, int] = {}
        for name, value in self.names.items():
            if isinstance(value, Between):
                self.names[name] = Between(self.algebra.rebuilt(value.rows, memo))
            elif isinstance(value, SetOf):
                self.names[name] = SetOf([self.circuit.rebuild(lit, memo) for lit in value.members])

    def rows(self, value: Value, expr: Expr) -> Relation:
        """The relation, or a refusal."""
        if isinstance(value, SetOf):
            raise InputError(f"{expr.where}: a set where a relation is wanted")
        return value.rows if isinstance(value, Between) else [{} for _ in self.candidate.events]

    def members(self, value: Value, expr: Expr) -> Members:
        """The set, or a refusal."""
        if isinstance(value, Between):
            raise InputError(f"{expr.where}: a relation where a set is wanted")
        return value.members if isinstance(value, SetOf) else [FALSE for _ in self.candidate.events]

    def value(self, expr: Expr) -> Value:
        """What an expression stands for."""
        if isinstance(expr, Nothing):
            return Empty()
        if isinstance(expr, Name):
            if expr.name not in self.names:
                raise InputError(f"{expr.where}: {expr.name} is not defined")
            return self.names[expr.name]
        if isinstance(expr, If):
            return self.value(expr.then if expr.variant == self.variant else expr.otherwise)
        return self.unary(expr) if isinstance(expr, Unary) else self.binary(expr)

    def unary(self, expr: Unary) -> Value:
        """An operator with one operand."""
        algebra, of = self.algebra, self.value(expr.of)
        if expr.op == "~":
            if isinstance(of, Empty):
                raise InputError(f"{expr.where}: ~0 is neither a set nor a relation")
            if isinstance(of, SetOf):
                return SetOf(algebra.complement_set(of.members))
            return Between(algebra.complement(of.rows))
        if expr.op == "[":
            return Between(algebra.identity(self.members(of, expr.of)))
        rows = self.rows(of, expr.of)
        if expr.op == "domain":
            return SetOf(algebra.domain(rows))
        if expr.op == "range":
            return SetOf(algebra.domain(algebra.inverse(rows)))
        if expr.op == "^-1":
            return Between(algebra.inverse(rows))
        if expr.op in "+*":
            rows = algebra.closure(rows)
        return Between(rows if expr.op == "+" else algebra.union(rows, algebra.identity()))

    def binary(self, expr: Binary) -> Value:
        """An operator with two operands."""
        algebra, left, right = self.algebra, self.value(expr.left), self.value(expr.right)
        if expr.op == "*":
            return Between(algebra.product(self.members(left, expr.left), self.members(right, expr.right)))
        if expr.op == ";":
            return Between(algebra.compose(self.rows(left, expr.left), self.rows(right, expr.right)))
        if isinstance(left, Empty) and isinstance(right, Empty):
            return left
        if isinstance(left, SetOf) or (isinstance(left, Empty) and isinstance(right, SetOf)):
            s, t = self.members(left, expr.left), self.members(right, expr.right)
            return SetOf([self.member(expr.op, a, b) for a, b in zip(s, t, strict=True)])
        r, s2 = self.rows(left, expr.left), self.rows(right, expr.right)
        if expr.op == "|":
            return Between(algebra.union(r, s2))
        return Between(algebra.intersection(r, s2) if expr.op == "&" else algebra.difference(r, s2))

    def member(self, op: str, a: int, b: int) -> int:
        """Membership in a union, an intersection or a difference of sets."""
        if op == "|":
            return self.circuit.disj((a, b))
        return self.circuit.both(a, b if op == "&" else b ^ 1)

    def states(self) -> States | None:
        """The states that z3 finds."""
        self.candidate.settle_values()
        solver = Solver(self.circuit)
        if any(solver.possible(flag) for flag in self.flags):
            return None
        pmo = self.rows(self.names["pmo"], Name("pmo", "pmo"))
        cut = [self.circuit.variable() for _ in self.candidate.events]
        # An event that does not persist passes the order on: in the cut it asks for what comes before it.
        solver.add([lit ^ 1, cut[b] ^ 1, cut[a]] for a, row in enumerate(pmo) for b, lit in row.items() if a != b)
        return set(solver.values([self.state(name, cut) for name in locations(self.candidate.test)]))

    def state(self, location: str, cut: list[int]) -> dict[int, int]:
        """The values that the cut may leave in a location, or may have output."""
        candidate, both = self.candidate, self.circuit.both
        found: dict[int, list[int]] = {}
        writes = candidate.writes.get(location, [])
        if location in candidate.test.outputs:
            outputs = [event for event in candidate.events if event.location == location]
            found[0] = [cut[event.number] ^ 1 for event in outputs] or [TRUE]
            last = {event: cut[event.number] for event in outputs}
        else:
            last = {write: self.last(write, writes, cut) for write in writes}
        for event, holds in last.items():
            for value, literal in candidate.value(event, candidate.read).items():
                found.setdefault(value, []).append(both(holds, literal))
        return {value: lit for value, lits in found.items() if (lit := self.circuit.disj(lits))}

    def last(self, write: Event, writes: list[Event], cut: list[int]) -> int:
        """That a write is the last of its location in the cut; the initial one is in every cut."""
        circuit, after = self.circuit, self.candidate.co[write.number]
        present = TRUE if write.thread == INITIAL else cut[write.number]
        later = [circuit.both(after[other.number], cut[other.number]) for other in writes if other.number in after]
        return circuit.conj([present, *(lit ^ 1 for lit in later)])


def _monotone(expr: Expr, bound: set[str]) -> None:
    """Refuses a recursive definition that may have no least fixed point."""
    for part in subexpressions(expr):
        under = None
        if isinstance(part, Unary) and part.op == "~":
            under = part.of
        elif isinstance(part, Binary) and part.op == "\\":
            under = part.right
        names = {name.name for name in subexpressions(under) if isinstance(name, Name)} if under else set()
        if names & bound:
            raise InputError(
                f"{part.where}: {min(names & bound)} is negated in its own definition: it has no least value"
            )
