"""What a paper does not state of its programs, and the rule that chooses it by what the paper publishes of them.

`experiments/<paper>/inputs.toml` has the inputs, their options, and the published quantities that bear on them;
`chosen.toml` beside it, which `strandline inputs --save` writes, what each option measures and what the rule chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from pathlib import Path
from statistics import geometric_mean
from typing import Annotated, Any, TypeVar

from msgspec import Meta, field

from strandline.figures import toml_file
from strandline.figures.schema import Table, says
from strandline.figures.spec import RUN_KEYS, Settings
from strandline.figures.toml_file import TomlFile, no_twice, require

FILE, CHOSEN = "inputs.toml", "chosen.toml"
THINK = "runtime.think"
"""The setting of a task's work outside of its critical sections."""

CHANCE = 1.02
"""The factor by which two options must differ: each of two runs is known to 1 %."""

MEAN = "mean"
"""In place of a program, the geometric mean of all."""

Number = int | float
Taken = TypeVar("Taken")


class Option(Table, frozen=True, kw_only=True):
    """One possibility of an input."""

    label: Annotated[str, says("name of the option")]
    settings: Annotated[Settings, says("settings of the runs")] = field(default_factory=dict)
    quantity: Annotated[str | None, says("the quantity that the paper then published, if it is another one")] = None


class Input(Table, frozen=True, kw_only=True):
    """An input that the paper does not state."""

    key: Annotated[str, says("name of the input")]
    title: Annotated[str, says("what is not stated")]
    options: Annotated[
        tuple[Option, ...], Meta(min_length=1, description="what it may be; of equally near ones the first is taken")
    ]
    of: Annotated[str | None, says("the program whose own input it is; otherwise it is one of all")] = None
    reading: Annotated[
        bool, says("how the published quantity was counted: no input of the programs, so figures do not take it")
    ] = False

    def option(self, label: str) -> Option:
        """The option of that label."""
        return next(each for each in self.options if each.label == label)


class Published(Table, frozen=True, kw_only=True):
    """A quantity that the paper publishes of its programs."""

    key: Annotated[str, says("name of the quantity")]
    title: Annotated[str, says("what it counts, in a few words")]
    words: Annotated[str, says("the paper's words, and where they stand")]
    figure: Annotated[str, says("our figure of that quantity, from which no claim is judged")]
    quantity: Annotated[str, says("a key of the record, or one of `record.DERIVED`")]
    settings: Annotated[Settings, says("settings of the run that is measured")] = field(default_factory=dict)
    over: Annotated[Settings | None, says("settings of the run whose quantity it is divided by")] = None
    values: Annotated[dict[str, Number], says("the paper's numbers by program")] = field(default_factory=dict)
    least: Annotated[Number | None, says("words that are a lower bound, as a number")] = None
    most: Annotated[Number | None, says("words that are an upper bound, as a number")] = None
    programs: Annotated[tuple[str, ...], says("the programs that the words are of, if not all")] = ()
    mean: Annotated[bool, says("the words are of the programs' geometric mean")] = False

    def is_of(self, program: str) -> bool:
        """Whether the paper publishes it of a program."""
        return program in (self.values or self.programs or (program,))

    def misses(self, measured: Mapping[str, float]) -> dict[str, float]:
        """The logarithm of ours over the paper's, by program; 0 within a bound."""
        found = {MEAN: geometric_mean(measured.values())} if self.mean and measured else measured
        return {name: self._miss(name, value) for name, value in found.items()}

    def _miss(self, program: str, value: float) -> float:
        if program in self.values:
            return _ratio(value, self.values[program])
        above = 0.0 if self.most is None else max(0.0, _ratio(value, self.most))
        below = 0.0 if self.least is None else min(0.0, _ratio(value, self.least))
        return above + below


def _ratio(ours: float, paper: float) -> float:
    """The logarithm of a ratio. What never happens is as if it happened a thousand times too seldom."""
    return log(max(ours / paper, 1e-3))


class Program(Table, frozen=True, kw_only=True):
    """A program of the paper."""

    label: Annotated[str, says("its name")]
    settings: Annotated[Settings, says("its workload, and what the paper states of it")]


class Work(Table, frozen=True, kw_only=True):
    """A task's work outside of its critical sections: what is left between a published rate and ours."""

    steps: Annotated[tuple[int, ...], Meta(min_length=1, description="instructions, the fewest first")]
    together: Annotated[bool, says("all programs have the same: the paper publishes no rate of each")] = False


