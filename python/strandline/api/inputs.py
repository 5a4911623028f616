"""What a paper does not state of its programs: what each option measures, and what the rule chooses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from typing import Any

from msgspec import structs

from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import RunSpec
from strandline.figures import inputs as rule
from strandline.figures.figure import Options, run_of
from strandline.figures.inputs import Choice, Input, Inputs, InputsFile, Published, Trial
from strandline.figures.spec import Settings
from strandline.records import quantity
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.files import write_whole
from strandline.views.numbers import significant
from strandline.views.page import BOLD, DIM, Line, Page
from strandline.views.table import NOTHING, Column, Table

DIGITS = 4
"""Significant digits of a measured value, as written and as compared."""


@dataclass(frozen=True, repr=False)
class PaperInputs(Result):
    """The inputs of a paper: what each option measures, and what is chosen."""

    paper: str
    inputs: Inputs
    choice: Choice
    """What the rule chooses now."""
    reused: int
    """Runs that came from the store."""

    @property
    def agrees(self) -> bool:
        """Whether the figures take what the rule chooses now."""
        kept = self.inputs.choice
        return kept is not None and (kept.chosen, kept.work) == (self.choice.chosen, self.choice.work)

    def page(self) -> Page:
        """What is published, what each option measures, and what is chosen."""
        file = self.inputs.file
        parts: list[Any] = [Line(file.title, BOLD), Line(f"{file.source}. Published:", DIM)]
        parts += [Line(f"  {each.key}: {each.title}. {each.words}", DIM, folds=True) for each in file.published]
        parts += [Line(), Line("Each option (* chosen)", BOLD), self._trials()]
        parts += [Line(), Line("Chosen", BOLD), self._chosen(), Line(), Line(self._verdict(), DIM, folds=True)]
        return Page((*parts, *reused(self.reused)))

    def columns(self) -> Columns:
        """A row a trial."""
        return columns.of_rows([_row(each) for each in self.choice.trials])

    def document(self) -> dict[str, Any]:
        """The trials, and what is chosen."""
        return {
            "paper": self.paper,
            "agrees": self.agrees,
            "chosen": self.choice.chosen,
            "work": self.choice.work,
            "trials": [structs.asdict(each) for each in self.choice.trials],
        }

    def text(self) -> str:
        """The choice as `chosen.toml` has it."""
        lines = [
            f"# Written by `strandline inputs {self.paper} --save`: what the rule chooses, and what each trial has.",
            f"work = {_toml(self.choice.work)}",
            "",
            "[chosen]",
            *(f"{_toml_key(program)} = {_toml(options)}" for program, options in self.choice.chosen.items()),
            "",
        ]
        for each in self.choice.trials:
            lines += ["[[trials]]", *(f"{key} = {_toml(value)}" for key, value in structs.asdict(each).items()), ""]
        return "\n".join(lines)

    def save(self) -> tuple[PaperInputs, Path]:
        """Writes the choice beside the inputs, from where the paper's figures take it from now on."""
        path = self.inputs.path.with_name(rule.CHOSEN)
        write_whole(path, self.text())
        return replace(self, inputs=replace(self.inputs, choice=self.choice)), path

    def _verdict(self) -> str:
        if self.agrees:
            return "the paper's figures take what is chosen"
        return f"the paper's figures take something else: write it with `strandline inputs {self.paper} --save`"

    def _trials(self) -> Table:
        """A row for programs with the same options and the same work."""
        file = self.inputs.file
        rows: dict[str, dict[str, Trial]] = {}
        for each in self.choice.trials:
            rows.setdefault(_label(file, each), {})[each.program] = each
        programs = tuple(Column(each.label) for each in file.programs)
        columns = (Column("inputs", numeric=False, prose=True), *programs, Column("off by"))
        return Table(columns, (self._published(), *(self._row(*each) for each in rows.items())), keys=1)

    def _published(self) -> tuple[str, ...]:
        file = self.inputs.file
        cells = (_cell(each.values.get(program.label) for each in file.published) for program in file.programs)
        return ("the paper", *cells, NOTHING)

    def _row(self, label: str, trials: Mapping[str, Trial]) -> tuple[str, ...]:
        file = self.inputs.file
        cells = []
        for program in file.programs:
            found = trials.get(program.label)
            cell = NOTHING if found is None else _cell(found.values.get(each.key) for each in file.published)
            is_chosen = found is not None and found.key == self.choice.of(program.label).key
            cells.append(f"{cell} *" if is_chosen else cell)
        return (label, *cells, significant(rule.factor(file, list(trials.values()))))

    def _chosen(self) -> Table:
        """A row for each program."""
        file, head = self.inputs.file, ("program", "options", "instructions outside")
        columns = [Column(title, numeric=title.startswith("instr"), prose=title == "options") for title in head]
        columns += [Column(f"{each.key}, over the paper's", prose=True) for each in file.published]
        factors = rule.misses(file, [self.choice.of(each.label) for each in file.programs])
        rows = []
        for program in file.programs:
            found = self.choice.of(program.label)
            over = (factors.get((each.key, program.label)) for each in file.published)
            shown = (NOTHING if each is None else significant(exp(each)) for each in over)
            rows.append((program.label, ", ".join(found.options.values()) or NOTHING, f"{found.work:,}", *shown))
        return Table(tuple(columns), tuple(rows), keys=1)


