"""Runs, sweeps, and the papers' figures and claims."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from strandline import words
from strandline.api.given import InFlight, Names, Place, Settings, at_least, base_run, path, session, text, warn
from strandline.api.runs import Runs
from strandline.api.suggesting import suggesting

if TYPE_CHECKING:
    from strandline.api.claims import Claims
    from strandline.api.figures import AnyFigure
    from strandline.api.inputs import PaperInputs
    from strandline.api.repeats import Repeats
    from strandline.api.stores import Kept
    from strandline.api.sweeps import SweepResult
    from strandline.api.why import Why


@suggesting
def run(
    workload: Place,
    design: Names,
    *,
    machine: Place | None = None,
    runtime: str | None = None,
    threads: int | None = None,
    tasks: int | None = None,
    window: InFlight | None = None,
    coroutines: Literal["paper", "lean"] | None = None,
    bmo: int | None = None,
    set: Settings = (),  # noqa: A002 - as `--set`
    seed: int = 1,
    precision: float | str | None = None,
    why: bool = False,
    out: Place | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Runs:
    """Runs a workload or a recording under designs, the first of which is the baseline of the speedup column.

    The arguments:

    - `workload`: a name (`sl.workloads()`), several with commas between them, or the path of a recording.
    - `design`: a name, names separated by commas, a list of them, or `all` that the machine and the workload support.
    - `machine`: a preset (`sl.machines()`) or a TOML file; by default the workload's.
    - `runtime`: the implementation of failure-atomic regions; by default the workload's.
    - `threads`: one a core; `tasks`: timed operations or transactions.
    - `window`: tasks in flight per thread, or `auto`, of all designs or by design (`{"x86": 1, "cosplay": 8}`);
      `coroutines`: `paper` or `lean`, their library. Speedups are over the first design by default, unless it is named.
    - `bmo`: cycles that the backend memory operations add to a persist.
    - `set`: parameters, as `{"machine.core.rob_entries": 128}`; `sl.explain` describes each.
    - `seed`: of the random numbers.
    - `precision`: end a run once half the 95 % interval of its cycles per task is at most this share, as 0.01 or `1%`;
      `tasks` is the most.
    - `why`: show where the cycles of each design went, too, as `sl.why`.
    - `out`: a file for the records: .json, .jsonl, .csv or .parquet.
    - `jobs`: parallel runs; by default as many as there are cores.
    - `store`: the folder of the run store, or `off`; `fresh` makes runs anew that it has.

    An `InputError` before anything runs if an argument is wrong, or if the runs exceed the memory.

    >>> runs = sl.run("sps", "x86,eadr", tasks=50)
    >>> [record["design"] for record in runs.records]
    ['x86', 'eadr']
    """
    designs, own = words.designs(design), words.windows(window)
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, own, coroutines, bmo, set, seed, True, precision
    )
    from strandline.api.runs import compare

    return compare(session(jobs, store, fresh), replace(base, why=why), designs, path(out), own)


@suggesting
def why(
    workload: Place,
    design: Names,
    *,
    machine: Place | None = None,
    runtime: str | None = None,
    threads: int | None = None,
    tasks: int | None = None,
    window: InFlight | None = None,
    coroutines: Literal["paper", "lean"] | None = None,
    bmo: int | None = None,
    set: Settings = (),  # noqa: A002 - as `--set`
    seed: int = 1,
    out: Place | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Why:
    """Says where the cycles of a workload or a recording went under designs: one class a cycle, the same for all.

    Data frames take a row a design and class, with the cycles of all cores, and their share.

    The arguments: `workload`, `design`, `machine`, `runtime`, `threads`, `tasks`, `window`, `coroutines`, `bmo`, `set`,
    `seed`, `out`, `jobs`, `fresh` and `store` as for `sl.run`. `plot()` draws the result, `write_plot(FILE)` as a file.

    An `InputError` before anything runs if an argument is wrong, or if the runs exceed the memory.

    >>> found = sl.why("sps", "x86,eadr", tasks=50).document()["why"]
    >>> round(sum(row["share"] for row in found if row["design"] == "x86"), 6)
    1.0
    """
    designs, own = words.designs(design), words.windows(window)
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, own, coroutines, bmo, set, seed, recovers=False
    )
    from strandline.api.why import where

    return where(session(jobs, store, fresh), base, designs, path(out), own)


@suggesting
def repeat(record: Place, *, jobs: int | None = None) -> Repeats:
    """Repeats the runs of a file's records with the same parameters, and compares the results.

    The arguments: `record`, a file as `sl.run(..., out=FILE)` writes it, or a figure's `records.jsonl`; `jobs`,
    parallel runs. No result comes from the run store.

    An `InputError` if the file has no records, or if this strandline has no such runs.

    >>> _ = sl.run("sps", "x86", tasks=20, out="runs.json")
    >>> sl.repeat("runs.json").same
    True
    """
    from strandline.api import repeats

    return repeats.repeat(session(jobs), Path(record))


@suggesting
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

    The arguments:

    - `spec`: a sweep's TOML file, or a mapping with the same keys; the keywords from `fixed` to `baseline` take the
      place of its keys.
    - `fixed`: settings of all runs; `axes`: lists of values by setting; `points`: further settings, a mapping each.
    - `seeds`: a number of them, from `seed` up, or a list.
    - `show`: keys of the record in the table; `baseline`: the settings of the run that speedups are relative to.
    - `part`: `1/4` runs a quarter.
    - `dask`: the address of a Dask scheduler, or `local` for processes here; `slurm`: a TOML file of SLURM jobs.
    - `out`: a file for the records of the runs.
    - `jobs`: parallel runs; by default as many as there are cores.
    - `store`: the folder of the run store, or `off`; `fresh` makes runs anew that it has.

    An `InputError` before anything runs if an argument is wrong, or if the runs exceed the memory.

    >>> sweep = sl.sweep(fixed={"workload": "sps", "tasks": 20}, axes={"design": ["x86", "eadr"]}, seeds=2)
    >>> len(sweep.points), len(sweep.records)
    (2, 4)
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
    first, mine, file = words.whole(seed, 0), plan.part(part), path(out)
    with working(at, dask, path(slurm), warn) as at_work:
        return sweeps.run_sweep(at_work, asked, first, mine, file)


@suggesting
def figure(
    figure_id: Place,
    *,
    tasks: int | None = None,
    seed: int = 1,
    seeds: int = 1,
    intervals: bool = False,
    precision: float | str | None = None,
    out: Place | None = None,
    force: bool = False,
    format: Names | None = None,  # noqa: A002 as the command line has it
    width: str = "text",
    height: float | None = None,
    style: str = "plain",
    title: bool | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> AnyFigure:
    """Reruns a paper's figure or table, or the figure in a TOML file.

    The arguments:

    - `figure_id`: an id (`sl.listing("figures")`), or the path of a TOML file.
    - `tasks`: of each run, in place of the figure's; a shorter figure says so.
    - `seeds`: how many, from `seed` up; values are then means.
    - `intervals`: show the 95 % interval of each value, from those of its runs.
    - `precision`: as for `sl.run`, but 1 % if not given; `off`: no run ends early.
    - `out`: a folder for its files, if given; `force` replaces a longer or another figure there.
    - `format` (of `svg`, `png`, `pdf`; by default the first two), `width` (`column` or `text`), `height` in inches,
      `style` (`plain`, `journal`, `dark`) and `title` are of the picture in `out`.
    - `jobs`: parallel runs; by default as many as there are cores.
    - `store`: the folder of the run store, or `off`; `fresh` makes runs anew that it has.

    An `InputError` before anything runs if an argument is wrong, or if the runs exceed the memory.

    >>> figure = sl.figure("cosplay-table-3", tasks=20)
    >>> figure.document()["figure"]
    'cosplay-table-3'
    """
    from strandline.api import figures
    from strandline.figures.figure import Options
    from strandline.views.plot_size import style as looks_of

    options = Options(words.whole(seed, 0), at_least(1, tasks), words.whole(seeds, 1), intervals, _share(precision))
    looks = looks_of(None if format is None else words.formats(format), width, title, height, style)
    target = None if out is None else figures.Target(Path(out), force, looks)
    return figures.figure(session(jobs, store, fresh), os.fspath(figure_id), options, target)


@suggesting
def claims(
    claim: Names = (),
    *,
    tasks: int | None = None,
    seed: int = 1,
    precision: float | str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> Claims:
    """Compares papers' claims with measurements; without `claim` all of them.

    The arguments: `claim`, ids (`sl.listing("claims")`), patterns of ids as `asap-fig7-*`, or papers, separated by
    commas or in a list; `tasks`, of each run in place of the figures' own; `seed`; `precision` as for `sl.figure`;
    `jobs`, `store` and `fresh` as for `sl.run`.

    An `InputError` for an unknown id.

    >>> sl.claims("cosplay-table3", tasks=20).document()["claims"][0]["id"]
    'cosplay-table3'
    """
    from strandline.api import claims as api
    from strandline.figures.figure import Options

    ids = words.names(claim, "claim", "cosplay-fig1-adr,cosplay-table3") if claim else ()
    options = Options(words.whole(seed, 0), at_least(1, tasks), precision=_share(precision))
    return api.claims(session(jobs, store, fresh), ids, options)


@suggesting
def inputs(
    paper: str,
    *,
    seed: int = 1,
    precision: float | str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    store: Place | None = None,
) -> PaperInputs:
    """Chooses what a paper does not state of its programs, by what it publishes of them.

    The arguments: `paper`, as `strandline inputs` lists them; `seed`, `precision`, `jobs`, `store` and `fresh` as for
    `sl.claims`.

    An `InputError` for an unknown paper.

    >>> sl.inputs("cosplay").agrees
    True
    """
    from strandline.api import inputs as api
    from strandline.figures.figure import Options

    options = Options(words.whole(seed, 0), precision=_share(precision))
    return api.inputs(session(jobs, store, fresh), paper, options)


@suggesting
def store(*, store: Place | None = None) -> Kept:
    """Shows what the run store holds: the finished runs of each build, their bytes, the folder and its limit.

    `store` is the folder; by default `$STRANDLINE_STORE`, or `strandline/runs` in the folder of caches.

    An `InputError` if the folder cannot be read, or if the store is off.

    >>> _ = sl.run("sps", "x86,eadr", tasks=20, store="kept")
    >>> sl.store(store="kept").runs
    2
    """
    from strandline.api import stores

    return stores.kept(session(None).engine, text(store))


@suggesting
def prune_store(*, keep: int | str | None = None, older: str | None = None, store: Place | None = None) -> Kept:
    """Deletes the runs of other builds of strandline from the run store, and its oldest; shows what is left.

    The arguments:

    - `keep`: the bytes to keep, or a size such as `5GB`; those runs go that were used least recently.
    - `older`: delete runs that were not used for this time: `30d`, `12h` or `2w`.
    - `store`: the folder, as for `sl.store`.

    Without `keep` and `older`, the store's limit. An `InputError` if a file cannot be deleted.

    >>> _ = sl.run("sps", "x86,eadr", tasks=20, store="kept")
    >>> sl.prune_store(keep=0, store="kept").freed
    Freed(runs=2, bytes=...)
    """
    from strandline import pruning
    from strandline.api import stores

    most, seconds = None if keep is None else pruning.size(keep), None if older is None else pruning.age(older)
    return stores.pruned(session(None).engine, text(store), most, seconds)


def _share(precision: float | str | None) -> float | None:
    return None if precision is None else words.precision(precision)
