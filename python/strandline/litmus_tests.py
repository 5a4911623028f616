"""Litmus tests: their sources, and the results of models and designs."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

State = tuple[int, ...]
"""A crash state: a value for each location, in the order of the test's locations."""

Expected = Literal["agrees", "differs", "missing", "none"]
"""How the allowed states compare with those in the folder's `.expected` files. `missing`: the files lack the test or
the model. `none`: there are no such files, or several variants are combined.
"""

SHELF = Path("litmus")
"""The folder of the built-in tests in a checkout."""


@dataclass(frozen=True)
class Source:
    """A test of the command line: a file, or a test on the built-in shelf."""

    name: str
    text: str | None = None
    """The file's text; `None` for a test on the shelf."""
    expected: Mapping[str, Any] | None = None
    """The expected states by model, from the folder's `.expected` files; `None` without files, or for the shelf."""

    @property
    def is_file(self) -> bool:
        """Whether the test was read from a file."""
        return self.text is not None

    @property
    def folder(self) -> Path:
        """The folder of the test and of its expected states."""
        return Path(self.name).parent if self.is_file else SHELF / Path(self.name).parent

    @property
    def stem(self) -> str:
        """The file's name without `.litmus`, which is the test's name in files of expected states."""
        return Path(self.name).stem if self.is_file else Path(self.name).name

    @property
    def mend(self) -> str:
        """The command that rewrites the folder's expected states."""
        return shlex.join(("strandline", "litmus", "--promote", str(self.folder))) if self.is_file else "make promote"

    def expected_file(self, model: str) -> Path:
        """The file with the expected states of a model or its variant."""
        return expected_file(self.folder, model.partition(":")[0])

    def keys(self) -> dict[str, Any]:
        """The test in the native module's format."""
        if self.text is None:
            return {"shelf": self.name}
        return {"file": self.name, "text": self.text, "expected": self.expected}


def expected_file(folder: Path, model: str) -> Path:
    """The file with a model's expected states for a folder's tests."""
    return folder / f"{model}.expected"


@dataclass(frozen=True)
class LitmusSpec:
    """One test, the models to evaluate and the designs to run. `None` is the native module's default."""

    source: Source
    models: tuple[str, ...] | None = None
    """Models and variants such as `px86:weak-locks`; `None` is all models of the test, without variants."""
    designs: tuple[str, ...] | None = None
    set: tuple[str, ...] = ()
    """`KEY=VALUE` of the designs' parameters; others have the paper's value or an extreme one."""
    machines: tuple[str, ...] | None = None
    timings: int | None = None
    """Runs of a design on each machine, with different latencies."""
    seed: int = 1

    def keys(self) -> dict[str, Any]:
        """The specification in the native module's format."""
        rest = {key: getattr(self, key) for key in ("models", "designs", "set", "machines", "timings", "seed")}
        return {"tests": [self.source.keys()], **rest}


@dataclass(frozen=True)
class ModelVerdict:
    """One model's result for a test."""

    model: str
    undefined: bool
    """Whether the test is undefined in the model, because an execution raises a flag."""
    states: Mapping[State, bool]
    """Every candidate state, and whether it is allowed."""
    condition_holds: bool
    expected: Expected

    @property
    def allowed(self) -> int:
        """The number of allowed states."""
        return sum(self.states.values())


@dataclass(frozen=True)
class _Wrong:
    """What went wrong in a run of a test."""

    machine: str
    seed: int
    """This seed and machine with one timing reproduce it."""
    detail: tuple[str, ...]


@dataclass(frozen=True)
class Violation(_Wrong):
    """A state that a design reaches and its model forbids."""

    state: State


@dataclass(frozen=True)
class StuckRun(_Wrong):
    """A run of a test that did not end."""

    kind: str
    """`stuck`: a deadlock; `starved`: no thread ends."""


@dataclass(frozen=True)
class UnderModel:
    """The runs of a design on machines that one variant of its model judges."""

    machines: tuple[str, ...]
    """Presets, whose parameters the runs draw at random."""
    undefined: bool
    allowed: frozenset[State]
    shown: frozenset[State]


@dataclass(frozen=True)
class DesignVerdict:
    """The states of a test that one design reached."""

    design: str
    model: str
    """The model that judges the design."""
    runs: int
    crash_states: int
    shown: frozenset[State]
    violations: tuple[Violation, ...]
    stuck: StuckRun | None
    """The run that did not end; none follows it."""
    judged: Mapping[str, UnderModel]
    """By the model and its variants (`px86:weak-locks`), each of which judges some of the machines."""


