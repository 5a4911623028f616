"""Litmus tests: where they come from, and what models and designs say of them."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

State = tuple[int, ...]
"""What a crash leaves: a value for each location, in the order of the test's locations."""

Expected = Literal["agrees", "differs", "missing", "none"]
"""How the allowed states compare with those in the folder's files `.expected`: `missing` is a test or a model that
they lack, `none` is no such file, or variants that are on together."""

SHELF = Path("litmus")
"""Where the built-in tests are in a checkout."""


@dataclass(frozen=True)
class Source:
    """A test as the command line names it: a file, or a test on the built-in shelf."""

    name: str
    text: str | None = None
    """What the file holds; `None` for a test on the shelf."""
    expected: Mapping[str, Any] | None = None
    """What the folder's files `.expected` say of it, by model; `None` if the folder has none, or for the shelf."""

    @property
    def is_file(self) -> bool:
        """Whether the test was read from a file."""
        return self.text is not None

    @property
    def folder(self) -> Path:
        """The folder of the test and of the states that are expected of it."""
        return Path(self.name).parent if self.is_file else SHELF / Path(self.name).parent

    @property
    def stem(self) -> str:
        """The file's name without `.litmus`, by which files of expected states call the test."""
        return Path(self.name).stem if self.is_file else Path(self.name).name

    @property
    def mend(self) -> str:
        """The command that records the folder's expected states anew."""
        return shlex.join(("strandline", "litmus", "--promote", str(self.folder))) if self.is_file else "make promote"

    def expected_file(self, model: str) -> Path:
        """The file with the states that a model, or a variant of it, is expected to allow."""
        return expected_file(self.folder, model.partition(":")[0])

    def keys(self) -> dict[str, Any]:
        """The test as the native module takes it."""
        if self.text is None:
            return {"shelf": self.name}
        return {"file": self.name, "text": self.text, "expected": self.expected}


def expected_file(folder: Path, model: str) -> Path:
    """The file with the states that a model is expected to allow of a folder's tests."""
    return folder / f"{model}.expected"


@dataclass(frozen=True)
class LitmusSpec:
    """One test, the models to ask and the designs to run. `None` means the native module's own default."""

    source: Source
    models: tuple[str, ...] | None = None
    """Models and variants such as `px86:weak-locks`; `None` is each model that the test belongs to, no variants."""
    designs: tuple[str, ...] | None = None
    set: tuple[str, ...] = ()
    """`KEY=VALUE` of the designs' parameters; others are the paper's, or at a corner."""
    machines: tuple[str, ...] | None = None
    timings: int | None = None
    """Runs of a design on each machine, each with other latencies."""
    seed: int = 1

    def keys(self) -> dict[str, Any]:
        """The specification as the native module takes it."""
        rest = {key: getattr(self, key) for key in ("models", "designs", "set", "machines", "timings", "seed")}
        return {"tests": [self.source.keys()], **rest}


@dataclass(frozen=True)
class ModelVerdict:
    """What one model says of a test."""

    model: str
    undefined: bool
    """Whether the model gives the test no meaning, because an execution raises a flag."""
    states: Mapping[State, bool]
    """Every thinkable state, and whether it is allowed."""
    condition_holds: bool
    expected: Expected

    @property
    def allowed(self) -> int:
        """The number of allowed states."""
        return sum(self.states.values())


@dataclass(frozen=True)
class Violation:
    """A state that a design's model forbids and that the design shows."""

    state: State
    machine: str
    seed: int
    """With this seed, this machine and one timing the state is shown again."""
    detail: tuple[str, ...]


@dataclass(frozen=True)
class DesignVerdict:
    """What one design showed of a test."""

    design: str
    model: str
    """The model that the design is judged by."""
    runs: int
    crash_states: int
    shown: frozenset[State]
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class LitmusTest:
    """A test and all that was found out about it."""

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
        """What tables call the test: its own name, or the one under which it stands on the shelf."""
        return self.name if self.source.is_file else self.source.name

    @cached_property
    def states(self) -> list[State]:
        """Every state that a model thinks of or a design shows, in the order of values."""
        thinkable = {state for model in self.models for state in model.states}
        return sorted(thinkable.union(*(design.shown for design in self.designs)))

    def model(self, name: str) -> ModelVerdict | None:
        """The verdict of that model, if it was asked and the test belongs to it."""
        return next((model for model in self.models if model.model == name), None)

    def design(self, name: str) -> DesignVerdict | None:
        """The verdict on that design, if it ran the test."""
        return next((design for design in self.designs if design.design == name), None)

    def judged_by_designs(self) -> LitmusTest:
        """The same test with only the models that the designs which ran it are judged by."""
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
    return DesignVerdict(
        **{key: fields[key] for key in ("design", "model", "runs", "crash_states")},
        shown=frozenset(tuple(state) for state in fields["shown"]),
        violations=tuple(
            Violation(tuple(each["values"]), each["machine"], each["seed"], tuple(each["detail"]))
            for each in fields["violations"]
        ),
    )


@dataclass(frozen=True)
class RandomSpec:
    """Random programs with consecutive seeds, each over every design."""

    designs: tuple[str, ...]
    first_seed: int
    programs: int
    set: tuple[str, ...] = ()


@dataclass(frozen=True)
class RandomCount:
    """How much of a design was tried."""

    design: str
    programs: int
    crash_states: int


@dataclass(frozen=True)
class RandomViolation:
    """A random program of which a design shows a forbidden state, or which it does not finish."""

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
