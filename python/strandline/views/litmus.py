"""The tables of `strandline litmus`, and its failures in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.litmus_tests import DesignVerdict, Expected, LitmusTest, ModelVerdict, State, StuckRun, Violation
from strandline.views.numbers import counted, whole
from strandline.views.state_grid import Mark, did, program
from strandline.views.table import NOTHING, Alarm, Column, Table

#: A run's ends in words.
NEVER_ENDED: Mapping[str, str] = {"stuck": "deadlocks", "starved": "never ends"}


@dataclass(frozen=True)
class Wrong:
    """A run of a design that reached a forbidden state, or that did not end."""

    test: LitmusTest
    design: DesignVerdict
    run: Violation | StuckRun
    settings: Sequence[str]
    """`KEY=VALUE` of the design's parameters."""

    @property
    def replay(self) -> str:
        """The command that shows the failure again."""
        words = ("strandline", "litmus", self.test.source.name, "-d", self.design.design, "-m", self.run.machine)
        return shlex.join((*words, *set_words(self.settings), "--timings", "1", "--seed", str(self.run.seed)))

    def keys(self) -> dict[str, Any]:
        """The failure for JSON."""
        where = {"test": self.test.name, "source": self.test.source.name, "model": self.design.model}
        what = {"kind": "violation", "design": self.design.design}
        if isinstance(self.run, StuckRun):
            what["kind"] = self.run.kind
        else:
            what["state"] = self.test.state_text(self.run.state)
        run = {key: getattr(self.run, key) for key in ("machine", "seed", "detail")}
        return {**where, **what, **run, "replay": self.replay}

    def lines(self) -> list[str]:
        """The failure in words: what, where, and the command that reproduces it."""
        return [
            f"{self.test.label}: {self.design.design} {self._what()}",
            f"  on machine {self.run.machine}, seed {self.run.seed}",
            *(f"    {line}" for line in program(self.test.text)),
            *(f"  {line}" for line in self.run.detail),
            f"  reproduce: {self.replay}",
        ]

    def _what(self) -> str:
        if isinstance(self.run, StuckRun):
            return NEVER_ENDED[self.run.kind]
        return f"shows {self.test.state_text(self.run.state)}, which {self.design.model} forbids"


@dataclass(frozen=True)
class Differs:
    """Allowed states that are not the expected ones."""

    test: LitmusTest
    model: str

    @property
    def replay(self) -> str:
        """The command that shows the failure again."""
        return shlex.join(("strandline", "litmus", self.test.source.name, "-M", self.model))

    def keys(self) -> dict[str, Any]:
        """The failure for JSON."""
        where = {"test": self.test.name, "source": self.test.source.name, "model": self.model}
        return {**where, "kind": "expected", "expected": "differs", "replay": self.replay}

    def lines(self) -> list[str]:
        """The failure in words, and the command that shows it again."""
        file = self.test.source.expected_file(self.model)
        what = f"the allowed states are not those in {file}"
        return [f"{self.test.label}: {self.model}: {what}", f"  reproduce: {self.replay}"]


@dataclass(frozen=True)
class Missing:
    """Tests without expected states in their folder's file of a model."""

    file: Path
    tests: Sequence[LitmusTest]

    def keys(self) -> dict[str, Any]:
        """The failure for JSON."""
        what = {"model": self.file.stem, "kind": "expected", "expected": "missing", "file": str(self.file)}
        return {**what, "tests": [test.name for test in self.tests], "mend": self.tests[0].source.mend}

    def lines(self) -> list[str]:
        """The missing entries of the file, and the command that adds them."""
        first, more = self.tests[0], len(self.tests) - 1
        those = f"{first.source.stem} and {counted(more, 'more test')}" if more else first.source.stem
        return [f"{self.file}: has no states of {those}: run `{first.source.mend}`"]


Failure = Wrong | Differs | Missing


