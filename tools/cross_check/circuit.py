"""Boolean circuits with constant folding, and their text for z3.

A literal is a number: 0 is false, 1 is true, `2 * node` a node and `2 * node + 1` its negation. A node is a variable or
the conjunction of literals.
"""

from __future__ import annotations

from collections.abc import Iterable

FALSE = 0
TRUE = 1

_FLAT = 12
"""Nested conjunctions are merged up to this number of literals, so that contradictions are found."""


class Circuit:
    """Unique nodes, and the assumptions on them."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, ...] | None] = [()]
        self.numbers: dict[tuple[int, ...], int] = {}
        self.groups: dict[int, int] = {}
        """The group of a variable: at most one of the group holds."""
        self.choices: list[list[int]] = []
        self.known: dict[int, int] = {}
        """Nodes with a value that the assumptions determine."""
        self.assumed: list[int] = []

    def variable(self) -> int:
        """A new variable."""
        self.nodes.append(None)
        return 2 * (len(self.nodes) - 1)

    def choice(self, count: int) -> list[int]:
        """Literals of which exactly one holds."""
        if count == 1:
            return [TRUE]
        if count == 2:
            one = self.variable()
            return [one, one ^ 1]
        literals = [self.variable() for _ in range(count)]
        for literal in literals:
            self.groups[literal] = literals[0]
        self.choices.append(literals)
        return literals

    def conj(self, literals: Iterable[int]) -> int:
        """All of them."""
        found: set[int] = set()
        for literal in literals:
            literal = self.value(literal)
            if literal == FALSE:
                return FALSE
            if literal == TRUE:
                continue
            node = None if literal & 1 else self.nodes[literal >> 1]
            if node and len(node) + len(found) <= _FLAT:
                found.update(node)
            else:
                found.add(literal)
        return self._node(found)

    def _node(self, found: set[int]) -> int:
        groups = self.groups
        chosen: dict[int, int] = {}
        absorbed = []
        for literal in found:
            if literal ^ 1 in found:
                return FALSE
            if literal in groups and chosen.setdefault(groups[literal], literal) != literal:
                return FALSE
            node = self.nodes[literal >> 1] if literal & 1 else None
            if node:
                if found.issuperset(node):
                    return FALSE
                if any(part ^ 1 in found for part in node):
                    absorbed.append(literal)
        found.difference_update(absorbed)
        if len(found) <= 1:
            return found.pop() if found else TRUE
        key = tuple(sorted(found))
        number = self.numbers.get(key)
        if number is None:
            self.nodes.append(key)
            number = self.numbers[key] = len(self.nodes) - 1
        return 2 * number

    def both(self, one: int, other: int) -> int:
        """The conjunction of two."""
        if one == TRUE:
            return other
        if other == TRUE or one == other:
            return one
        if one == FALSE or other == FALSE:
            return FALSE
        return self.conj((one, other))

    def disj(self, literals: Iterable[int]) -> int:
        """Any of them."""
        return self.conj([literal ^ 1 for literal in literals]) ^ 1

    def value(self, literal: int) -> int:
        """The literal, or true or false if the assumptions determine it."""
        known = self.known.get(literal >> 1)
        return literal if known is None else known ^ (literal & 1)

    def assume(self, literal: int) -> bool:
        """Assumes a literal, now and in everything that is built later. Returns whether a node became constant."""
        self.assumed.append(literal)
        before = len(self.known)
        self._settle([literal])
        return len(self.known) > before

    def _settle(self, todo: list[int]) -> None:
        while todo:
            literal = todo.pop()
            if literal <= TRUE or literal >> 1 in self.known:
                continue
            self.known[literal >> 1] = 1 - (literal & 1)
            node = self.nodes[literal >> 1]
            if node and not literal & 1:
                todo.extend(node)
            elif node:
                todo.extend(self._last(node))
            if not todo:
                todo.extend(self._chosen())

    def _last(self, node: tuple[int, ...]) -> list[int]:
        """The one literal of a false conjunction that can be false."""
        values = [self.value(part) for part in node]
        free = [part for part, value in zip(node, values, strict=True) if value != TRUE]
        return [free[0] ^ 1] if len(free) == 1 and FALSE not in values else []

    def _chosen(self) -> list[int]:
        settled = []
        for literals in self.choices:
            values = [self.value(literal) for literal in literals]
            if TRUE in values:
                settled += [literal ^ 1 for literal, value in zip(literals, values, strict=True) if value > TRUE]
            elif sum(value > TRUE for value in values) == 1:
                settled.append(max(values))
        return settled

    def rebuild(self, literal: int, memo: dict[int, int]) -> int:
        """The literal, rebuilt with the current assumptions. `memo` is shared by all literals of one rebuild."""
        number = literal >> 1
        if number not in memo:
            memo[number] = self.value(2 * number)
            node = self.nodes[number]
            if memo[number] > TRUE and node:
                memo[number] = self.conj([self.rebuild(part, memo) for part in node])
        return memo[number] ^ (literal & 1)

    def choice_clauses(self) -> list[list[int]]:
        """Clauses for choices of more than two: at least one, and no two."""
        clauses = []
        for literals in self.choices:
            clauses.append(literals)
            clauses += [[a ^ 1, b ^ 1] for at, a in enumerate(literals) for b in literals[:at]]
        return clauses


class Text:
    """The input of a z3 solver, in increments: each declares and defines what is new."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.defined: set[int] = set()

    def clauses(self, clauses: Iterable[Iterable[int]]) -> str:
        """Asserts the clauses, in SMT-LIB."""
        declarations, assertions = [], []
        todo: list[int] = []
        for clause in clauses:
            literals = list(clause)
            todo.extend(literal >> 1 for literal in literals)
            assertions.append(f"(assert (or false {' '.join(map(_name, literals))}))")
        while todo:
            number = todo.pop()
            if number in self.defined:
                continue
            self.defined.add(number)
            declarations.append(f"(declare-const n{number} Bool)")
            node = self.circuit.nodes[number]
            if node is not None:
                assertions.append(f"(assert (= n{number} {_conjunction(node)}))")
                todo.extend(part >> 1 for part in node)
        return "\n".join(declarations + assertions)


def _conjunction(node: tuple[int, ...]) -> str:
    return f"(and {' '.join(map(_name, node))})" if node else "false"


def _name(literal: int) -> str:
    return f"(not n{literal >> 1})" if literal & 1 else f"n{literal >> 1}"
