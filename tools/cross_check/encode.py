"""The allowed states of a test in a model: executions and cuts as one circuit, whose states z3 lists."""

from __future__ import annotations

from .candidate import Candidate
from .circuit import TRUE
from .evaluate import Evaluation
from .parse_cat import Model
from .parse_litmus import INITIAL, SETS, Event, Litmus
from .solver import Solver

States = set[tuple[int, ...]]


def belongs(test: Litmus, model: Model) -> bool:
    """Whether the model defines every instruction of the test, and hosts and owners just if the test has them."""
    same = model.has_hosts == bool(test.hosts) and model.has_owners == test.has_owners
    return same and all(event.kinds & SETS <= model.isa for event in test.events)


def locations(test: Litmus) -> list[str]:
    """The locations of a state, in order."""
    return [*test.persistent, *sorted(test.outputs)]


def allowed_states(test: Litmus, model: Model, variant: str | None = None) -> States | None:
    """All allowed states, with values in the order of `locations`; `None` if the test is undefined."""
    if not model.has_owners:
        return _states(test, model, variant)
    found = [_states(moment, model, variant) for moment in test.moments()]
    return None if None in found else {state for states in found if states for state in states}


def _states(test: Litmus, model: Model, variant: str | None) -> States | None:
    """The allowed states of what may have happened."""
    candidate = Candidate(test.wanted(model.has_rest, model.has_failure), model.has_owners)
    evaluation = Evaluation(candidate, variant)
    evaluation.run(model)
    candidate.settle_values()
    solver = Solver(candidate.circuit)
    if any(solver.possible(flag) for flag in evaluation.flags):
        return None
    cut = [candidate.circuit.variable() for _ in candidate.events]
    pmo = evaluation.relation("pmo")
    # An event that does not persist passes the order on: in the cut it requires its predecessors.
    solver.add([lit ^ 1, cut[b] ^ 1, cut[a]] for a, row in enumerate(pmo) for b, lit in row.items() if a != b)
    # What a survivor has put out, and its end, are in every cut; where all that happens is known, those of others, too.
    certain = (event for event in candidate.events if model.has_owners or test.survives(event))
    solver.add([cut[event.number]] for event in certain if "OUT" in event.kinds)
    # What comes after the failure is in none.
    solver.add([cut[event.number] ^ 1] for event in candidate.events if "FAILURE" in event.kinds)
    return set(solver.values([_state(candidate, name, cut) for name in locations(test)]))


def _state(candidate: Candidate, location: str, cut: list[int]) -> dict[int, int]:
    """The possible values of a location in the cut, or of an output."""
    both = candidate.circuit.both
    found: dict[int, list[int]] = {}
    writes = candidate.writes.get(location, [])
    if location in candidate.test.outputs:
        outputs = [event for event in candidate.events if event.location == location]
        found[0] = [cut[event.number] ^ 1 for event in outputs] or [TRUE]
        last = {event: cut[event.number] for event in outputs}
    else:
        last = {write: _last(candidate, write, writes, cut) for write in writes}
    for event, holds in last.items():
        for value, literal in candidate.value(event, candidate.read).items():
            found.setdefault(value, []).append(both(holds, literal))
    return {value: lit for value, lits in found.items() if (lit := candidate.circuit.disj(lits))}


def _last(candidate: Candidate, write: Event, writes: list[Event], cut: list[int]) -> int:
    """That a write is the last of its location in the cut; the initial one is in every cut."""
    circuit, after = candidate.circuit, candidate.co[write.number]
    present = TRUE if write.thread == INITIAL else cut[write.number]
    later = [circuit.both(after[other.number], cut[other.number]) for other in writes if other.number in after]
    return circuit.conj([present, *(lit ^ 1 for lit in later)])