@dataclass(frozen=True)
class LitmusTest:
    """A test and all its results."""

    source: Source
    name: str
    title: str
    text: str
    threads: int
    condition: str
    locations: tuple[str, ...]
    models: tuple[ModelVerdict, ...]
    designs: tuple[DesignVerdict, ...]
    fields: Mapping[str, Any]
    """The native module's answer, for JSON."""

    @property
    def label(self) -> str:
        """The test's name in tables: its own, or its name on the shelf."""
        return self.name if self.source.is_file else self.source.name

    @cached_property
    def states(self) -> list[State]:
        """Every candidate state of a model or state that a design reached, in the order of values."""
        thinkable = {state for model in self.models for state in model.states}
        return sorted(thinkable.union(*(design.shown for design in self.designs)))

    def model(self, name: str) -> ModelVerdict | None:
        """The verdict of that model, if it was evaluated and the test belongs to it."""
        return next((model for model in self.models if model.model == name), None)

    def design(self, name: str) -> DesignVerdict | None:
        """The verdict on that design, if it ran the test."""
        return next((design for design in self.designs if design.design == name), None)

    def beyond(self, design: DesignVerdict) -> dict[str, frozenset[State]]:
        """What the design has shown and its model forbids, by the variants of the model that judge those machines."""
        own = self.model(design.model)
        if own is None or own.undefined:
            return {}
        more = {name: frozenset(s for s in each.shown if not own.states.get(s)) for name, each in design.judged.items()}
        return {name: states for name, states in more.items() if states and name != design.model}

    def judged_by_designs(self) -> LitmusTest:
        """The same test with only the models of the designs that ran it."""
        return self.judged_by({design.model for design in self.designs})

    def judged_by(self, kept: Collection[str]) -> LitmusTest:
        """The same test with only these models."""
        fields = {**self.fields, "models": [model for model in self.fields["models"] if model["model"] in kept]}
        return replace(self, models=tuple(model for model in self.models if model.model in kept), fields=fields)

    def state_text(self, state: State) -> str:
        """A state as tests write it: `x=0 z=1`."""
        return " ".join(f"{place}={value}" for place, value in zip(self.locations, state, strict=True))


def read_test(source: Source, fields: Mapping[str, Any]) -> LitmusTest:
    """The native module's answer about one test."""
    return LitmusTest(
        source=source,
        **{key: fields[key] for key in ("name", "title", "text", "threads", "condition")},
        locations=tuple(fields["locations"]),
        models=tuple(_model(model) for model in fields["models"]),
        designs=tuple(_design(design) for design in fields["designs"] or ()),
        fields=fields,
    )


def _model(fields: Mapping[str, Any]) -> ModelVerdict:
    return ModelVerdict(
        fields["model"],
        fields["undefined"],
        {tuple(state["values"]): state["allowed"] for state in fields["states"]},
        *(fields[key] for key in ("condition_holds", "expected")),
    )


def _design(fields: Mapping[str, Any]) -> DesignVerdict:
    stuck = fields["stuck"]
    return DesignVerdict(
        **{key: fields[key] for key in ("design", "model", "runs", "crash_states")},
        shown=frozenset(tuple(state) for state in fields["shown"]),
        violations=tuple(Violation(*_wrong(each), tuple(each["values"])) for each in fields["violations"]),
        stuck=stuck and StuckRun(*_wrong(stuck), stuck["kind"]),
        judged={name: _under(each) for name, each in fields["judged"].items()},
    )


def _under(fields: Mapping[str, Any]) -> UnderModel:
    allowed, shown = (frozenset(tuple(state) for state in fields[key]) for key in ("allowed", "shown"))
    return UnderModel(tuple(fields["machines"]), fields["undefined"], allowed, shown)


def _wrong(fields: Mapping[str, Any]) -> tuple[str, int, tuple[str, ...]]:
    return fields["machine"], fields["seed"], tuple(fields["detail"])


@dataclass(frozen=True)
class RandomSpec:
    """Random programs with consecutive seeds, each over every design."""

    designs: tuple[str, ...]
    first_seed: int
    programs: int
    set: tuple[str, ...] = ()


@dataclass(frozen=True)
class RandomCount:
    """The amount of testing of a design."""

    design: str
    programs: int
    crash_states: int


@dataclass(frozen=True)
class RandomViolation:
    """A random program for which a design reaches a forbidden state, or which it does not finish."""

    design: str
    seed: int
    machine: str
    kind: str
    """`forbidden`, `stuck` or `starved`."""
    size: int
    """Instructions."""
    program: str
    detail: tuple[str, ...]


@dataclass(frozen=True)
class RandomResult:
    """What random programs came to."""

    designs: tuple[RandomCount, ...]
    violations: tuple[RandomViolation, ...]


def read_random(fields: Mapping[str, Any]) -> RandomResult:
    """The native module's answer about random programs."""
    return RandomResult(
        tuple(
            RandomCount(*(each[key] for key in ("design", "programs", "crash_states"))) for each in fields["designs"]
        ),
        tuple(
            RandomViolation(
                **{key: each[key] for key in ("design", "seed", "machine", "kind", "size", "program")},
                detail=tuple(each["detail"]),
            )
            for each in fields["violations"]
        ),
    )
