"""What another simulator has shown of litmus tests, judged by a model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.api.litmus import explained
from strandline.api.litmus_sources import known_name, sources
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.errors import InputError, UnknownError
from strandline.litmus_tests import LitmusSpec, LitmusTest, ModelVerdict, Source, State
from strandline.observations import Observation, observations
from strandline.pool import parallel
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.numbers import counted, whole
from strandline.views.page import BOLD, Line, Page
from strandline.views.state_grid import program
from strandline.views.table import NOTHING, Alarm, Column, Good, Table

MODEL = "px86"
"""The model of machines whose memory controllers are in the persistence domain (ADR), and whose caches are not."""


@dataclass(frozen=True)
class Judged:
    """A test, judged by one model, and what was seen of it."""

    test: LitmusTest
    seen: Mapping[State, int]
    """How often each state was seen."""

    @property
    def verdict(self) -> ModelVerdict:
        """The states that the model allows."""
        return self.test.models[0]

    @property
    def forbidden(self) -> list[State]:
        """The states that were seen and that the model forbids; none where the model leaves the test undefined."""
        return [] if self.verdict.undefined else sorted(s for s in self.seen if not self.verdict.states.get(s))

    @property
    def never(self) -> list[State]:
        """The states that the model allows and that were never seen."""
        return sorted(state for state, allowed in self.verdict.states.items() if allowed and state not in self.seen)

    def named(self, states: Sequence[State]) -> list[str]:
        """States as tests write them."""
        return [self.test.state_text(state) for state in states]

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each state that was seen or is allowed."""
        verdict = self.verdict
        return [
            {
                "test": self.test.label,
                "state": self.test.state_text(state),
                "count": self.seen.get(state, 0),
                "allowed": None if verdict.undefined else verdict.states.get(state, False),
            }
            for state in sorted({*self.seen, *self.never})
        ]

    def keys(self) -> dict[str, Any]:
        """The test for JSON."""
        return {
            "test": self.test.label,
            "source": self.test.source.name,
            "undefined": self.verdict.undefined,
            "observations": sum(self.seen.values()),
            "states": [{key: row[key] for key in ("state", "count", "allowed")} for row in self.rows()],
            "forbidden": self.named(self.forbidden),
            "never_seen": self.named(self.never),
        }


@dataclass(frozen=True)
class Forbidden:
    """A state that was seen and that the model forbids."""

    judged: Judged
    state: State

    def keys(self) -> dict[str, Any]:
        """The failure for JSON."""
        test, words = self.judged.test, self.judged.test.state_text(self.state)
        which = {"test": test.label, "source": test.source.name, "model": self.judged.verdict.model}
        return {**which, "kind": "forbidden", "state": words, "count": self.judged.seen[self.state], "why": self._why}

    def lines(self) -> list[str]:
        """The failure in words."""
        test, times = self.judged.test, counted(self.judged.seen[self.state], "time")
        said = (
            f"{test.label}: {test.state_text(self.state)} was seen {times}, and {self.judged.verdict.model} forbids it"
        )
        why = [f"  why: {self._why}"] if self._why else ["  no store of the test leaves these values"]
        return [said, *(f"    {line}" for line in program(test.text)), *why]

    @property
    def _why(self) -> str | None:
        """The command that draws why it is forbidden; `None` for values that no execution has."""
        if self.state not in self.judged.verdict.states:
            return None
        words = ("strandline", "litmus", self.judged.test.source.name, "-M", self.judged.verdict.model)
        return shlex.join((*words, "--dot", self.judged.test.state_text(self.state)))