def inputs(session: Session, paper: str, options: Options) -> PaperInputs:
    """Measures each option of a paper's inputs, and chooses by the rule; an `UnknownError` if it has no inputs."""
    found = session.experiments.inputs(paper)
    choice = rule.choose(found.file, lambda trials: _measured(session, found.file, trials, options))
    return PaperInputs(paper, found, choice, session.reused)


def _measured(session: Session, file: InputsFile, trials: Sequence[Trial], options: Options) -> list[Trial]:
    runs = {each.key: _runs(file, each, options) for each in trials}
    pairs = [pair for found in runs.values() for pair in found.values()]
    records = session.records(dict.fromkeys(run for pair in pairs for run in pair if run is not None))
    by_key = {each.key: each for each in file.published}

    def value(trial: Trial, key: str, run: RunSpec, over: RunSpec | None) -> float:
        name = _quantity(file, trial, by_key[key])
        found = quantity(records[run], name)
        return float(f"{found if over is None else found / quantity(records[over], name):.{DIGITS}g}")

    return [
        structs.replace(each, values={key: value(each, key, *pair) for key, pair in runs[each.key].items()})
        for each in trials
    ]


def _runs(file: InputsFile, trial: Trial, options: Options) -> dict[str, tuple[RunSpec, RunSpec | None]]:
    """By published quantity, the run that is measured, and the one by whose quantity it is divided."""
    program = next(each for each in file.programs if each.label == trial.program)
    settings = {**file.fixed, **program.settings, **rule.settings_of(file, trial, readings=True)}

    def run(more: Settings) -> RunSpec:
        return run_of({**settings, **more}, options)

    return {
        each.key: (run(each.settings), None if each.over is None else run(each.over))
        for each in file.published
        if each.is_of(trial.program)
    }


def _quantity(file: InputsFile, trial: Trial, published: Published) -> str:
    """What the record has in place of the published quantity: a reading may name another."""
    found = (each.option(trial.options[each.key]).quantity for each in file.of(trial.program))
    return next((name for name in found if name is not None), published.quantity)


def _label(file: InputsFile, trial: Trial) -> str:
    """The options of all programs; of what follows from them, a program's own options but the first, and its work."""
    own = [trial.options[each.key] for each in file.own(trial.program) if not _is_first(each, trial)]
    more = [*own, *([f"{trial.work:,} outside"] if trial.work else [])]
    return ", ".join(("and", *more)).replace("and, ", "and ") if more else _shared(file, trial)


def _shared(file: InputsFile, trial: Trial) -> str:
    return ", ".join(trial.options[each.key] for each in file.shared) or "as published"


def _is_first(each: Input, trial: Trial) -> bool:
    return trial.options[each.key] == each.options[0].label


def _cell(values: Iterable[float | None]) -> str:
    found = [NOTHING if each is None else significant(each) for each in values]
    return NOTHING if set(found) == {NOTHING} else " ".join(found)


def _row(trial: Trial) -> dict[str, Any]:
    return {"program": trial.program, **trial.options, "work": trial.work, **trial.values}


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _toml_key(key: str) -> str:
    return key if key.replace("-", "").replace("_", "").isalnum() else json.dumps(key)