class InputsFile(Table, frozen=True, kw_only=True):
    """The inputs of a paper's programs, as written in `inputs.toml`."""

    title: Annotated[str, says("whose inputs")]
    source: Annotated[str, says("paper")]
    fixed: Annotated[Settings, says("settings of every run")] = field(default_factory=dict)
    programs: Annotated[tuple[Program, ...], Meta(min_length=1, description="the paper's programs")]
    published: Annotated[tuple[Published, ...], Meta(min_length=1, description="what the paper publishes of them")]
    inputs: Annotated[tuple[Input, ...], says("what it does not state")] = ()
    work: Annotated[
        Work | None, says("work outside of critical sections, where a rate of ours is above the paper's")
    ] = None

    @property
    def shared(self) -> tuple[Input, ...]:
        """The inputs of all programs."""
        return tuple(each for each in self.inputs if each.of is None)

    def own(self, program: str) -> tuple[Input, ...]:
        """The inputs of one program."""
        return tuple(each for each in self.inputs if each.of == program)

    def of(self, program: str) -> tuple[Input, ...]:
        """All inputs of a program."""
        return (*self.shared, *self.own(program))


class Trial(Table, frozen=True, kw_only=True):
    """One program with one option of each input, and what it measures."""

    program: str
    options: dict[str, str]
    """The option's label by the input's key."""
    work: int
    values: dict[str, float] = field(default_factory=dict)
    """The measured value of each published quantity."""

    @property
    def key(self) -> tuple[str, int, tuple[tuple[str, str], ...]]:
        """The program, its work and its options."""
        return self.program, self.work, tuple(sorted(self.options.items()))


class Choice(Table, frozen=True, kw_only=True):
    """What the rule chooses, and all that it has looked at, as written in `chosen.toml`."""

    chosen: dict[str, dict[str, str]]
    """By program, the option's label by the input's key."""
    work: dict[str, int]
    """By program, instructions outside of critical sections."""
    trials: tuple[Trial, ...]

    def of(self, program: str) -> Trial:
        """The chosen trial of a program."""
        return next(
            each
            for each in self.trials
            if (each.program, each.work, each.options) == (program, self.work[program], self.chosen[program])
        )


Measure = Callable[[Sequence[Trial]], Sequence[Trial]]
"""Measures trials: each with its values."""


@dataclass
class _Looked:
    """What has been measured so far."""

    file: InputsFile
    measure: Measure
    found: dict[Any, Trial]

    def at(self, trials: Sequence[Trial]) -> list[Trial]:
        new = list({each.key: each for each in trials if each.key not in self.found}.values())
        if new:
            self.found.update({each.key: each for each in self.measure(new)})
        return [self.found[each.key] for each in trials]


def choose(file: InputsFile, measure: Measure) -> Choice:
    """Chooses by the rule.

    First the options of all programs, whose squared log ratios to the paper's numbers have the least sum; then each
    program's own options, likewise; then, of programs whose numbers are above the paper's, the work outside of critical
    sections, likewise. No option is of one design, and none is chosen by a claim.
    """
    looked = _Looked(file, measure, {})
    programs = [each.label for each in file.programs]
    shared = _products(file.shared)
    # All are measured at once, so that no worker waits.
    looked.at([_plain(file, program, each) for each in shared for program in programs])
    best = _nearest(file, shared, lambda each: looked.at([_plain(file, name, each) for name in programs]))
    options = {name: _own(looked, name, best) for name in programs}
    work = _work(looked, options)
    return Choice(chosen=options, work=work, trials=tuple(looked.found.values()))


def _nearest(file: InputsFile, options: Sequence[Taken], trials: Callable[[Taken], Sequence[Trial]]) -> Taken:
    """The first option that measures as the nearest one does, but for chance: runs are known to 1 %."""
    found = [misses(file, trials(each)) for each in options]
    best = min(found, key=lambda each: sum(value * value for value in each.values()))
    return next(
        option
        for option, each in zip(options, found, strict=True)
        if all(abs(value - best[key]) <= log(CHANCE) for key, value in each.items())
    )


def _products(inputs: Iterable[Input]) -> list[dict[str, str]]:
    """All combinations of the inputs' options: the label by the input's key."""
    return [dict(each) for each in product(*([(one.key, option.label) for option in one.options] for one in inputs))]


def _plain(file: InputsFile, program: str, shared: Mapping[str, str]) -> Trial:
    """A program with its first own options, and no work."""
    own = {each.key: each.options[0].label for each in file.own(program)}
    return Trial(program=program, options={**shared, **own}, work=0)


def _own(looked: _Looked, program: str, shared: Mapping[str, str]) -> dict[str, str]:
    owns = _products(looked.file.own(program))
    trials = [Trial(program=program, options={**shared, **own}, work=0) for own in owns]
    return _nearest(looked.file, looked.at(trials), lambda each: [each]).options


def _work(looked: _Looked, options: Mapping[str, dict[str, str]]) -> dict[str, int]:
    file = looked.file
    now = {name: looked.at([Trial(program=name, options=each, work=0)])[0] for name, each in options.items()}
    if file.work is None:
        return dict.fromkeys(now, 0)
    groups = [list(now)] if file.work.together else [[name] for name in now]
    found: dict[str, int] = {}
    for group in groups:
        steps = [0, *file.work.steps] if excess(file, [now[name] for name in group]) > 0 else [0]
        found.update(dict.fromkeys(group, _step(looked, steps, {name: options[name] for name in group})))
    return found


