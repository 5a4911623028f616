"""The C twins of built-in workloads as cases of a validation: compiled and timed here, beside the workload's run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.twins import TWINS, Twin, compile_twin, compiler
from strandline.validations import LOGGED_TWINS, TWINS_FAMILY, Case, Processor

OPTIONS = ("-O2", "-DCLWB")
LOGGED = "-DLOGGED"

PROCESSES = 10
"""Processes a round, each of which times its operations once. The fastest counts."""

BUILT = "machine.simulation.warm=footprint"
"""A run begins with the structure as it is built, as the twin's does."""


def cases() -> list[Case]:
    """Each twin without its log, then each with it."""
    return [_case(twin, logs) for logs in (False, True) for twin in TWINS]


def _case(twin: Twin, logs: bool) -> Case:
    family = LOGGED_TWINS if logs else TWINS_FAMILY
    # Without a log the core decides, with one memory does.
    unit = "ns" if logs else "cycles"
    return Case(f"{family}-{twin.name}", family, None, f"task of {twin.name}", unit, flushes=logs)


@dataclass(frozen=True)
class Twins:
    """Answers what the engine answers of microbenchmarks."""

    engine: Engine
    folder: Path
    """Where programs are compiled."""

    def simulated(self, case: Case, machine: str, settings: tuple[str, ...]) -> float:
        """The time of a task of the workload on a machine."""
        twin, logs = _twin(case)
        design, runtime, sets = twin.runs(logs)
        begins = () if any(each.startswith(BUILT.partition("=")[0]) for each in settings) else (BUILT,)
        given = (*begins, *twin.sets, *sets, *settings)
        tasks = twin.operations
        spec = RunSpec(twin.name, design, machine, runtime, threads=1, tasks=tasks, warm=twin.warm * tasks, set=given)
        record = self.engine.run(spec)
        cycles: float = record["cycles"] / record["tasks"]
        return cycles if case.unit == "cycles" else cycles / record["params"]["clock_ghz"]

    def measured(self, case: Case, here: Processor, rounds: int) -> float | None:
        """The time of an operation of the twin here; `None` without a compiler or an instruction that it needs."""
        if compiler() is None or (case.flushes and not here.clwb):
            return None
        twin, logs = _twin(case)
        program = compile_twin(twin, "time.c", (*OPTIONS, LOGGED) if logs else OPTIONS, self.folder)
        ns = min(_timed(program, twin) for _ in range(rounds * PROCESSES)) / twin.operations
        return ns * here.clock_ghz if case.unit == "cycles" else ns


@contextmanager
def twins(engine: Engine) -> Iterator[Twins]:
    """In the block, twins can be compiled."""
    with TemporaryDirectory(prefix="strandline-") as folder:
        yield Twins(engine, Path(folder))


def _twin(case: Case) -> tuple[Twin, bool]:
    name = case.name.removeprefix(f"{case.family}-")
    return next(twin for twin in TWINS if twin.name == name), case.family == LOGGED_TWINS


def _timed(program: Path, twin: Twin) -> int:
    """Nanoseconds of the twin's operations, in a process of their own."""
    command = [str(program), str(twin.warm * twin.operations), str(twin.operations)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")  # noqa: S603 - a program of ours
    if done.returncode != 0:
        raise InputError(f"the twin of {twin.name} ends with status {done.returncode}: it cannot be timed here")
    return int(done.stdout)
