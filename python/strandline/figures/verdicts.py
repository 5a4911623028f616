"""The outcomes of claims, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.figures.evaluate import Outcome
from strandline.views.numbers import give_or_take, number
from strandline.views.table import NOTHING, Column, Table

MECHANISM_MAX = 90
"""Characters of a mechanism, which is one line where there is room."""

CLAIM_COLUMNS = (
    Column("claim", numeric=False),
    Column("paper", numeric=False, prose=True),
    Column("measured", numeric=False, prose=True),
    Column("holds", numeric=False),
    Column("mechanism", numeric=False, prose=True, widest=MECHANISM_MAX),
)

UNDECIDED = "undecided"
VERDICTS = {True: "yes", False: "NO", None: "-"}


def outcomes(claims: Sequence[Outcome]) -> Table:
    """One row a claim."""
    return Table(CLAIM_COLUMNS, tuple(_outcome(outcome) for outcome in claims))


def _outcome(outcome: Outcome) -> tuple[str, ...]:
    paper = brief(outcome.claim.paper_value) if outcome.claim.paper_value is not None else outcome.claim.text
    measured = outcome.reason or brief(outcome.measured, outcome.error)
    if outcome.beside:
        measured = f"{measured} ({brief(outcome.beside)})"
    return outcome.claim.id, paper, measured, verdict(outcome), outcome.claim.mechanism or NOTHING


def verdict(outcome: Outcome) -> str:
    """Whether the claim holds, in one word."""
    return UNDECIDED if outcome.undecided else VERDICTS[outcome.holds]


def tally(claims: Sequence[Outcome]) -> str:
    """The number of claims that hold, in one line."""
    unmeasured = sum(outcome.reason is not None for outcome in claims)
    undecided = sum(outcome.undecided for outcome in claims)
    judged = [outcome.holds for outcome in claims if outcome.holds is not None and not outcome.undecided]
    shown = len(claims) - unmeasured - len(judged) - undecided
    parts = [f"{sum(judged)} hold", f"{len(judged) - sum(judged)} do not"]
    parts += [f"{undecided} undecided (run longer: --tasks)"] if undecided else []
    return ", ".join((*parts, f"{shown} shown without a verdict", f"{unmeasured} not measurable yet"))


def brief(value: Any, error: Any = None) -> str:
    """A claim's value in one line; `error` has half the widths of its numbers' intervals in the same shape."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return VERDICTS[value]
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
