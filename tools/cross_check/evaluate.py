"""Evaluates a model on all candidate executions of a test at once."""

from __future__ import annotations

from .candidate import Candidate
from .circuit import FALSE
from .errors import InputError
from .parse_cat import Binary, Check, Expr, If, Let, Model, Name, Nothing, Unary, subexpressions
from .relations import Between, Empty, Members, Relation, SetOf, Value
from .solver import Solver


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
        """The least fixed point: iterates from the empty relation until z3 finds no execution with a new pair."""
        bound = {name for name, _ in let.bindings}
        for _, expr in let.bindings:
            _monotone(expr, bound)
        self.names |= dict.fromkeys(bound, Empty())
        solver = Solver(self.circuit)
        while True:
            new = {name: self.value(expr) for name, expr in let.bindings}
            added = [lit for name in bound for lit in self.added(new[name], self.names[name])]
            # If nothing is new, both are equal, and the older one has the smaller circuit.
            if not solver.possible(self.circuit.disj(added)):
                return
            self.names |= new

    def added(self, new: Value, old: Value) -> list[int]:
        """The literals that make a member new."""
        both = self.circuit.both
        if isinstance(new, SetOf):
            before = old.members if isinstance(old, SetOf) else [FALSE] * self.algebra.size
            return [both(lit, before[a] ^ 1) for a, lit in enumerate(new.members)]
        if isinstance(new, Between):
            rows: Relation = old.rows if isinstance(old, Between) else [{} for _ in new.rows]
            return [both(lit, rows[a].get(b, FALSE) ^ 1) for a, row in enumerate(new.rows) for b, lit in row.items()]
        return []

    def check(self, check: Check) -> None:
        """Assumes a check, or records a flag."""
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
        """Folds current constants into all named values."""
        memo: dict[int, int] = {}
        for name, value in self.names.items():
            if isinstance(value, Between):
                self.names[name] = Between(self.algebra.rebuilt(value.rows, memo))
            elif isinstance(value, SetOf):
                self.names[name] = SetOf([self.circuit.rebuild(lit, memo) for lit in value.members])

    def relation(self, name: str) -> Relation:
        """A relation that the model has defined."""
        return self.rows(self.names[name], Name(name, name))

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
