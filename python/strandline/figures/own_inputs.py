"""The inputs of a figure that are not those of its workloads and machine: shortened, or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.engine import Engine, RunSpec
from strandline.figures.figure import Options, plan
from strandline.figures.spec import FigureSpec, Labels

TASKS = "tasks"
"""The input that runs of a program may have in several numbers."""

OF_DESIGN = "design."
"""What begins a parameter that a figure's points name, and that no program sees."""


@dataclass(frozen=True)
class Changed:
    """An input, and its values with those that workload and machine have, each with the programs that take it."""

    key: str
    values: Mapping[tuple[str, str], Sequence[str]]
    programs: int
    """The programs of the figure."""

    def words(self) -> str:
        """All values, each with the workload's own in parentheses."""
        each = (
            f"{value} ({own}){'' if len(names) == self.programs else ' in ' + ', '.join(names)}"
            for (value, own), names in self.values.items()
        )
        return f"{self.key}: {'; '.join(each)}"

    def brief(self) -> str:
        """In a few words: how many times the workload's own, or the values."""
        names = sum(map(len, self.values.values()))
        some = "" if names == self.programs else f" ({names} of {self.programs})"
        shares = [_share(*pair) for pair in self.values]
        numbers = [share for share in shares if share is not None]
        if len(numbers) == len(shares):
            texts = list(dict.fromkeys(map(_times, (min(numbers), max(numbers)))))
        else:
            texts = list(dict.fromkeys(value for value, _ in self.values))
        said = " to ".join(texts) if len(numbers) == len(shares) else " or ".join(texts)
        return f"{self.key.partition('.')[2] or self.key} {said if len(texts) < MANY else 'changed'}{some}"

    def rows(self) -> list[dict[str, Any]]:
        """As a JSON document has it, a row a value."""
        return [
            {"key": self.key, "value": value, "own": own, "programs": list(names)}
            for (value, own), names in self.values.items()
        ]


MANY = 4
"""Values that are no longer a few words."""


def _share(value: str, own: str) -> float | None:
    """How many times its own a value is; `None` unless both are numbers."""
    numbers = [text.replace(",", "") for text in (value, own)]
    if not all(text.isascii() and text.isdecimal() for text in numbers) or not int(numbers[1]):
        return None
    return int(numbers[0]) / int(numbers[1])


def _times(share: float) -> str:
    return f"{100 * share:.3g} %" if share < 1 else f"{share:.3g} times"


Runs = Iterable[tuple[str, RunSpec]]
"""Runs with what a figure calls their programs."""


def runs_at_full_length(spec: FigureSpec, options: Options) -> Runs:
    """The runs of a figure, whatever its command line makes of their tasks."""
    planned = plan(spec, replace(options, tasks=None, seeds=1))
    return [(_program(spec, each.labels, trial.spec), trial.spec) for each in planned for trial in each.trials]


def changed(engine: Engine, named: Runs) -> list[Changed]:
    """What runs are given otherwise, but for what tells the runs of a program apart."""
    runs: dict[str, dict[tuple[Any, ...], RunSpec]] = {}
    for name, run in named:
        if not engine.is_recording(run.workload):
            given = (run.machine, run.runtime, run.threads, run.tasks, _of_program(run))
            runs.setdefault(name, {}).setdefault(given, run)
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for name, its in runs.items():
        for key, pair in _changed(engine, list(its.values())).items():
            found.setdefault(key, {}).setdefault(pair, []).append(name)
    return [Changed(key, values, len(runs)) for key, values in sorted(found.items(), key=_programs_first)]


def _of_program(run: RunSpec) -> tuple[str, ...]:
    return tuple(each for each in run.set if not each.startswith(OF_DESIGN))


def _programs_first(item: tuple[str, object]) -> tuple[bool, bool, str]:
    key = item[0]
    return key != TASKS, key.startswith("machine."), key


def _program(spec: FigureSpec, labels: Labels, run: RunSpec) -> str:
    """What the figure calls the program of a run."""
    for axis in spec.axes:
        if any("workload" in point.settings for point in axis.points):
            return labels[axis.key]
    return run.workload


def _changed(engine: Engine, runs: Sequence[RunSpec]) -> dict[str, tuple[str, str]]:
    """The changed inputs of a program's runs, with their values, and those that it has itself."""
    inputs = [_inputs(engine, run) for run in runs]
    own = _inputs(engine, replace(runs[0], tasks=None, set=()))
    texts = _Texts.of(engine, runs[0].workload)
    found = {}
    for key in own:
        values = {each[key]: None for each in inputs}
        if key == TASKS and len(values) > 1:
            low, high = min(values, key=int), max(values, key=int)
            found[key] = (f"{texts.value(key, low)} to {texts.value(key, high)}", texts.value(key, own[key]))
        elif list(values) != [own[key]] and len(values) == 1:
            found[key] = (texts.value(key, inputs[0][key]), texts.value(key, own[key]))
    return found


def _inputs(engine: Engine, run: RunSpec) -> dict[str, str]:
    """Every input of a run but the parameters of its design."""
    resolved = engine.origin(run)["spec"]
    parameters = {key: value for key, value in resolved["parameters"].items() if not key.startswith(OF_DESIGN)}
    return {TASKS: str(resolved["tasks"]), **parameters}


@dataclass(frozen=True)
class _Texts:
    """The words of parameters whose values have names."""

    words: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, engine: Engine, workload: str) -> _Texts:
        own = [each for each in engine.listing("workloads") if each["name"] == workload]
        scopes = (("workload", own), ("runtime", engine.listing("runtimes")[:1]))
        named = {
            f"{scope}.{each['key']}": each["words"]
            for scope, entries in scopes
            for entry in entries
            for each in entry["parameters"]
        }
        return cls(named)

    def value(self, key: str, value: str) -> str:
        """The word of a value, or a number with its thousands."""
        if not value.isascii() or not value.isdecimal():
            return value
        words = self.words.get(key) or ()
        return words[int(value)] if int(value) < len(words) else f"{int(value):,}"


def words(inputs: Sequence[Changed]) -> list[str]:
    """Lines for a text: each input with all of its values."""
    if not inputs:
        return []
    return [
        "Inputs that are not the workload's and the machine's own (in parentheses):",
        *(f"  {each.words()}" for each in inputs),
    ]


def brief(inputs: Sequence[Changed]) -> str | None:
    """A remark for a picture."""
    if not inputs:
        return None
    return f"Inputs unlike the workload's own (as shares of it): {'; '.join(each.brief() for each in inputs)}"
