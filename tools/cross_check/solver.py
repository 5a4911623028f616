"""z3 over a circuit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import z3

from .circuit import FALSE, TRUE, Circuit, Text


class Solver:
    """A solver with all assumptions of the circuit."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.text = Text(circuit)
        self.z3 = z3.SolverFor("QF_FD")
        self.told = 0
        self.add(circuit.choice_clauses())

    def add(self, clauses: Iterable[Iterable[int]]) -> None:
        """Adds clauses, and the circuit's new assumptions."""
        new = [[literal] for literal in self.circuit.assumed[self.told :]]
        self.told = len(self.circuit.assumed)
        self.z3.from_string(self.text.clauses([*clauses, *new]))

    def possible(self, literal: int) -> bool:
        """Whether the literal can hold."""
        if literal == FALSE:
            return False
        self.add([[literal, literal ^ 1]])
        answer = self.z3.check(self._term(literal))
        return self._decided(answer)

    def _decided(self, answer: z3.CheckSatResult) -> bool:
        if answer == z3.unknown:
            raise RuntimeError(f"z3 does not know: {self.z3.reason_unknown()}")
        return bool(answer == z3.sat)

    def _term(self, literal: int) -> z3.BoolRef:
        term = z3.Bool(f"n{literal >> 1}")
        return z3.Not(term) if literal & 1 else term

    def values(self, choices: list[dict[int, int]]) -> Iterator[tuple[int, ...]]:
        """All combinations of the choices. Each maps values to literals of which exactly one holds."""
        self.add([literal, literal ^ 1] for choice in choices for literal in choice.values())
        terms = [{value: self._term(lit) for value, lit in choice.items() if lit != TRUE} for choice in choices]
        while self._decided(self.z3.check()):
            model = self.z3.model()
            found = []
            for choice, term in zip(choices, terms, strict=True):
                held = [value for value in choice if value not in term or z3.is_true(model.eval(term[value], True))]
                if len(held) != 1:
                    raise RuntimeError(f"{len(held)} values at a time: the encoding is wrong")
                found += held
            yield tuple(found)
            self.z3.add(z3.Or([z3.Not(term[v]) for v, term in zip(found, terms, strict=True) if v in term]))