@dataclass(frozen=True, repr=False)
class Judgement(Result):
    """The results of another simulator, judged."""

    model: str
    tests: Sequence[Judged]
    """The tests that have results."""
    without: Sequence[LitmusTest]
    """The tests of the model that have none."""

    @property
    def failures(self) -> list[Forbidden]:
        """The forbidden states that were seen."""
        return [Forbidden(judged, state) for judged in self.tests for state in judged.forbidden]

    def page(self) -> Page:
        """The states of one test, or a row a test; then what is forbidden, and totals."""
        one = len(self.tests) == 1
        head = self._one(self.tests[0]) if one else (self._overview(),)
        names = ", ".join(test.label for test in self.without)
        without = (Line(f"no results: {names}", folds=True), Line()) if self.without else ()
        return Page((*head, *explained(self.failures), Line(), *without, Line(self._tally(), self._style, folds=True)))

    @property
    def _style(self) -> str:
        return (Alarm if self.failures else Good).style

    def _one(self, judged: Judged) -> tuple[Table | Line, ...]:
        test = judged.test
        columns = (Column("state", numeric=False), Column(self.model, numeric=False, folds=False), Column("seen"))
        shown = tuple((row["state"], _word(row["allowed"], row["count"]), whole(row["count"])) for row in judged.rows())
        title = Line(f"{test.label}: {test.title}" if test.title else test.label, BOLD)
        return (title, Line(), Table(columns, shown, keys=1))

    def _overview(self) -> Table:
        columns = (
            Column("test", numeric=False, long=True),
            Column("observations"),
            Column("allowed states seen", numeric=False),
            Column("forbidden states seen", numeric=False, prose=True),
            Column("allowed, never seen", numeric=False, prose=True),
        )
        return Table(columns, tuple(_row(judged) for judged in self.tests), keys=1)

    def _tally(self) -> str:
        seen = sum(sum(judged.seen.values()) for judged in self.tests)
        never = sum(len(judged.never) for judged in self.tests)
        return ", ".join(
            (
                counted(len(self.tests), "test"),
                counted(seen, "observation"),
                f"{counted(len(self.failures), 'state')} that {self.model} forbids",
                f"{counted(never, 'allowed state')} never seen",
                f"{counted(len(self.without), 'test')} without results",
            )
        )

    def columns(self) -> Columns:
        """A row a state of a test that was seen, or that is allowed and was not: `count` is then 0."""
        return columns.of_rows([row for judged in self.tests for row in judged.rows()])

    def document(self) -> dict[str, Any]:
        """Failures and tests."""
        return {
            "failures": [failure.keys() for failure in self.failures],
            "model": self.model,
            "tests": [judged.keys() for judged in self.tests],
            "without_results": [test.label for test in self.without],
        }


def _word(allowed: bool | None, count: int) -> str:
    if allowed is None:
        return "undefined"
    if allowed:
        return "allowed" if count else "allowed, never seen"
    return Alarm("FORBIDDEN")


def _row(judged: Judged) -> tuple[str, ...]:
    verdict, bad = judged.verdict, judged.named(judged.forbidden)
    seen = "undefined" if verdict.undefined else f"{verdict.allowed - len(judged.never)}/{verdict.allowed}"
    never = ", ".join(judged.named(judged.never))
    return (
        judged.test.label,
        whole(sum(judged.seen.values())),
        seen,
        Alarm(", ".join(bad)) if bad else NOTHING,
        never or NOTHING,
    )


def judge(session: Session, results: Path, files: Sequence[str], model: str = MODEL) -> Judgement:
    """Judges the results of tests; those of `files`, or built-in ones if there are none."""
    observed = observations(results)
    shelf = session.engine.litmus_shelf()
    built_in = () if files else sorted({_meant(place, each, shelf) for place, each in observed})
    tests = sources(session.engine, files) if files else [Source(name) for name in built_in]
    with session.display.progress("judging", len(tests)) as done:
        specs = [LitmusSpec(test, (model,)) for test in tests]
        known = _by_name([test for test in parallel(session.engine.litmus, specs, session.jobs, done) if test])
    seen: dict[str, dict[State, int]] = {}
    for place, each in observed:
        name = _meant(place, each, shelf) if not files else _meant(place, each, list(known), model, files)
        if name not in known:
            raise InputError(f"{place}: {name} does not belong to {model}: choose another model with -M")
        states, state = seen.setdefault(name, {}), _state(place, each, known[name])
        states[state] = states.get(state, 0) + each.count
    judged = [Judged(test, seen[name]) for name, test in known.items() if name in seen]
    return Judgement(model, judged, [test for name, test in known.items() if name not in seen])


def _meant(place: str, each: Observation, known: Sequence[str], model: str = "", files: Sequence[str] = ()) -> str:
    """The name of the observed test; that of a file, for this model."""
    show = ("strandline", "litmus", *files, *(("-M", model) if model else ()))
    return known_name(each.test, known, "test", shlex.join(show), f"{place}: ")


def _by_name(tests: Sequence[LitmusTest]) -> dict[str, LitmusTest]:
    known: dict[str, LitmusTest] = {}
    for test in tests:
        other = known.setdefault(test.label, test)
        if other is not test:
            both = f"{other.source.name} and {test.source.name}"
            raise InputError(f"{both}: are both named {test.label}: results could be of either: rename one")
    return known


def _state(place: str, observed: Observation, test: LitmusTest) -> State:
    """The state in the order of the test's locations."""
    for name in observed.state:
        if name not in test.locations:
            show = shlex.join(("strandline", "litmus", test.source.name))
            raise UnknownError(f"location of {test.label}", name, test.locations, show, f"{place}: ")
    missing = [name for name in test.locations if name not in observed.state]
    if missing:
        raise InputError(
            f"{place}: the state does not say what {missing[0]} is: a state of {test.label} has all of "
            f"{', '.join(test.locations)}"
        )
    return tuple(observed.state[name] for name in test.locations)
