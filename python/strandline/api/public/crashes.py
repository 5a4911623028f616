"""Crash tests of workloads, and the check of recordings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from strandline import words
from strandline.api.given import InFlight, Names, Place, Settings, at_least, base_run, path, session
from strandline.api.suggesting import suggesting

if TYPE_CHECKING:
    from strandline.api.crashes import Crashes
    from strandline.api.recordings import CrashesOfRecording


@suggesting
def crash(
    workload: str,
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
    points: int | Literal["all"] = 1000,
    max_failures: int | None = None,
    replay: str | None = None,
    fails: Literal["h0", "h1", "h2", "h3"] | None = None,
    jobs: int | None = None,
) -> Crashes:
    """Cuts the power in a workload at `points` states, recovers, and judges each by invariant and model.

    `check` does so for a recording. An interrupt returns what was found until then.

    The arguments:

    - `workload`: a name (`sl.workloads()`).
    - `design`, `machine`, `runtime`, `threads`, `tasks`, `window`, `coroutines`, `bmo`, `set`, `seed`: as for `sl.run`.
    - `points`: the number of crash states, or `all`.
    - `max_failures`: stop a design after this number of failing states.
    - `replay`: the one crash state to check, as a failure names it.
    - `fails`: the host that fails at many moments, while the others go on and repair what it left.
    - `jobs`: parallel runs; by default as many as there are cores.

    An `InputError` before anything runs if an argument is wrong, or if the runs exceed the memory.

    >>> crash = sl.crash("sps", "x86,unordered", tasks=10, points=20)
    >>> [result.design for result in crash.results if result.failures]
    ['unordered']
    """
    from strandline.api import crashes

    designs, own, at = words.designs(design), words.windows(window), session(jobs)
    base = base_run(
        workload, designs[0], machine, runtime, threads, tasks, own, coroutines, bmo, set, seed, recovers=False
    )
    return crashes.crash(at, base, designs, words.points(points), replay, at_least(1, max_failures), own, fails)


@suggesting
def check(
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
    orders: int | None = None,
    recover: str | None = None,
    depth: int | None = None,
    then: str | None = None,
    assume_fixed: Sequence[str] = (),
    weaken: bool = False,
    hosts: Literal["threads"] | None = None,
    fails: Sequence[int] | None = None,
    suppress: Sequence[str] = (),
    seed: int = 1,
    jobs: int | None = None,
) -> CrashesOfRecording:
    """Visits crash states of a recording, and judges each by the model and by the command `verify`.

    The arguments:

    - `recording`: a file of `strandline record`; `design`: as for `sl.run`.
    - `points`: the number of crash states, or `all`; `max_failures`: stop after this number of failing states.
    - `replay`: the one crash state to check, as a failure names it.
    - `verify`: a shell command, in which `{}` is the pool's file; exit status 0 accepts the state.
    - `recover`: a program that recovers a pool before `verify`; its own crash states are checked, too.
    - `depth`: how often a recovery is interrupted before one ends; by default once.
    - `then`: the program's next operation, which runs on each recovered state, and is crashed in turn.
    - `assume_fixed`: lines, `FILE:LINE`, as if what they store were persisted right behind them.
    - `weaken`: look for flushes and fences that can go or be weaker without a new failing state.
    - `hosts`: `threads`, to judge each thread as a host without coherence; `fails`: the hosts that fail.
    - `time_limit`: seconds of `verify` for one state, and of `recover`.
    - `dump`: a folder to write the states to; `scratch`: a folder for `verify`'s files, by default in memory.
    - `orders`: of several threads, the number of orders to explore; by default a few.
    - `suppress`: files with accepted findings of the audit, or names of shipped ones (`libpmemobj`).
    - `seed`: of the choice of states.
    - `jobs`: parallel runs; by default as many as there are cores.

    An `InputError` if the file is no recording or an argument is wrong.

    >>> found = sl.check("recordings/list-good.strand", points=10)
    >>> found.recovers
    True
    """
    from strandline.api import recordings
    from strandline.checking.request import Request

    request = Request(
        recording=os.fspath(recording),
        points=words.points(points),
        seed=words.whole(seed, 0),
        replay=replay,
        max_failures=at_least(1, max_failures),
        dump=path(dump),
        verify=verify,
        time_limit=time_limit,
        scratch=path(scratch),
        orders=at_least(1, orders),
        suppress=tuple(suppress),
        recover=recover,
        depth=at_least(1, depth),
        then=then,
        assume_fixed=tuple(assume_fixed),
        weaken=weaken,
        hosts=hosts,
        fails=None if fails is None else tuple(fails),
    )
    return recordings.check(session(jobs), request, words.designs(design))


crash_recording = check
"""The same under its longer name."""
