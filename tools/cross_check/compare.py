"""Compares the expected states of a test with z3's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .encode import States, allowed_states, belongs, locations
from .expected import Section
from .parse_cat import Model
from .parse_litmus import Litmus, read_litmus


@dataclass
class Difference:
    """Where the two ways part."""

    test: str
    model: str
    what: str
    only_expected: list[str] = field(default_factory=list)
    only_found: list[str] = field(default_factory=list)


@dataclass
class Comparison:
    """A test compared."""

    test: str
    labels: list[str]
    """The models and variants compared."""
    differences: list[Difference]


def labels(test: Litmus, models: Mapping[str, Model]) -> list[tuple[str, str | None]]:
    """The models that the test belongs to and each of their variants, in order."""
    own = [model for _, model in sorted(models.items()) if belongs(test, model)]
    return [(model.name, variant) for model in own for variant in (None, *model.variants)]


def compare(path: Path, sections: Sequence[Section], models: Mapping[str, Model]) -> Comparison:
    """Compares a test, in all its models, with its folder's files."""
    test = read_litmus(path)
    found = {section.label: section for section in sections}
    wanted = {f"{name}:{variant}" if variant else name: (name, variant) for name, variant in labels(test, models)}
    result = Comparison(str(path), [], [])

    def differs(model: str, what: str) -> None:
        result.differences.append(Difference(str(path), model, what))

    for label in found:
        if label not in wanted:
            differs(label, "is listed, but the test does not belong to it")
    for label, (name, variant) in wanted.items():
        if label not in found:
            differs(label, "is not listed, but the test belongs to it")
            continue
        result.labels.append(label)
        if difference := _compare(test, found[label], allowed_states(test, models[name], variant)):
            difference.test = str(path)
            result.differences.append(difference)
    if not result.differences and list(found) != list(wanted):
        differs("", "the models are not in the order of their names")
    return result


def _compare(test: Litmus, section: Section, states: States | None) -> Difference | None:
    """The difference in one model."""
    if states is None or section.states is None:
        if states is None and section.states is None:
            return None
        said = ("undefined" if section.states is None else "defined", "undefined" if states is None else "defined")
        return Difference("", section.label, f"expected {said[0]}, found {said[1]}")
    names = _named(test, section.states)
    places = [at for at, name in enumerate(locations(test)) if name in names]
    ordered = [" ".join(f"{locations(test)[at]}={state[at]}" for at in places) for state in sorted(states)]
    if tuple(ordered) == section.states:
        return None
    only_expected = [state for state in section.states if state not in ordered]
    only_found = [state for state in ordered if state not in section.states]
    what = "the states differ" if only_expected or only_found else "the states are not in order, or stand twice"
    return Difference("", section.label, what, only_expected, only_found)


def _named(test: Litmus, states: tuple[str, ...]) -> set[str]:
    """The locations of a state. One that only the header names never changes, so a file may leave it out."""
    listed = {part.partition("=")[0] for part in states[0].split()} if states else set()
    return {name for name in locations(test) if name in listed or name in test.used or name in test.outputs}
