"""The functions of `import strandline as sl`. Their arguments are the words of the command line.

Results print as the command's output, also in notebooks. polars, pandas and duckdb take their rows by
`__arrow_c_stream__`. A wrong argument raises an `InputError`, whose message names the correction.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from strandline import words
from strandline.api.crashes import Crashes
from strandline.api.given import Names, Place, Settings, base_run, session, warn
from strandline.api.listings import Listing
from strandline.api.runs import Runs
from strandline.engine import load
from strandline.errors import InputError, UnknownError

if TYPE_CHECKING:
    from strandline.api.claims import Claims
    from strandline.api.figures import Figure, FigureOfLitmusTests
    from strandline.api.litmus import Litmus
    from strandline.api.recordings import CrashesOfRecording
    from strandline.api.sweeps import SweepResult

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def _suggesting(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The function, whose error for an unknown name suggests the closest one."""

    @wraps(function)
    def suggesting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            return function(*args, **kwargs)
        except UnknownError as error:
            raise InputError(error.with_suggestion(load().nearest)) from None

    return suggesting


@_suggesting
def run(
    workload: Place,
    design: Names,
    *,
    machine: Place | None = None,
    runtime: str | None = None,
    threads: int | None = None,
    tasks: int | None = None,
    window: int | Literal["auto"] | None = None,
    coroutines: Literal["paper", "lean"] | None = None,
    bmo: int | None = None,
    set: Settings = (),  # noqa: A002 - as `--set`
    seed: int = 1,
    out: Place | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Runs:
    """Runs a workload or a recording under designs, the first of which is the baseline of the speedup column.

    `design="all"` runs all that the machine and the workload support. `bmo` is in cycles. `out` is a file for the
    records. `store` is the folder of the run store, or `off`; `fresh` makes runs anew that it has.
    """
    designs = words.designs(design)
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, window, coroutines, bmo, set, seed, recovers=True
    )
    from strandline.api.runs import compare

    return compare(session(jobs, store, fresh), base, designs, None if out is None else Path(out))


@_suggesting
def sweep(
    spec: Place | Mapping[str, Any] | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    show: Sequence[str] | None = None,
    baseline: Mapping[str, Any] | None = None,
    seed: int = 1,
    part: str = "1/1",
    dask: str | None = None,
    slurm: Place | None = None,
    out: Place | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> SweepResult:
    """Runs all combinations of `axes`, each with all `points`, and returns their means over seeds.

    `spec` is a sweep's TOML file, or a mapping with the same keys; the keywords take the place of its keys. `seed` is
    the first of a number of `seeds`; `part="1/4"` runs a quarter. `out` is a file for the records of the runs. `dask`
    is the address of a Dask scheduler, or `local` for processes here; `slurm` is a TOML file of SLURM jobs.
    """
    from strandline.api import sweeps
    from strandline.api.workers import working
    from strandline.sweeps import plan
    from strandline.sweeps import spec as specs

    at = session(jobs, store, fresh)
    keys = {"fixed": fixed, "axes": axes, "points": points, "seeds": seeds, "show": show, "baseline": baseline}
    given = {key: value for key, value in keys.items() if value is not None}
    asked = (
        specs.of({**(spec or {}), **given}, at.engine)
        if spec is None or isinstance(spec, Mapping)
        else specs.read(Path(spec), at.engine, given)
    )
    first, mine, file = words.whole(seed, 0), plan.part(part), None if out is None else Path(out)
    with working(at, dask, None if slurm is None else Path(slurm), warn) as at_work:
        return sweeps.run_sweep(at_work, asked, first, mine, file)


@_suggesting
def crash(
    workload: str,
    design: Names,
    *,
    machine: Place | None = None,
    runtime: str | None = None,
    threads: int | None = None,
    tasks: int | None = None,
    window: int | Literal["auto"] | None = None,
    coroutines: Literal["paper", "lean"] | None = None,
    bmo: int | None = None,
    set: Settings = (),  # noqa: A002 - as `--set`
    seed: int = 1,
    points: int | Literal["all"] = 1000,
    max_failures: int | None = None,
    replay: str | None = None,
    jobs: int | None = None,
) -> Crashes:
    """Cuts the power in a workload at `points` states, recovers, and judges each by invariant and model.

    `crash_recording` does so for a recording. `replay` checks the one crash state that a failure names. An interrupt
    returns what was found until then.
    """
    from strandline.api import crashes

    designs, at = words.designs(design), session(jobs)
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, window, coroutines, bmo, set, seed, recovers=False
    )
    failures = None if max_failures is None else words.whole(max_failures, 1)
    return crashes.crash(at, base, designs, words.points(points), replay, failures)


