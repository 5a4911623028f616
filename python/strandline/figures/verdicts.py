"""The outcomes of claims, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from strandline.figures.claims import Claim
from strandline.figures.evaluate import Outcome, State
from strandline.views.numbers import give_or_take, number, significant
from strandline.views.runs import VERDICTS
from strandline.views.table import NOTHING, Alarm, Column, Good, Open, Table, tabulated

MECHANISM_MAX = 90
"""Characters of a mechanism, which is one line where there is room."""

COLUMNS: Mapping[Column, Callable[[Outcome], str]] = {
    Column("claim", numeric=False): lambda outcome: outcome.claim.id,
    Column("paper", numeric=False, prose=True): lambda outcome: _paper(outcome.claim),
    Column("measured", numeric=False, prose=True): lambda outcome: _measured(outcome),
    Column("state", numeric=False, folds=False): lambda outcome: state(outcome),
    Column("inputs", numeric=False, prose=True, narrowest=14): lambda outcome: residual(outcome),
    Column("mechanism", numeric=False, prose=True, widest=MECHANISM_MAX): lambda outcome: (
        outcome.claim.mechanism or NOTHING
    ),
}

IN_COLOUR: Mapping[State, type[str]] = {State.MET: Good, State.INPUT_OFF: Good, State.UNDECIDED: Open}

CLOSE = 1.15
"""The factor up to which a residual is said in per cent."""


def outcomes(claims: Sequence[Outcome]) -> Table:
    """One row a claim."""
    return replace(tabulated(claims, COLUMNS), stacks=True)


def _paper(claim: Claim) -> str:
    return claim.text if claim.paper_value is None else brief(claim.paper_value)


def _measured(outcome: Outcome) -> str:
    measured = outcome.reason or brief(outcome.measured, outcome.error)
    return f"{measured} ({brief(outcome.beside)})" if outcome.beside else measured


def state(outcome: Outcome) -> str:
    """What is said of the claim, in a few words: in capitals if it is not met."""
    words: str = outcome.state.value
    return Alarm(words.upper()) if outcome.state is State.NOT_MET else IN_COLOUR.get(outcome.state, str)(words)


def style(claims: Sequence[Outcome]) -> str:
    """The colour of the tally."""
    found = {outcome.state for outcome in claims}
    return (Alarm if State.NOT_MET in found else Open if State.UNDECIDED in found else Good).style


def residual(outcome: Outcome) -> str:
    """How far the claim's inputs are from the paper's."""
    if outcome.off is None:
        return NOTHING
    name, quantity, ours = outcome.off
    if 1 / CLOSE <= ours <= CLOSE:
        return f"within {100 * (max(ours, 1 / ours) - 1):.0f} %"
    return f"{name}: {quantity} {significant(ours, 2)} times the paper's"


def tally(claims: Sequence[Outcome]) -> str:
    """The number of claims of each state, in one line."""
    counts = Counter(outcome.state for outcome in claims)
    hints = {State.UNDECIDED: " (run longer: --tasks)", State.SHOWN: " (shown without a verdict)"}
    return ", ".join(f"{counts[each]} {each.value}{hints.get(each, '')}" for each in State if counts[each])


def brief(value: Any, error: Any = None) -> str:
    """A claim's value in one line; `error` has half the widths of its numbers' intervals in the same shape."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(VERDICTS[value])
    if isinstance(value, int | float):
        return number(value) if error is None else give_or_take(value, error)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " ".join(map(brief, value))
    halves = error or {}
    if set(value) == {"low", "high"}:
        return " to ".join(brief(value[end], halves.get(end)) for end in ("low", "high"))
    if "holds" in value:
        return _part(value, halves)
    nested = any(isinstance(item, dict) for item in value.values())
    return ("; " if nested else ", ").join(f"{key} {brief(item, halves.get(key))}" for key, item in value.items())


def _part(value: Mapping[str, Any], halves: Mapping[str, Any]) -> str:
    """One of several comparisons: its verdict, and the compared values."""
    compared = {key: item for key, item in value.items() if key != "holds"}
    between = " / " if any(isinstance(item, dict) for item in compared.values()) else ", "
    shown = between.join(f"{key} {brief(item, halves.get(key))}" for key, item in compared.items())
    return f"{brief(value['holds'])} ({shown})"
