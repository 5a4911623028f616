"""From the arguments of Python's functions to a run and a session."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strandline import run_store as stores
from strandline import words
from strandline.api.session import Session
from strandline.engine import RunSpec, load
from strandline.pool import default_jobs

if TYPE_CHECKING:
    from strandline.figures.experiments import Experiments

Names = str | Sequence[str]
"""One name, names separated by commas, or a sequence of names."""
Settings = Mapping[str, Any] | Iterable[str]
"""`{"machine.core.rob_entries": 128}`, or texts `machine.core.rob_entries=128`."""
Place = str | os.PathLike[str]


def places(given: Place | Sequence[Place]) -> list[str]:
    """One file or several, as the command line names them."""
    files = [given] if isinstance(given, str | os.PathLike) else given
    return [os.fspath(each) for each in files]


def base_run(
    workload: Place,
    design: str,
    machine: Place | None,
    runtime: str | None,
    threads: int | None,
    tasks: int | None,
    window: int | str | None,
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
        machine=None if machine is None else os.fspath(machine),
        runtime=runtime,
        threads=None if threads is None else words.whole(threads, 1),
        tasks=None if tasks is None else words.whole(tasks, 1),
        window=None if window is None else words.window(window),
        coroutines=coroutines,
        bmo=None if bmo is None else words.whole(bmo, 0),
        seed=words.whole(seed, 0),
        set=words.settings(settings),
        recovers=recovers,
        precision=None if precision is None else words.precision(precision) or None,
    )


def session(jobs: int | None, store: Place | None = stores.OFF, fresh: bool = False) -> Session:
    """The session of one call; without a run store, unless one may be chosen."""
    engine = load()
    chosen = None if store is None else os.fspath(store)
    kept = stores.opened(chosen, engine.identity(), warn, fresh)
    return Session(engine, _experiments, default_jobs() if jobs is None else words.whole(jobs, 1), kept)


def _experiments() -> Experiments:
    from strandline.figures.experiments import repository_experiments

    return repository_experiments()


def warn(line: str) -> None:
    """Warns as Python does."""
    warnings.warn(line, stacklevel=2)