def _step(looked: _Looked, steps: Sequence[int], options: Mapping[str, dict[str, str]]) -> int:
    """The nearest step of work for these programs."""

    def row(step: int) -> list[Trial]:
        return [Trial(program=name, options=each, work=step) for name, each in options.items()]

    # All are measured at once, so that no worker waits.
    looked.at([each for step in steps for each in row(step)])
    return _nearest(looked.file, steps, lambda step: looked.at(row(step)))


def misses(file: InputsFile, trials: Sequence[Trial]) -> dict[tuple[str, str], float]:
    """The logarithm of ours over the paper's, by published quantity and program."""
    return {
        (each.key, program): found
        for each in file.published
        for program, found in each.misses(
            {trial.program: trial.values[each.key] for trial in trials if each.key in trial.values}
        ).items()
    }


def miss(file: InputsFile, trials: Sequence[Trial]) -> float:
    """The sum of the squares of the log ratios."""
    return sum(each * each for each in misses(file, trials).values())


def excess(file: InputsFile, trials: Sequence[Trial]) -> float:
    """The sum of the log ratios: above 0 if ours exceed the paper's."""
    return sum(misses(file, trials).values())


def factor(file: InputsFile, trials: Sequence[Trial]) -> float:
    """The root mean square of the log ratios, as a factor: 1 if all agree."""
    found = misses(file, trials)
    return exp((miss(file, trials) / len(found)) ** 0.5) if found else 1.0


def settings_of(file: InputsFile, trial: Trial, *, readings: bool) -> Settings:
    """The settings of a trial's options and work; without `readings`, only what figures take."""
    found: Settings = {}
    for each in file.of(trial.program):
        if readings or not each.reading:
            found.update(each.option(trial.options[each.key]).settings)
    return {**found, THINK: trial.work} if trial.work else found


@dataclass(frozen=True)
class Inputs:
    """A paper's inputs, and what was chosen of them."""

    path: Path
    file: InputsFile
    choice: Choice | None
    """`None` before anything was."""

    def given(self) -> dict[str, Settings]:
        """The chosen settings by workload; those of the paper's figures stand above them."""
        if self.choice is None:
            return {}
        return {
            str(program.settings["workload"]): settings_of(self.file, self.choice.of(program.label), readings=False)
            for program in self.file.programs
        }

    def factors(self) -> dict[str, dict[str, float]]:
        """By workload, ours over the paper's of each published quantity, as chosen."""
        if self.choice is None:
            return {}
        chosen = [self.choice.of(program.label) for program in self.file.programs]
        workloads = {program.label: str(program.settings["workload"]) for program in self.file.programs}
        found: dict[str, dict[str, float]] = {}
        for (quantity, program), each in misses(self.file, chosen).items():
            found.setdefault(workloads.get(program, program), {})[quantity] = exp(each)
        return found


def load(folder: Path) -> Inputs | None:
    """The inputs of the paper with that folder; `None` if it has none."""
    path = folder / FILE
    if not path.is_file():
        return None
    file = toml_file.read(path)
    inputs = file.convert(InputsFile)
    _check(file, inputs)
    chosen = folder / CHOSEN
    choice = toml_file.read(chosen).convert(Choice) if chosen.is_file() else None
    return Inputs(path, inputs, choice)


def _check(file: TomlFile, inputs: InputsFile) -> None:
    programs = [each.label for each in inputs.programs]
    with file.checked():
        no_twice(("programs",), programs)
        no_twice(("inputs",), [each.key for each in inputs.inputs])
        for number, each in enumerate(inputs.inputs):
            no_twice(("inputs", number, "options"), [option.label for option in each.options])
            if each.of is not None:
                require(each.of in programs, ("inputs", number, "of"), "no such program", each.of, programs)
        for number, program in enumerate(inputs.programs):
            require("workload" in program.settings, ("programs", number, "settings"), "needs a workload: add it")
        for number, published in enumerate(inputs.published):
            for name in published.values:
                require(name in programs, ("published", number, "values"), "no such program", name, programs)
        for path, settings in _settings(inputs):
            for key in settings:
                known = key in RUN_KEYS or "." in key
                require(known, (*path, key), "unknown setting: use a key of a run, or a quoted one", key, RUN_KEYS)


def _settings(inputs: InputsFile) -> Iterable[tuple[tuple[str | int, ...], Settings]]:
    yield ("fixed",), inputs.fixed
    for number, program in enumerate(inputs.programs):
        yield ("programs", number, "settings"), program.settings
    for number, each in enumerate(inputs.inputs):
        for place, option in enumerate(each.options):
            yield ("inputs", number, "options", place, "settings"), option.settings
    for number, published in enumerate(inputs.published):
        yield ("published", number, "settings"), published.settings
        yield ("published", number, "over"), published.over or {}
