"""Litmus tests: the crash states that models allow and designs reach."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from strandline.api.litmus_sources import sources, with_expected
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.engine import Engine
from strandline.errors import InputError, UnknownError
from strandline.litmus_tests import LitmusSpec, LitmusTest, Source
from strandline.pool import parallel
from strandline.views import columns
from strandline.views import litmus as report
from strandline.views.columns import Columns
from strandline.views.numbers import seconds
from strandline.views.page import BOLD, DIM, Line, Page
from strandline.views.table import Alarm, Good, Table

EXPLAINED = 20
"""The number of failures that are explained; the document has all."""


class Failure(Protocol):
    """What is wrong of a test."""

    def lines(self) -> list[str]:
        """It in words."""


def explained(failures: Sequence[Failure]) -> list[Line]:
    """The first failures in words, and how many more there are."""
    lines = [line for failure in failures[:EXPLAINED] for line in (Line(), *map(Line, failure.lines()))]
    if len(failures) > EXPLAINED:
        lines += [Line(), Line(f"and {len(failures) - EXPLAINED:,} more: --json has them all")]
    return lines


@dataclass(frozen=True)
class Request:
    """Which models and designs judge the tests. Empty is the default: all models of a test, and no design."""

    models: tuple[str, ...] = ()
    designs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """`KEY=VALUE` of the designs' parameters."""
    machines: tuple[str, ...] | None = None
    timings: int | None = None
    """Runs of a design on each machine, with different latencies."""
    seed: int = 1

    def spec(self, test: Source) -> LitmusSpec:
        """The request for one test."""
        models, designs = self.models or None, self.designs or None
        return LitmusSpec(test, models, designs, self.settings, self.machines, self.timings, self.seed)


@dataclass(frozen=True, repr=False)
class Litmus(Result):
    """The results of tests."""

    tests: Sequence[LitmusTest]
    left_out: int
    """Tests that belong to none of the requested models."""
    models: Sequence[str]
    designs: Sequence[str]
    failures: Sequence[report.Failure]
    host_seconds: float

    def page(self) -> Page:
        """One test with its states, or a row a test; then failures and totals."""
        one = len(self.tests) + self.left_out == 1
        head = self._one(self.tests[0]) if one else (self._overview(),)
        left_out: tuple[Line, ...] = ()
        if self.left_out:
            of = f"{self.left_out:,} of {self.left_out + len(self.tests):,} tests"
            left_out = (Line(f"left out: {of}, which belong to none of the chosen models", DIM, folds=True),)
        tally = report.tally(report.totals(self.tests), bool(self.designs))
        last = Line(f"{tally}, {seconds(self.host_seconds)}", (Alarm if self.failures else Good).style, folds=True)
        beyond = None if one else report.beyond(self.tests)
        more = (Line(beyond, DIM, folds=True),) if beyond else ()
        return Page((*head, *explained(self.failures), Line(), *left_out, *more, last))

    def _overview(self) -> Table:
        ran = [name for name in self.designs if any(test.design(name) for test in self.tests)]
        return report.overview(self.tests, self.models, ran)

    def _one(self, test: LitmusTest) -> tuple[Table | Line, ...]:
        title = Line(f"{test.label}: {test.title}" if test.title else test.label, BOLD)
        program = (Line(f"  {line}") for line in test.text.splitlines())
        condition = Line(f"condition: {test.condition}")
        states, verdicts = report.states(test, self.designs), report.verdicts(test)
        return (title, Line(), *program, Line(), states, Line(), condition, Line(), verdicts)

    def columns(self) -> Columns:
        """A row a state of a test: `allowed_MODEL`, null if undefined, and `shown_DESIGN`."""
        return columns.of_rows([row for test in self.tests for row in report.rows(test)])

    def document(self) -> dict[str, Any]:
        """Failures, totals and tests."""
        return {
            "failures": [failure.keys() for failure in self.failures],
            "models": list(self.models),
            "designs": list(self.designs),
            "totals": report.totals(self.tests),
            "host_seconds": self.host_seconds,
            "tests": [{**test.fields, "source": test.source.name} for test in self.tests],
        }


def litmus(session: Session, files: Sequence[str], request: Request) -> Litmus:
    """Judges the tests of these files, folders and names; the whole shelf if there are none."""
    begin = time.monotonic()
    tests = sources(session.engine, files)
    specs = [request.spec(test) for test in with_expected(session.engine, tests)]
    with session.display.progress("judging", len(specs)) as done:
        answers = parallel(session.engine.litmus, specs, session.jobs, done)
    found = [_shown(answer, request) for answer in answers if answer]
    kept = [test for test in found if test.models or test.designs]
    if not kept:
        raise InputError(_nothing_left(session.engine, len(tests), request))
    failures = report.failures(kept, request.settings)
    took = time.monotonic() - begin
    return Litmus(kept, len(tests) - len(kept), _model_names(kept, request), request.designs, failures, took)


def known_designs(engine: Engine, named: tuple[str, ...]) -> tuple[str, ...]:
    """The designs to run; all of them for `all`."""
    if not named:
        return ()
    known = engine.names("designs")
    if named == ("all",):
        return tuple(known)
    for name in named:
        if name not in known:
            raise UnknownError("design", name, known, "strandline list designs")
    return named


def check_models(engine: Engine, named: Sequence[str]) -> None:
    """An error for an unknown model or variant."""
    variants: dict[str, list[str]] = {model["name"]: model["variants"] for model in engine.listing("models")}
    for name in named:
        base, *on = name.split(":")
        if base not in variants or not set(on) <= set(variants[base]):
            known = [*variants, *(f"{model}:{variant}" for model, having in variants.items() for variant in having)]
            raise UnknownError("model", name, known, "strandline list models")


def _shown(test: LitmusTest, request: Request) -> LitmusTest:
    """With designs and without requested models, only the designs' models."""
    return test.judged_by_designs() if request.designs and not request.models else test


def _nothing_left(engine: Engine, tests: int, request: Request) -> str:
    none = "the test does not belong" if tests == 1 else f"none of the {tests:,} tests belongs"
    if request.models:
        return f"{none} to {' or '.join(request.models)}: choose other models with -M"
    if request.designs == tuple(engine.names("designs")):
        return f"{none} to a model of any design: leave out -d to evaluate all models"
    if request.designs:
        return f"{none} to a model of {' or '.join(request.designs)}: run other designs with -d"
    return f"{none} to any model: `strandline list models` shows them"


def _model_names(tests: Sequence[LitmusTest], request: Request) -> list[str]:
    """The models to show: in the requested order, otherwise by name."""
    met = {model.model for test in tests for model in test.models}
    return [name for name in request.models if name in met] if request.models else sorted(met)
