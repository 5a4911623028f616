"""From the arguments of Python's functions to a run and a session."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline import run_store as stores
from strandline import words
from strandline.api.session import Session
from strandline.engine import RunSpec, load
from strandline.pool import default_jobs
from strandline.words import Windows

if TYPE_CHECKING:
    from strandline.figures.experiments import Experiments

Names = str | Sequence[str]
"""One name, names separated by commas, or a sequence of names."""
Settings = Mapping[str, Any] | Iterable[str]
"""`{"machine.core.rob_entries": 128}`, or texts `machine.core.rob_entries=128`."""
Place = str | os.PathLike[str]
InFlight = int | str | Mapping[str, int | str]
"""Tasks in flight per thread, or `auto`; or these by design."""


def places(given: Place | Sequence[Place]) -> list[str]:
    """One file or several, as the command line names them."""
    files = [given] if isinstance(given, str | os.PathLike) else given
    return [os.fspath(each) for each in files]


def path(given: Place | None) -> Path | None:
    """A file or folder, if one is given."""
    return None if given is None else Path(given)


def text(given: Place | None) -> str | None:
    """A file or folder as the command line has it, if one is given."""
    return None if given is None else os.fspath(given)


def at_least(least: int, number: int | None) -> int | None:
    """A number, if one is given; an `InputError` if it is below `least` or not whole."""
    return None if number is None else words.whole(number, least)


def base_run(
    workload: Place,
    design: str,
    machine: Place | None,
    runtime: str | None,
    threads: int | None,
    tasks: int | None,
    window: Windows,
    coroutines: str | None,
    bmo: int | None,
    settings: Settings,
    seed: int,
    recovers: bool,
    precision: float | str | None = None,
) -> RunSpec:
    """The run under the first design."""
    return RunSpec(
        workload=os.fspath(workload),
        design=design,
        machine=text(machine),
        runtime=runtime,
        threads=at_least(1, threads),
        tasks=at_least(1, tasks),
        window=window.get(words.OTHERS),
        coroutines=coroutines,
        bmo=at_least(0, bmo),
        seed=words.whole(seed, 0),
        set=words.settings(settings),
        recovers=recovers,
        precision=None if precision is None else words.precision(precision) or None,
    )


def session(jobs: int | None, store: Place | None = stores.OFF, fresh: bool = False) -> Session:
    """The session of one call; without a run store, unless one may be chosen."""
    engine = load()
    kept = stores.opened(text(store), engine.identity(), warn, fresh)
    return Session(engine, _experiments, at_least(1, jobs) or default_jobs(), kept)


def _experiments() -> Experiments:
    from strandline.figures.experiments import repository_experiments

    return repository_experiments()


def warn(line: str) -> None:
    """Warns as Python does."""
    warnings.warn(line, stacklevel=2)