def failures(tests: Sequence[LitmusTest], settings: Sequence[str] = ()) -> list[Failure]:
    """All failures, in the order of the tests, for designs with these settings; missing entries come last."""
    return [*(failure for test in tests for failure in _of(test, settings)), *_missing(tests)]


def _of(test: LitmusTest, settings: Sequence[str]) -> list[Failure]:
    return [*_wrong(test, settings), *_unexpected(test)]


def _missing(tests: Iterable[LitmusTest]) -> Iterator[Missing]:
    files: dict[Path, list[LitmusTest]] = {}
    for test in tests:
        lacking = [model.model for model in test.models if model.expected == "missing"]
        for file in dict.fromkeys(map(test.source.expected_file, lacking)):
            files.setdefault(file, []).append(test)
    return (Missing(file, of) for file, of in files.items())


def _wrong(test: LitmusTest, settings: Sequence[str]) -> list[Wrong]:
    runs = ((design, run) for design in test.designs for run in (*design.violations, design.stuck) if run)
    return [Wrong(test, design, run, settings) for design, run in runs]


def set_words(settings: Sequence[str]) -> tuple[str, ...]:
    """The options that set a design's parameters to these values."""
    return tuple(word for setting in settings for word in ("--set", f"design.{setting}"))


def _unexpected(test: LitmusTest) -> list[Differs]:
    return [Differs(test, model.model) for model in test.models if model.expected == "differs"]


def rows(test: LitmusTest) -> list[dict[str, Any]]:
    """A flat row for each state: `allowed_MODEL`, null if undefined, and `shown_DESIGN`."""
    return [
        {
            "test": test.name,
            "state": test.state_text(state),
            **{
                f"allowed_{model.model}": None if model.undefined else model.states.get(state, False)
                for model in test.models
            },
            **{f"shown_{design.design}": state in design.shown for design in test.designs},
        }
        for state in test.states
    ]


def states(test: LitmusTest, designs: Sequence[str]) -> Table:
    """One row per state, one column per model, variant of a model that judges a design, and design."""
    ran = [design for name in designs if (design := test.design(name))]
    asked = {model.model for model in test.models}
    variants = {name: each.judged[name] for each in ran for name in test.beyond(each) if name not in asked}
    titles = ["state", *(model.model for model in test.models), *variants, *(_heading(each.design) for each in ran)]
    rows = (
        (
            test.state_text(state),
            *(_says(model.undefined, bool(model.states.get(state))) for model in test.models),
            *(_says(each.undefined, state in each.allowed) for each in variants.values()),
            *(_shows(test, design, state) for design in ran),
        )
        for state in test.states
    )
    return Table(tuple(Column(title, numeric=False, folds=False) for title in titles), tuple(rows), keys=1)


def _heading(design: str) -> str:
    """A design's heading as on the command line: some designs are named like their model."""
    return f"-d {design}"


def _says(undefined: bool, allowed: bool) -> str:
    return "undefined" if undefined else "allowed" if allowed else "forbidden"


def _shows(test: LitmusTest, design: DesignVerdict, state: State) -> str:
    mark = did(test, design, state)
    under = [name for name, states in test.beyond(design).items() if state in states]
    return f"shown under {', '.join(under)}" if mark is Mark.SHOWN and under else DID[mark]


def beyond(tests: Iterable[LitmusTest]) -> str | None:
    """Where designs show more than their model allows, since a variant of it judges some of the machines."""
    found = sorted({name for test in tests for each in test.designs if _more(test, each) for name in test.beyond(each)})
    what = "+N: states shown only on machines that a variant of the model judges, which allows them"
    return f"{what}: {', '.join(found)}" if found else None


def _more(test: LitmusTest, design: DesignVerdict) -> int:
    """How many states only variants of the model allow."""
    bad = {violation.state for violation in design.violations}
    return len(frozenset[State]().union(*test.beyond(design).values()) - bad)


#: A design's marks as a table says them.
DID: Mapping[Mark, str] = {
    Mark.VIOLATION: Alarm("VIOLATION"),
    Mark.SHOWN: "shown",
    Mark.NOT_SHOWN: "not shown",
    Mark.NOTHING: NOTHING,
}


