"""Microbenchmarks and twins on the processor at hand, beside the same code and workloads on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.api.result import Result
from strandline.api.session import Session
from strandline.api.validation_twins import OPTIONS, Twins, twins
from strandline.api.validation_twins import cases as twin_cases
from strandline.engine import Engine
from strandline.errors import InputError, UnknownError
from strandline.twins import COMPILER, compiler
from strandline.validations import DESCRIBED, LOGGED_TWINS, TWINS_FAMILY, WITHIN, Case, Processor, Timed
from strandline.views import columns, validation_files
from strandline.views.columns import Columns
from strandline.views.page import DIM, Line, Page
from strandline.views.plot_size import Style
from strandline.views.table import NOTHING, Alarm, Column, Good, Open, Table

MACHINE = "zen4"
"""The machine where none is named."""
COLUMNS = (
    Column("case", numeric=False),
    Column("one", numeric=False),
    Column("unit", numeric=False),
    Column("measured"),
    Column("simulated"),
    Column("ratio"),
    Column(f"within {WITHIN:.0%}", numeric=False),
)
SAYS = {None: NOTHING, True: Good("yes"), False: Alarm("no")}
NO_CLWB = "this processor has no clwb: its cases are not measured"
NO_COMPILER = f"there is no C compiler `{COMPILER}`: the twins are not measured"
NOT_DURABLE = "times only: nothing here checks what is durable, which no running machine can show"


@dataclass(frozen=True)
class Asked:
    """What is compared."""

    names: Sequence[str] = ()
    """Cases or families; all if empty."""
    machine: str = MACHINE
    settings: tuple[str, ...] = ()
    rounds: int = 3
    """How often a case is measured, of which the fastest counts; 0: not at all."""


@dataclass(frozen=True, repr=False)
class Validation(Result):
    """The time of each case, measured and simulated."""

    machine: str
    settings: tuple[str, ...]
    clock_ghz: float
    """Of the machine."""
    processor: Processor | None
    """`None` where nothing was measured."""
    compiler: str | None
    """Of the twins, as it tells its version; `None` if none is there, or nothing was measured."""
    timed: Sequence[Timed]

    def page(self) -> Page:
        """A row a case."""
        here = self.processor
        lines = [Line(), *(Line(each, Open.style if each == self.mismatch else DIM) for each in self.remarks())]
        if here is not None and not here.clwb and any(each.case.flushes for each in self.timed):
            lines.append(Line(NO_CLWB))
        if here is not None and self.compiler is None and self.has_twins:
            lines.append(Line(NO_COMPILER))
        return Page((self.table(), *lines))

    @property
    def mismatch(self) -> str | None:
        """That the machine is not of the processor at hand, in words."""
        here, described = self.processor, DESCRIBED.get(self.machine)
        if here is None or (described and described.is_this(here)):
            return None
        if described is None:
            return f"{self.machine} does not say which processor it describes: this one may be another"
        return f"{self.machine} describes {described.name}, and this is another processor: ratios hold both differences"

    @property
    def has_twins(self) -> bool:
        """Whether a twin is among the cases."""
        return any(is_twin(each.case) for each in self.timed)

    def table(self) -> Table:
        """A row a case."""
        return Table(COLUMNS, tuple(map(_row, self.timed)), keys=1)

    def remarks(self) -> tuple[str, ...]:
        """What was compared with what."""
        machine = f"simulated: {self.machine}, {self.clock_ghz:g} GHz"
        here = self.processor
        if here is None:
            return (machine, NOT_DURABLE)
        family, model, stepping = here.signature
        name = f"{here.name}, family {family} model {model} stepping {stepping}"
        near = [each.within for each in self.timed if each.within is not None]
        by = (f"twins: compiled by {self.compiler}, {OPTIONS[0]}",) if self.compiler and self.has_twins else ()
        return (
            f"measured: {name}, {here.clock_ghz:.2f} GHz by multiplications of 3 cycles",
            *by,
            machine,
            *((self.mismatch,) if self.mismatch else ()),
            f"{sum(near)} of {len(near)} within {WITHIN:.0%}",
            NOT_DURABLE,
        )

    def columns(self) -> Columns:
        """A row a case."""
        return columns.of_rows([each.keys() for each in self.timed])

    def document(self) -> dict[str, Any]:
        """All of it."""
        return {
            "processor": None if self.processor is None else self.processor.keys(),
            "machine": self.machine,
            "describes": self._describes(),
            "set": list(self.settings),
            "clock_ghz": self.clock_ghz,
            "compiler": self.compiler,
            "cases": [each.keys() for each in self.timed],
        }

    def _describes(self) -> dict[str, Any] | None:
        described = DESCRIBED.get(self.machine)
        if described is None:
            return None
        is_here = None if self.processor is None else described.is_this(self.processor)
        return {"processor": described.name, "is_here": is_here}


def validate(session: Session, asked: Asked, out: Path | None = None, style: Style | None = None) -> Validation:
    """Measures and simulates the cases, and writes the folder `out` if there is one.

    An `InputError` before anything runs: an unknown case, machine or setting, or a folder with other files.
    """
    engine = session.engine
    cases = _chosen([*engine.cases(), *twin_cases()], asked.names)
    clock = next(each for each in engine.machine(asked.machine, asked.settings) if each["key"] == "core.clock_ghz")
    if out is None:
        return _compared(session, asked, cases, float(clock["value"]))
    with validation_files.replacing(out) as folder:
        found = _compared(session, asked, cases, float(clock["value"]))
        validation_files.write(folder, found.table(), found.remarks(), found.timed, found.document(), style or Style())
    return found


def _compared(session: Session, asked: Asked, cases: Sequence[Case], clock_ghz: float) -> Validation:
    engine = session.engine
    here = engine.processor() if asked.rounds else None
    with twins(engine) as programs, session.display.progress("cases", len(cases)) as advance:
        timed = []
        for case in cases:
            timed.append(_timed(engine, programs, case, asked, here))
            advance()
    by = None if here is None else compiler()
    return Validation(asked.machine, asked.settings, clock_ghz, here, by, timed)


def _timed(engine: Engine, programs: Twins, case: Case, asked: Asked, here: Processor | None) -> Timed:
    """A case on both, or on the machine only."""
    if is_twin(case):
        simulated = programs.simulated(case, asked.machine, asked.settings)
        return Timed(case, None if here is None else programs.measured(case, here, asked.rounds), simulated)
    simulated = engine.simulated(case.name, asked.machine, asked.settings)
    return Timed(case, None if here is None else _fastest(engine, case, here, asked.rounds), simulated)


def is_twin(case: Case) -> bool:
    """Whether the case is a workload and its twin in C."""
    return case.family in (TWINS_FAMILY, LOGGED_TWINS)


def _fastest(engine: Engine, case: Case, here: Processor, rounds: int) -> float | None:
    """The shortest time of several rounds: others were disturbed."""
    times = [engine.measured(case.name, here) for _ in range(rounds)]
    return min((time for time in times if time is not None), default=None)


def _chosen(cases: Sequence[Case], names: Sequence[str]) -> list[Case]:
    known = list(dict.fromkeys(name for case in cases for name in (case.family, case.name)))
    for name in names:
        if name not in known:
            raise UnknownError("case", name, known, "strandline validate --no-measure")
    if repeated := {name for name in names if list(names).count(name) > 1}:
        raise InputError(f"case `{min(repeated)}` is named twice: name it once")
    return [case for case in cases if not names or case.name in names or case.family in names]


def _row(each: Timed) -> tuple[str, ...]:
    case = each.case
    measured = NOTHING if each.measured is None else _time(each.measured)
    ratio = NOTHING if each.ratio is None else f"{each.ratio:.2f}"
    return (case.name, case.operation, case.unit, measured, _time(each.simulated), ratio, SAYS[each.within])


def _time(time: float) -> str:
    return f"{time:,.2f}" if time < 100 else f"{time:,.0f}"
