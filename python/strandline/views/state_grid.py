"""Litmus tests as grids, before they are drawn: a column for each state, a row for each model and design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from textwrap import dedent

from strandline.litmus_tests import DesignVerdict, LitmusTest, ModelVerdict, State


class Mark(Enum):
    """The verdict of a model or a design on a state."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    SHOWN = "shown"
    NOT_SHOWN = "allowed, not shown"
    VIOLATION = "shown, though the design's model forbids it"
    NOTHING = ""
    """A design did not reach a forbidden state, or the test is undefined in a model."""


@dataclass(frozen=True)
class Row:
    """The verdicts of one model or design on all states."""

    label: str
    is_model: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class GridPanel:
    """One test."""

    title: str
    program: tuple[str, ...]
    condition: str
    locations: tuple[str, ...]
    states: tuple[State, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class StateGrid:
    """A figure of tests with its titles."""

    title: str
    source: str
    panels: tuple[GridPanel, ...]


def grid_panel(test: LitmusTest, models: Sequence[str], designs: Sequence[str]) -> GridPanel:
    """A test's grid: the models first, then the designs."""
    states = tuple(test.states)
    asked = [model for name in models if (model := test.model(name))]
    ran = [design for name in designs if (design := test.design(name))]
    return GridPanel(
        title=f"{test.name}: {test.title}",
        program=program(test.text),
        condition=test.condition,
        locations=test.locations,
        states=states,
        rows=(
            *(Row(model.model, True, tuple(says(model, state) for state in states)) for model in asked),
            *(Row(design.design, False, tuple(did(test, design, state) for state in states)) for design in ran),
        ),
    )


def program(text: str) -> tuple[str, ...]:
    """The lines of a test's program, from the names of the threads on: those that end with a semicolon."""
    lines = [line.rstrip() for line in text.splitlines()]
    rows = [line.removesuffix(";").rstrip() for line in lines if line.endswith(";") and "{" not in line]
    return tuple(dedent("\n".join(rows)).splitlines())


def says(model: ModelVerdict, state: State) -> Mark:
    """A model's verdict on a state."""
    if model.undefined:
        return Mark.NOTHING
    return Mark.ALLOWED if model.states.get(state) else Mark.FORBIDDEN


def did(test: LitmusTest, design: DesignVerdict, state: State) -> Mark:
    """Whether a design reached a state, and its model's verdict."""
    if any(violation.state == state for violation in design.violations):
        return Mark.VIOLATION
    if state in design.shown:
        return Mark.SHOWN
    model = test.model(design.model)
    return Mark.NOT_SHOWN if model and says(model, state) is Mark.ALLOWED else Mark.NOTHING