VERDICT_COLUMNS = (
    Column("model", numeric=False),
    Column("allowed", numeric=False),
    Column("condition", numeric=False),
    Column("expected states", numeric=False),
)

AGREEMENT: Mapping[Expected, str] = {
    "agrees": "agree",
    "differs": Alarm("DIFFER"),
    "missing": Alarm("MISSING"),
    "none": NOTHING,
}


def verdicts(test: LitmusTest) -> Table:
    """One row per model: the number of allowed states, the condition, and the agreement with the expected states."""
    return Table(VERDICT_COLUMNS, tuple(_verdict(model) for model in test.models))


def _verdict(model: ModelVerdict) -> tuple[str, ...]:
    expected = AGREEMENT[model.expected]
    if model.undefined:
        return model.model, "undefined", "undefined", expected
    holds = "holds" if model.condition_holds else "does not hold"
    return model.model, f"{whole(model.allowed)} of {whole(len(model.states))}", holds, expected


def overview(tests: Sequence[LitmusTest], models: Sequence[str], designs: Sequence[str]) -> Table:
    """One row per test: allowed of candidate states for each model, reached of allowed ones for each design."""
    columns = (
        Column("test", numeric=False, long=True),
        Column("threads"),
        *(Column(name, folds=False) for name in (*models, *map(_heading, designs))),
    )
    rows = (
        (
            test.label,
            whole(test.threads),
            *(_count(test.model(name)) for name in models),
            *(_shown(test, test.design(name)) for name in designs),
        )
        for test in tests
    )
    return Table(columns, tuple(rows), keys=2, sparse=True)


def _count(model: ModelVerdict | None) -> str:
    if model is None:
        return NOTHING
    count = "undefined" if model.undefined else f"{model.allowed}/{len(model.states)}"
    return Alarm(f"{count} {model.expected.upper()}") if model.expected in ("differs", "missing") else count


def _shown(test: LitmusTest, design: DesignVerdict | None) -> str:
    if design is None:
        return NOTHING
    bad = {violation.state for violation in design.violations}
    model = test.model(design.model)
    more = _more(test, design)
    count = str(len(design.shown - bad) - more)
    if model and not model.undefined:
        count = f"{count}/{model.allowed}"
    if more:
        count += f"+{more}"
    alarms = [counted(len(bad), "violation").upper()] if bad else []
    if design.stuck:
        alarms.append(design.stuck.kind.upper())
    return Alarm(" ".join((count, *alarms))) if alarms else count


def totals(tests: Sequence[LitmusTest]) -> dict[str, int]:
    """The numbers of tests and of failures."""
    models = [model for test in tests for model in test.models]
    designs = [design for test in tests for design in test.designs]
    return {
        "tests": len(tests),
        "model_pairs": len(models),
        "states": sum(len(model.states) for model in models),
        "design_pairs": len(designs),
        "runs": sum(design.runs for design in designs),
        "crash_states": sum(design.crash_states for design in designs),
        "violations": sum(len(design.violations) for design in designs),
        "stuck": sum(design.stuck is not None for design in designs),
        "differences": sum(model.expected in ("differs", "missing") for model in models),
    }


def tally(numbers: dict[str, int], with_designs: bool) -> str:
    """The totals in one line."""
    designs = (
        counted(numbers["design_pairs"], "pair") + " with a design",
        counted(numbers["runs"], "run"),
        counted(numbers["crash_states"], "crash state"),
        counted(numbers["violations"], "violation"),
        *((counted(numbers["stuck"], "run") + " without an end",) if numbers["stuck"] else ()),
    )
    return ", ".join(
        (
            counted(numbers["tests"], "test"),
            counted(numbers["model_pairs"], "pair") + " with a model",
            counted(numbers["states"], "state"),
            *(designs if with_designs else ()),
            counted(numbers["differences"], "difference") + " from the expected",
        )
    )
