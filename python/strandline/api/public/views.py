"""Pages: timelines and reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from strandline import words
from strandline.api.given import InFlight, Names, Place, Settings, at_least, base_run, path, session
from strandline.api.suggesting import suggesting
from strandline.errors import InputError
from strandline.timelines import Part

if TYPE_CHECKING:
    from strandline.api.reports import Report
    from strandline.api.timelines import Timelines


@suggesting
def timeline(
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
    from_cycle: int | None = None,
    to_cycle: int | None = None,
    first_tasks: int | None = None,
    kanata: Place | bool = False,
    out: Place | None = None,
    jobs: int | None = None,
) -> Timelines:
    """Shows what happens between store and media: tasks, stalls, each persist up to the media, who waited for whom.

    A notebook shows the result as a page. `html()` is the text of the page, `write(FOLDER)` writes it with a trace for
    Perfetto, `write_kanata(FILE)` a log for Konata, and `timelines` has the tables of each design.

    The arguments:

    - `workload`: a name (`sl.workloads()`), the path of a recording, or a litmus test, of which `runtime` to
      `bmo`, the part and `kanata` are left out, and whose machine and delays `seed` decides.
    - `design`, `machine`, `runtime`, `threads`, `window`, `coroutines`, `bmo`, `set`, `seed`: as for `sl.run`.
    - `tasks`: timed operations or transactions, by default 100.
    - `from_cycle`, `to_cycle`: the part that is wanted, in cycles of the timed region; `first_tasks` ends it when this
      number of tasks has ended.
    - `kanata`: a file for the instructions of the only design; `True` keeps them for `write_kanata`.
    - `out`: a folder for page and trace, which is replaced.
    - `jobs`: parallel runs; by default as many as there are cores.

    An `InputError` before anything runs if an argument is wrong, or does not apply to a litmus test.

    >>> shown = sl.timeline("sps", "x86,eadr", tasks=5)
    >>> shown.html().startswith("<!doctype html>")
    True
    """
    from strandline.api import timelines as api

    at, designs, own = session(jobs), words.designs(design), words.windows(window)
    target = api.Target(path(out), None if isinstance(kanata, bool) else Path(kanata))
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, own, coroutines, bmo, set, seed, recovers=False
    )
    part = Part(
        at_least(0, from_cycle) or 0, at_least(0, to_cycle), at_least(1, first_tasks), instructions=kanata is not False
    )
    if first_tasks is not None and to_cycle is not None:
        raise InputError("to_cycle excludes first_tasks: leave one of them out")
    if not api.is_litmus(at.engine, base.workload):
        return api.of_runs(at, base, designs, part, target, own)
    given = {"runtime": runtime, "threads": threads, "tasks": tasks, "window": window, "coroutines": coroutines}
    its_part = {"bmo": bmo, "from_cycle": from_cycle, "to_cycle": to_cycle, "first_tasks": first_tasks}
    for name, value in {**given, **its_part, "kanata": kanata or None}.items():
        if value is not None:
            raise InputError(f"{name} does not apply to a litmus test: leave it out")
    return api.of_litmus(at.engine, base.workload, designs, base.machine, base.set, base.seed, target.out)


@suggesting
def report(places: Place | Sequence[Place], out: Place, *, title: str | None = None) -> Report:
    """Writes one page of figures and records, which needs no network, and shows what it holds.

    The arguments:

    - `places`: a folder that `sl.figure` wrote, a folder of such folders, a file of records, or a list of these.
    - `out`: the page's file, which ends in .html; it is replaced.
    - `title`: by default the only figure's, or how many there are.

    An `InputError` if a place is missing or holds no results, or if the page cannot be written.

    >>> _ = sl.run("sps", "x86", tasks=20, out="runs.json")
    >>> len(sl.report("runs.json", "runs.html").entries)
    1
    """
    from strandline.api import reports

    given = [places] if isinstance(places, str | os.PathLike) else places
    return reports.report(session(None).engine, [Path(place) for place in given], Path(out), title)