@_suggesting
def crash_recording(
    recording: Place,
    design: Names = "x86",
    *,
    points: int | Literal["all"] = 1000,
    max_failures: int | None = None,
    replay: str | None = None,
    verify: str | None = None,
    time_limit: float = 10,
    dump: Place | None = None,
    scratch: Place | None = None,
    seed: int = 1,
    jobs: int | None = None,
) -> CrashesOfRecording:
    """Visits crash states of a recording, and judges each by the model and by the command `verify`.

    `{}` in the command is the pool's file; exit status 0 accepts it, within `time_limit` seconds. `dump` is a folder to
    write the states to.
    """
    from strandline.api import recordings

    request = recordings.Request(
        os.fspath(recording),
        words.points(points),
        words.whole(seed, 0),
        replay,
        None if max_failures is None else words.whole(max_failures, 1),
        None if dump is None else Path(dump),
        verify,
        time_limit,
        None if scratch is None else Path(scratch),
    )
    return recordings.crash(session(jobs), request, words.designs(design))


@_suggesting
def litmus(
    file: Place | Sequence[Place] = (),
    design: Names = (),
    *,
    model: Names = (),
    machine: Names = (),
    set: Settings = (),  # noqa: A002 - as `--set`
    timings: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
) -> Litmus:
    """Judges litmus tests by models, and by the designs that run them; without `file` all built-in tests.

    A file is a `.litmus` file, a folder of them, or the name of a built-in test. `timings` is the number of runs of a
    design on each machine, with different latencies.
    """
    from strandline.api import litmus as api

    at = session(jobs)
    models = words.models(model) if model else ()
    api.check_models(at.engine, models)
    request = api.Request(
        models,
        api.known_designs(at.engine, words.designs(design) if design else ()),
        words.each_once(words.design_setting(each) for each in words.settings(set)),
        words.machines(machine) if machine else None,
        None if timings is None else words.whole(timings, 1),
        words.whole(seed, 0),
    )
    files = [file] if isinstance(file, str | os.PathLike) else file
    return api.litmus(at, [os.fspath(each) for each in files], request)


@_suggesting
def figure(
    figure_id: Place,
    *,
    tasks: int | None = None,
    seed: int = 1,
    seeds: int = 1,
    out: Place | None = None,
    force: bool = False,
    format: Names = ("svg", "png"),  # noqa: A002 as the command line has it
    width: str = "text",
    title: bool = True,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Figure | FigureOfLitmusTests:
    """Reruns a paper's figure or table, or the figure in a TOML file.

    `out` is a folder for its files, if given; `format` (`svg`, `png`, `pdf`), `width` (`column` or `text`) and `title`
    are of the picture there. With several `seeds`, from `seed` up, values are means.
    """
    from strandline.api import figures
    from strandline.figures.figure import Options
    from strandline.views.plot_size import style

    options = Options(words.whole(seed, 0), None if tasks is None else words.whole(tasks, 1), words.whole(seeds, 1))
    looks = style(words.formats(format), width, title)
    target = None if out is None else figures.Target(Path(out), force, looks)
    return figures.figure(session(jobs, store, fresh), os.fspath(figure_id), options, target)


@_suggesting
def claims(
    claim: Names = (),
    *,
    tasks: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Claims:
    """Compares papers' claims with measurements; without `claim` all of them."""
    from strandline.api import claims as api
    from strandline.figures.figure import Options

    ids = words.names(claim, "claim", "cosplay-fig1-adr,cosplay-table3") if claim else ()
    options = Options(words.whole(seed, 0), None if tasks is None else words.whole(tasks, 1))
    return api.claims(session(jobs, store, fresh), ids, options)


def designs() -> Listing:
    """The designs, with what they need of a machine and their papers."""
    return _listing("designs")


@_suggesting
def workloads(workload: str | None = None) -> Listing:
    """The workloads, or the parameters of one."""
    return _listing("workloads", workload)


@_suggesting
def machines(machine: Place | None = None, *, set: Settings = ()) -> Listing:  # noqa: A002 - as `--set`
    """The machines, or the parameters of one, with units and sources, after some settings."""
    return _listing("machines", machine, words.settings(set))


def _listing(kind: str, name: Place | None = None, settings: tuple[str, ...] = ()) -> Listing:
    from strandline.api import listings

    if name is None:
        return listings.listing(session(None), kind)
    return listings.parameters(session(None), kind, os.fspath(name), settings)
